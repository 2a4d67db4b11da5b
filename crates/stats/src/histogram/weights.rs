//! The weights of the buckets of a histogram.

use alloc::vec::Vec;

/// A list of weights. Most of them are small numbers of packets: a weight takes two bytes, and eight more in a list of its own
/// as soon as one of them needs these.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// Modulo 2^16.
    low: Vec<u16>,
    /// Divided by 2^16; empty while all of them are zero.
    high: Vec<u64>,
}

impl Weights {
    pub(super) fn len(&self) -> usize {
        self.low.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let high = |index| self.high.get(index).map_or(0, |high| high << u16::BITS);
        self.low.iter().enumerate().map(move |(index, low)| u64::from(*low) + high(index))
    }

    /// Adds to the weight at `index`; returns false if there is none.
    #[inline]
    pub(super) fn add(&mut self, index: usize, weight: u64) -> bool {
        let Some(low) = self.low.get_mut(index) else { return false };
        let sum = u64::from(*low) + weight;
        *low = sum as u16;
        if sum > u16::MAX.into() {
            // Durations, which weight queue lengths, have a carry each time.
            match self.high.get_mut(index) {
                Some(high) => *high += sum >> u16::BITS,
                None => self.first_carry(index, sum >> u16::BITS),
            }
        }
        true
    }

    #[cold]
    fn first_carry(&mut self, index: usize, carry: u64) {
        self.high.resize(self.low.len(), 0);
        self.high[index] += carry;
    }

    /// Adds this many weights of zero before the first one.
    pub(super) fn extend_down(&mut self, count: usize) {
        self.low = extended_down(&self.low, count);
        if !self.high.is_empty() {
            self.high = extended_down(&self.high, count);
        }
    }

    /// Adds weights of zero until there are this many.
    pub(super) fn extend_up(&mut self, len: usize) {
        self.low.reserve_exact(len.saturating_sub(self.low.len()));
        self.low.resize(len.max(self.low.len()), 0);
        if !self.high.is_empty() {
            self.high.resize(self.low.len(), 0);
        }
    }
}

fn extended_down<T: Copy + Default>(weights: &[T], count: usize) -> Vec<T> {
    let mut extended = Vec::with_capacity(count + weights.len());
    extended.resize(count, T::default());
    extended.extend_from_slice(weights);
    extended
}
