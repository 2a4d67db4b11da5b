//! The weights of the buckets of a histogram.

/// A list of weights. Most of them are small numbers of packets: a weight takes four bytes, and four more in a list of its own
/// as soon as one of them needs these.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// The lower halves.
    low: Vec<u32>,
    /// The upper halves; empty while all of them are zero.
    high: Vec<u32>,
}

impl Weights {
    pub(super) fn len(&self) -> usize {
        self.low.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let high = |index| self.high.get(index).map_or(0, |high| u64::from(*high) << u32::BITS);
        self.low.iter().enumerate().map(move |(index, low)| u64::from(*low) + high(index))
    }

    /// Adds to the weight at `index`; returns false if there is none.
    #[inline]
    pub(super) fn add(&mut self, index: usize, weight: u64) -> bool {
        let Some(low) = self.low.get_mut(index) else { return false };
        let sum = u64::from(*low) + weight;
        *low = sum as u32;
        if sum > u32::MAX.into() {
            self.carry(index, (sum >> u32::BITS) as u32);
        }
        true
    }

    #[cold]
    fn carry(&mut self, index: usize, carry: u32) {
        self.high.resize(self.low.len(), 0);
        self.high[index] += carry;
    }

    /// Adds this many weights of zero before the first one.
    pub(super) fn extend_down(&mut self, count: usize) {
        let extended = |weights: &[u32]| {
            let mut extended = Vec::with_capacity(count + weights.len());
            extended.resize(count, 0);
            extended.extend_from_slice(weights);
            extended
        };
        self.low = extended(&self.low);
        if !self.high.is_empty() {
            self.high = extended(&self.high);
        }
    }

    /// Adds weights of zero until there are this many.
    pub(super) fn extend_up(&mut self, len: usize) {
        self.low.resize(len.max(self.low.len()), 0);
        if !self.high.is_empty() {
            self.high.resize(self.low.len(), 0);
        }
    }
}
