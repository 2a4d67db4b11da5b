//! The number of distinct flow labels among the packets of the last one to two intervals, by linear counting (K.-Y. Whang,
//! B. T. Vander-Zanden, H. M. Taylor, ACM Transactions on Database Systems 15(2), 1990).
//!
//! ```text
//!  interval k-1        interval k
//! |------------------|--------------> now
//!   present -> union    present          a label sets its bit in both;
//!                                        the count is that of the union
//! ```

use crate::parts::linear_count::{BITS, flows_of_bits};

const WORDS: usize = BITS as usize / 64;

type Bitmap = [u64; WORDS];

/// Word and bit of a label. Labels are random, so their lowest bits select the position.
#[inline]
fn place(label: u32) -> (usize, u64) {
    let position = label % BITS;
    (position as usize / 64, 1 << (position % 64))
}

/// Counts labels.
pub(super) struct LabelCount {
    /// Labels of the present interval.
    present: Box<Bitmap>,
    /// Labels of the present and the previous interval.
    union: Box<Bitmap>,
    present_set: u32,
    union_set: u32,
    count: f64,
}

impl LabelCount {
    pub(super) fn new() -> Self {
        Self {
            present: Box::new([0; WORDS]),
            union: Box::new([0; WORDS]),
            present_set: 0,
            union_set: 0,
            count: 0.0,
        }
    }

    /// The estimated number of labels.
    #[inline]
    pub(super) fn count(&self) -> f64 {
        self.count
    }

    /// Whether no packet of the last one to two intervals had a label.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.union_set == 0
    }

    /// Notes the label of a packet.
    #[inline]
    pub(super) fn insert(&mut self, label: u32) {
        let (word, bit) = place(label);
        if self.present[word] & bit == 0 {
            self.add(word, bit);
        }
    }

    /// Notes a label that the present interval has not had yet.
    #[inline(never)]
    fn add(&mut self, word: usize, bit: u64) {
        self.present[word] |= bit;
        self.present_set += 1;
        if self.union[word] & bit == 0 {
            self.union[word] |= bit;
            self.union_set += 1;
            self.count = flows_of_bits(self.union_set);
        }
    }

    /// Removes a label; returns whether it was among those of the last one to two intervals.
    pub(super) fn take(&mut self, label: u32) -> bool {
        let (word, bit) = place(label);
        if self.union[word] & bit == 0 {
            return false;
        }
        self.union[word] &= !bit;
        self.union_set -= 1;
        self.present_set -= u32::from(self.present[word] & bit != 0);
        self.present[word] &= !bit;
        self.count = flows_of_bits(self.union_set);
        true
    }

    /// Ends an interval.
    pub(super) fn end_interval(&mut self) {
        std::mem::swap(&mut self.present, &mut self.union);
        self.union_set = self.present_set;
        *self.present = [0; WORDS];
        self.present_set = 0;
        self.count = flows_of_bits(self.union_set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Random;

    #[test]
    fn the_count_is_that_of_linear_counting() {
        // -m ln(1 - 1/m) = 1 + 1/(2m) + ...; half of the bits: m ln 2.
        assert!((flows_of_bits(1) - 1.000_122).abs() < 1e-6);
        assert!((flows_of_bits(2048) - 2839.13).abs() < 0.01);
        assert!(flows_of_bits(4096).is_finite());
    }

    #[test]
    fn the_mean_error_is_within_the_standard_error_of_the_paper() {
        // Standard error of n labels at load t = n/m: sqrt(m (e^t - t - 1)). Mean over 50 trials: a seventh of it.
        for flows in [20_u32, 200, 2000] {
            let mut random = Random::numbered(1, u64::from(flows));
            let trials = 50;
            let error: f64 = (0..trials)
                .map(|_| {
                    let mut count = LabelCount::new();
                    (0..flows).for_each(|_| count.insert(random.bits()));
                    count.count() - f64::from(flows)
                })
                .sum::<f64>()
                / f64::from(trials);
            let load = f64::from(flows) / f64::from(BITS);
            let standard = (f64::from(BITS) * (libm::exp(load) - load - 1.0)).sqrt();
            assert!(
                error.abs() < 3.0 * standard / f64::from(trials).sqrt(),
                "{flows}: {error} of {standard}"
            );
        }
    }

    #[test]
    fn a_label_that_is_taken_counts_no_longer() {
        let mut count = LabelCount::new();
        count.insert(7);
        count.end_interval();
        count.insert(8);
        assert!(!count.take(9));
        assert_eq!([count.take(7), count.take(7), count.take(8)], [true, false, true]);
        assert_eq!(count.count(), 0.0);
        count.end_interval();
        assert_eq!(count.count(), 0.0);
    }

    #[test]
    fn a_label_counts_once_at_once_and_until_the_end_of_the_next_interval() {
        let mut count = LabelCount::new();
        count.insert(7);
        count.insert(7);
        assert!((count.count() - 1.0).abs() < 1e-3);
        count.end_interval();
        assert!((count.count() - 1.0).abs() < 1e-3);
        count.insert(8);
        assert!((count.count() - 2.0).abs() < 1e-3);
        count.end_interval();
        assert!((count.count() - 1.0).abs() < 1e-3, "label 7 was in the interval before the last");
        count.end_interval();
        assert_eq!(count.count(), 0.0);
    }
}
