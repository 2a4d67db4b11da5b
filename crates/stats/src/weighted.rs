//! Samples with weights: the duration of a value, or the traffic to which it applied.

use alloc::vec::Vec;

/// Samples with positive weights, in any order.
#[derive(Clone, Debug, Default)]
pub struct WeightedSamples(Vec<WeightedSample>);

#[derive(Clone, Copy, Debug)]
struct WeightedSample {
    value: f64,
    weight: f64,
}

impl WeightedSamples {
    /// Adds one sample; it is ignored unless its weight is positive.
    pub fn add(&mut self, value: f64, weight: f64) {
        if weight > 0.0 {
            self.0.push(WeightedSample { value, weight });
        }
    }

    /// Adds the samples of `other`, their weights multiplied by `factor`.
    pub fn merge(&mut self, other: &Self, factor: f64) {
        self.0.extend(
            other.0.iter().map(|one| WeightedSample { value: one.value, weight: one.weight * factor }),
        );
    }

    /// Bounds the number of samples: if there are `2 * most`, every two adjacent values are merged to one sample with their
    /// weighted mean and the sum of their weights. The least and the greatest sample are not changed.
    pub fn thin(&mut self, most: usize) {
        if self.0.len() / 2 < most {
            return;
        }
        self.sort();
        let last = self.0.len() - 1;
        let mut thinned = Vec::with_capacity(2 * most);
        thinned.push(self.0[0]);
        for pair in self.0[1..last].chunks(2) {
            let weight: f64 = pair.iter().map(|one| one.weight).sum();
            let sum: f64 = pair.iter().map(|one| one.value * one.weight).sum();
            thinned.push(WeightedSample { value: sum / weight, weight });
        }
        thinned.push(self.0[last]);
        self.0 = thinned;
    }

    /// The distribution of the samples; `None` if there are none.
    pub fn distribution(&self) -> Option<WeightedDistribution> {
        if self.0.is_empty() {
            return None;
        }
        let mut samples = self.clone();
        samples.sort();
        let total: f64 = samples.0.iter().map(|one| one.weight).sum();
        let mut below = 0.0;
        let points = samples.0.iter().map(|one| {
            below += one.weight;
            (below / total, one.value)
        });
        let points = points.collect();
        let mean = samples.0.iter().map(|one| one.value * one.weight).sum::<f64>() / total;
        Some(WeightedDistribution { points, mean })
    }

    fn sort(&mut self) {
        self.0.sort_by(|a, b| a.value.total_cmp(&b.value));
    }
}

/// The distribution of weighted samples, of which there is at least one.
#[derive(Clone, Debug)]
pub struct WeightedDistribution {
    /// `(cumulative share of the weight, value)`, ascending.
    points: Vec<(f64, f64)>,
    mean: f64,
}

impl WeightedDistribution {
    /// The weighted mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// `(cumulative share of the weight, value)` of each sample, ascending; the last share is 1.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The least sample whose cumulative share of the weight reaches `level` (0 to 1): Hyndman and Fan's type 1 if all
    /// weights are equal.
    pub fn quantile(&self, level: f64) -> f64 {
        let place = self.points.partition_point(|(share, _)| *share < level);
        self.points.get(place).or(self.points.last()).map_or(0.0, |(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_of_two_counts_as_two_samples() {
        let mut samples = WeightedSamples::default();
        for (value, weight) in [(3.0, 1.0), (1.0, 2.0), (9.0, 0.0), (2.0, 1.0)] {
            samples.add(value, weight);
        }
        let one = samples.distribution().unwrap();
        let quantiles = |of: &WeightedDistribution| [0.0, 0.5, 1.0].map(|level| of.quantile(level));
        assert_eq!((quantiles(&one), one.mean()), ([1.0, 1.0, 3.0], 7.0 / 4.0));
        let mut thrice = samples.clone();
        thrice.merge(&samples, 2.0);
        let thrice = thrice.distribution().unwrap();
        assert_eq!((quantiles(&thrice), thrice.mean()), (quantiles(&one), one.mean()));
        assert!(WeightedSamples::default().distribution().is_none());
    }

    /// A flow with a value of 1, and three flows with a value of 2 each: a mean of 7 / 4, and a median of 2.
    #[test]
    fn samples_that_are_merged_with_a_factor_count_as_often() {
        let of_value = |value| {
            let mut samples = WeightedSamples::default();
            samples.add(value, 1.0);
            samples
        };
        let mut all = of_value(1.0);
        all.merge(&of_value(2.0), 3.0);
        let all = all.distribution().unwrap();
        assert_eq!((all.mean(), all.quantile(0.25), all.quantile(0.5)), (7.0 / 4.0, 1.0, 2.0));
    }

    /// The values 0 to 9999 in a shuffled order, thinned after every sample: each remaining sample stands for about 1/64
    /// of all, which bounds the error of a quantile.
    #[test]
    fn thinned_samples_keep_mean_and_extremes_and_nearly_the_quantiles() {
        let mut samples = WeightedSamples::default();
        for i in 0..10_000_u32 {
            samples.thin(64);
            samples.add(f64::from(i * 7919 % 10_000), 1.0);
        }
        assert!(samples.0.len() <= 129, "{}", samples.0.len());
        let of = samples.distribution().unwrap();
        assert!((of.mean() - 4999.5).abs() < 1e-6 && (of.quantile(0.0), of.quantile(1.0)) == (0.0, 9999.0));
        for (level, exact) in [(0.5, 5e3), (0.95, 9.5e3), (0.99, 9.9e3)] {
            assert!((of.quantile(level) - exact).abs() < 10_000.0 / 64.0, "{level}");
        }
    }
}
