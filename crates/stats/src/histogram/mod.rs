//! A weighted histogram of whole numbers with two significant digits.

mod weights;

use weights::Weights;

/// Number of buckets per doubling of the value, as a power of two: a bucket is at most 1/64 of its value wide.
const OCTAVE_BITS: u32 = 6;
const OCTAVE: usize = 1 << OCTAVE_BITS;

/// Resolution of delays: 2^13 ps, about 8 ns.
const DELAY_FLOOR: u32 = 13;

/// Values with weights: packets of weight one, or queue lengths weighted by their duration.
///
/// A quantile is within 0.8 % of the value; mean, minimum and maximum are exact. Memory is used only between the
/// smallest and the largest bucket seen: an eighth of a kilobyte per doubling, of which the RTTs of a flow need one or two. (A
/// general histogram of the same precision costs 9 kB each, of which a flow has three and a link two.)
#[derive(Clone, Debug)]
pub struct Histogram {
    weights: Weights,
    /// The bucket of the first weight, a multiple of [`OCTAVE`].
    first: u32,
    /// Resolution: 2^floor.
    floor: u32,
    /// The weight of zero, stored separately because most queues are empty most of the time.
    zero: u64,
    /// The smallest and the largest value above zero.
    min: u64,
    max: u64,
    sum: u128,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::coarser_than(0)
    }
}

impl Histogram {
    /// A histogram of delays in picoseconds.
    pub fn of_delays() -> Self {
        Self::coarser_than(DELAY_FLOOR)
    }

    fn coarser_than(floor: u32) -> Self {
        Self { weights: Weights::default(), first: 0, floor, zero: 0, min: u64::MAX, max: 0, sum: 0 }
    }

    /// Adds a value with a weight.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        if value == 0 {
            self.zero += weight;
            return;
        }
        self.add_to_bucket(self.bucket(value), weight);
        self.sum += u128::from(value) * u128::from(weight);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds all values of another histogram of the same resolution.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.floor, other.floor, "histograms of different kinds");
        for (index, weight) in other.weights.iter().enumerate().filter(|(_, weight)| *weight > 0) {
            self.add_to_bucket(other.first as usize + index, weight);
        }
        self.zero += other.zero;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The sum of all weights.
    pub fn total(&self) -> u64 {
        self.zero + self.weights.iter().sum::<u64>()
    }

    /// The weighted mean; zero if there is no weight.
    pub fn mean(&self) -> f64 {
        let total = self.total();
        if total == 0 { 0.0 } else { self.sum as f64 / total as f64 }
    }

    /// The smallest value; zero if there is no weight.
    pub fn min(&self) -> u64 {
        if self.zero > 0 || self.weights.len() == 0 { 0 } else { self.min }
    }

    /// The largest value; zero if there is no weight.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The sum of value times weight.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The smallest value such that `share` (0 to 1) of the weight lies at or below it; zero if there is no weight.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (share * self.total() as f64).max(1.0);
        let mut below = 0;
        let mut reached = self.buckets().skip_while(|(_, weight)| {
            below += weight;
            (below as f64) < wanted
        });
        reached.next().map_or(self.max, |(value, _)| value)
    }

    /// The mean of the smallest values that have `share` (0 to 1) of the weight; zero if there is no weight.
    pub fn trimmed_mean(&self, share: f64) -> f64 {
        let wanted = share * self.total() as f64;
        let (mut below, mut sum) = (0.0, 0.0);
        for (value, weight) in self.buckets() {
            let kept = (weight as f64).min(wanted - below);
            below += kept;
            sum += value as f64 * kept;
        }
        if below > 0.0 { sum / below } else { 0.0 }
    }

    /// Middle value and weight of each bucket with a positive weight, ascending: for distribution plots.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let middle = |index| self.middle(self.first as usize + index).max(self.min).min(self.max);
        let others = self.weights.iter().enumerate().map(move |(index, weight)| (middle(index), weight));
        core::iter::once((0, self.zero)).chain(others).filter(|(_, weight)| *weight > 0)
    }

    /// Index of the bucket of a value: linear up to `2 * OCTAVE << floor`, then [`OCTAVE`] buckets per doubling.
    #[inline]
    fn bucket(&self, value: u64) -> usize {
        let octave = 63 - (value | (1 << (OCTAVE_BITS + self.floor))).leading_zeros();
        let shift = octave - OCTAVE_BITS;
        (((shift - self.floor) as usize) << OCTAVE_BITS) + (value >> shift) as usize
    }

    /// Middle value of a bucket.
    fn middle(&self, bucket: usize) -> u64 {
        let octave = (bucket >> OCTAVE_BITS).saturating_sub(1);
        let shift = octave as u32 + self.floor;
        let low = ((bucket - (octave << OCTAVE_BITS)) as u64) << shift;
        low + ((1 << shift) >> 1)
    }

    #[inline]
    fn add_to_bucket(&mut self, bucket: usize, weight: u64) {
        if !self.weights.add(bucket.wrapping_sub(self.first as usize), weight) {
            self.add_outside(bucket, weight);
        }
    }

    /// Adds weight to a bucket outside the stored range, which is extended octave by octave.
    #[cold]
    fn add_outside(&mut self, bucket: usize, weight: u64) {
        let (start, first) = (bucket / OCTAVE * OCTAVE, self.first as usize);
        if self.weights.len() == 0 {
            self.first = start as u32;
        } else if start < first {
            self.weights.extend_down(first - start);
            self.first = start as u32;
        }
        let first = self.first as usize;
        self.weights.extend_up(start + OCTAVE - first);
        self.weights.add(bucket - first, weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_values_are_exact() {
        let mut histogram = Histogram::default();
        (1..=100).for_each(|value| histogram.add(value, 1));
        assert_eq!([0.01, 0.5, 0.95, 0.99, 1.0].map(|share| histogram.quantile(share)), [1, 50, 95, 99, 100]);
        assert!((histogram.mean() - 50.5).abs() < 1e-12);
    }

    #[test]
    fn values_are_weighted() {
        // Three seconds at length 2, one second at length 10: mean 4, three quarters of the time at 2.
        let mut histogram = Histogram::default();
        histogram.add(10, 1_000_000_000_000);
        histogram.add(2, 3_000_000_000_000);
        assert!((histogram.mean() - 4.0).abs() < 1e-12);
        assert_eq!([0.75, 0.76].map(|share| histogram.quantile(share)), [2, 10]);
    }

    #[test]
    fn merged_histograms_equal_one_of_all_values() {
        let of = |values: std::ops::Range<u64>| {
            let mut histogram = Histogram::default();
            values.for_each(|value| histogram.add(value * value, 1));
            histogram
        };
        let (mut merged, all) = (of(50..80), of(0..120));
        merged.merge(&of(80..120));
        merged.merge(&of(0..50));
        assert!(merged.buckets().eq(all.buckets()));
        assert_eq!((merged.mean(), merged.total()), (all.mean(), all.total()));
        assert_eq!((merged.min(), merged.max()), (0, 119 * 119));
    }

    #[test]
    fn a_trimmed_mean_leaves_out_the_largest_values() {
        let mut histogram = Histogram::default();
        (0..95).for_each(|_| histogram.add(1000, 1));
        (0..5).for_each(|_| histogram.add(1 << 40, 1));
        // To the precision of a bucket.
        assert!((histogram.trimmed_mean(0.95) / 1000.0 - 1.0).abs() <= 1.0 / 128.0);
        // A bucket at the limit counts in part: 95 of 1000 and one of 2^40, of 96.
        let expected = (95.0 * 1000.0 + (1_u64 << 40) as f64) / 96.0;
        assert!((histogram.trimmed_mean(0.96) / expected - 1.0).abs() < 1.0 / 64.0);
        assert_eq!(Histogram::default().trimmed_mean(0.95), 0.0);
    }

    #[test]
    fn weights_of_any_size_are_counted() {
        // Three hours at length 5, then 2^32 times a weight of one.
        let mut histogram = Histogram::default();
        let hours = 3 * 3_600_000_000_000_000;
        histogram.add(5, hours);
        histogram.add(7, u64::from(u32::MAX));
        histogram.add(7, 1);
        // One packet at a time, beyond 2^16.
        (0..70_000).for_each(|_| histogram.add(6, 1));
        // Shorter ones make room before the first bucket, longer ones behind the last.
        histogram.add(1000, 1);
        let buckets: Vec<(u64, u64)> = histogram.buckets().collect();
        assert_eq!(buckets[..3], [(5, hours), (6, 70_000), (7, 1 << 32)]);
        let mut merged = Histogram::default();
        merged.add(1 << 20, 1 << 40);
        merged.merge(&histogram);
        let weights: Vec<u64> = merged.buckets().map(|(_, weight)| weight).collect();
        assert_eq!(weights, [hours, 70_000, 1 << 32, 1, 1 << 40]);
    }

    #[test]
    fn an_empty_histogram_has_zero_statistics() {
        let histogram = Histogram::of_delays();
        assert_eq!((histogram.quantile(0.5), histogram.mean()), (0, 0.0));
        assert_eq!((histogram.min(), histogram.max()), (0, 0));
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_a_bucket_of_the_sorted_list(
            mut values in prop::collection::vec(0_u64..1 << 50, 1..200), share in 0.0..1.0_f64, floor in 0_u32..20,
        ) {
            let mut histogram = Histogram::coarser_than(floor);
            values.iter().for_each(|value| histogram.add(*value, 1));
            values.sort_unstable();
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
            let exact = values[rank - 1];
            let error = histogram.quantile(share).abs_diff(exact) as f64;
            prop_assert!(error <= (exact as f64 / 128.0).max((1_u64 << floor) as f64));
            prop_assert_eq!((histogram.min(), histogram.max()), (values[0], values[values.len() - 1]));
            prop_assert!(histogram.quantile(share) >= histogram.min());
            prop_assert_eq!(histogram.buckets().map(|(_, weight)| weight).sum::<u64>(), values.len() as u64);
        }
    }
}
