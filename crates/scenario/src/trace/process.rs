//! The random process of a generated trace: its states at each sample, and the conditional law of its next rates.
//!
//! Given the state of sample `k`, the scores of the next samples are jointly normal, and the outages are independent of
//! them. Both laws are evaluated without sampling: the normal one on equally likely points, the one of outages exactly.

use super::presets::SHORTEST_OUTAGE;
use super::{Preset, Trace};
use millpond_stats::quantile_of_curve;
use millpond_units::{Rate, Span};
use std::ops::Range;

/// Points for the law of the scores.
const POINTS: usize = 256;
/// Points beside an outage that begins or ends among the next samples.
const POINTS_BESIDE_OUTAGE: usize = 32;

/// The components of the Gaussian process at one sample, each of unit variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GaussianState {
    pub(super) fast: f64,
    pub(super) slow: f64,
    pub(super) white: f64,
}

impl GaussianState {
    /// The normal score of the sample.
    pub(super) fn score(&self, preset: &Preset) -> f64 {
        libm::sqrt(preset.fast) * self.fast
            + libm::sqrt(preset.slow) * self.slow
            + libm::sqrt(preset.white) * self.white
    }
}

/// A long outage, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outage {
    pub(super) start: f64,
    pub(super) length: f64,
}

impl Outage {
    /// The samples without service, of `count`.
    pub(super) fn samples(&self, step: Span, count: usize) -> Range<usize> {
        let first = (self.start / step.secs()) as usize;
        let last = ((self.start + self.length) / step.secs()) as usize;
        first.min(count)..last.max(first).min(count)
    }
}

/// The next rates of a trace, with their conditional probability.
#[derive(Clone, Debug, PartialEq)]
pub struct RatePath {
    /// Probability; those of all paths add up to one.
    pub weight: f64,
    /// The rates of the next samples in bit/s.
    pub rates: Vec<f64>,
}

/// A generated trace with the states of its random process.
#[derive(Clone, Debug)]
pub struct RateProcess {
    pub(super) preset: &'static Preset,
    /// The trace.
    pub trace: Trace,
    /// The time between two samples.
    pub step: Span,
    /// The rate of each sample.
    pub rates: Vec<Rate>,
    pub(super) distribution: [(f64, f64); 11],
    /// The rate of level one, in bit/s: it makes the mean of the trace exact.
    pub(super) unit: f64,
    pub(super) states: Vec<GaussianState>,
    pub(super) outages: Vec<Outage>,
}

/// The conditional law of the next rates of a [`RateProcess`].
#[derive(Clone, Debug)]
pub struct NextRates<'a> {
    process: &'a RateProcess,
    count: usize,
    /// Deviations of the next scores from their means: one list of `count` for each of the equally likely points.
    deviations: Vec<Vec<f64>>,
}

impl RateProcess {
    /// The longest time ahead for which the law of outages is exact: an outage that begins does not end within it.
    pub const LONGEST: Span = Span::from_millis((SHORTEST_OUTAGE * 1000.0) as u64);

    /// The law of the next `count` rates.
    pub fn next_rates(&self, count: usize) -> NextRates<'_> {
        let factor = cholesky(&self.covariance(count));
        let deviations = (0..POINTS).map(|index| {
            let normals = normal_point(index, count);
            let row = |row: &Vec<f64>| row.iter().zip(&normals).map(|(a, b)| a * b).sum();
            factor.iter().map(row).collect()
        });
        NextRates { process: self, count, deviations: deviations.collect() }
    }

    /// The correlations of the fast and the slow component at `steps` samples apart.
    fn kept(&self, steps: usize) -> [f64; 2] {
        let after = self.step.secs() * steps as f64;
        [self.preset.fast_tau, self.preset.slow_tau].map(|tau| libm::exp(-after / tau))
    }

    /// The covariance of the next scores given the present state.
    fn covariance(&self, count: usize) -> Vec<Vec<f64>> {
        let Preset { fast, slow, white, .. } = *self.preset;
        let entry = |i: usize, j: usize| {
            let (early, late) = (i.min(j), i.max(j));
            let (apart, since) = (self.kept(late - early), self.kept(early));
            let of = |share: f64, part: usize| share * apart[part] * (1.0 - since[part] * since[part]);
            of(fast, 0) + of(slow, 1) + if i == j { white } else { 0.0 }
        };
        (1..=count).map(|i| (1..=count).map(|j| entry(i, j)).collect()).collect()
    }

    /// The means of the next scores given the state of this sample.
    fn means(&self, sample: usize, count: usize) -> Vec<f64> {
        let state = &self.states[sample];
        let mean = |steps| {
            let [fast, slow] = self.kept(steps);
            let decayed = GaussianState { fast: fast * state.fast, slow: slow * state.slow, white: 0.0 };
            decayed.score(self.preset)
        };
        (1..=count).map(mean).collect()
    }

    /// For each `j` up to `count` the probability that the outages that cover this sample cover exactly the next `j` ones, or at
    /// least these for the last `j`.
    fn remaining(&self, sample: usize, count: usize) -> Vec<f64> {
        let step = self.step.secs();
        // Length beyond which an outage covers the sample `ahead` after this one.
        let needed = |outage: &Outage, ahead: usize| {
            let last = (sample + ahead + 1) as f64 * step;
            (last - outage.start - SHORTEST_OUTAGE).max(0.0)
        };
        let covers = |outage: &&Outage| outage.samples(self.step, self.states.len()).contains(&sample);
        let spread = self.preset.outage_spread();
        let ended = |outage: &Outage, ahead: usize| {
            let more = needed(outage, ahead) - needed(outage, 0);
            let is_longer = if spread > 0.0 { libm::exp(-more / spread) } else { f64::from(more <= 0.0) };
            1.0 - is_longer
        };
        let begun: Vec<&Outage> = self.outages.iter().filter(covers).collect();
        let all_ended = |ahead: usize| begun.iter().map(|outage| ended(outage, ahead)).product::<f64>();
        // Covered are the samples 1..j if no outage covers the sample j + 1.
        let by = (1..=count).map(all_ended).chain([1.0]);
        let mut before = 0.0;
        by.map(|share| share - std::mem::replace(&mut before, share)).collect()
    }

    /// For each `j` up to `count` the probability that the next outage begins in the sample `j + 1` after this one, or later
    /// for the last one.
    fn beginning(&self, count: usize) -> Vec<f64> {
        let none = libm::exp(-self.preset.outages.max(0.0) / 60.0 * self.step.secs());
        let mut probabilities: Vec<f64> =
            (0..count).map(|samples| libm::pow(none, samples as f64) * (1.0 - none)).collect();
        probabilities.push(libm::pow(none, count as f64));
        probabilities
    }
}

impl NextRates<'_> {
    /// The rates after this sample for a controller that knows its state: both components of the Gaussian process, the times
    /// at which its outages began, and the scale of the trace.
    pub fn after(&self, sample: usize) -> Vec<RatePath> {
        let means = self.process.means(sample, self.count);
        let (remaining, beginning) =
            (self.process.remaining(sample, self.count), self.process.beginning(self.count));
        let mut paths = Vec::new();
        for (covered, ends) in remaining.iter().enumerate() {
            for (first, begins) in beginning.iter().enumerate() {
                let weight = ends * begins;
                let is_usual = first == self.count && covered == 0;
                if weight > 0.0 {
                    self.add_paths(&mut paths, &means, covered..first, weight, is_usual);
                }
            }
        }
        paths
    }

    /// Adds the paths with service in the samples of `open` alone.
    fn add_paths(
        &self,
        paths: &mut Vec<RatePath>,
        means: &[f64],
        open: Range<usize>,
        weight: f64,
        is_usual: bool,
    ) {
        let points = if open.is_empty() {
            1
        } else if is_usual {
            POINTS
        } else {
            POINTS_BESIDE_OUTAGE
        };
        let process = self.process;
        let rate = |sample: usize, deviation: f64| match open.contains(&sample) {
            true => process.unit * level(&process.distribution, means[sample] + deviation),
            false => 0.0,
        };
        for deviations in self.deviations.iter().step_by(POINTS / points) {
            let rates = deviations.iter().enumerate().map(|(sample, one)| rate(sample, *one)).collect();
            paths.push(RatePath { weight: weight / points as f64, rates });
        }
    }
}

/// The rate relative to the mean at this normal score.
pub(super) fn level(distribution: &[(f64, f64)], score: f64) -> f64 {
    quantile_of_curve(distribution, phi(score)).unwrap_or_default()
}

/// The distribution function of the standard normal.
fn phi(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The lower triangular factor of a positive definite matrix.
fn cholesky(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut factor = vec![vec![0.0; matrix.len()]; matrix.len()];
    for i in 0..matrix.len() {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
            let rest = matrix[i][j] - sum;
            factor[i][j] = match i == j {
                true => libm::sqrt(rest.max(0.0)),
                false if factor[j][j] > 0.0 => rest / factor[j][j],
                false => 0.0,
            };
        }
    }
    factor
}

/// A point of a low-discrepancy sequence, mapped to standard normal numbers. In one dimension the points are the middles of
/// equally likely intervals, in any order; in several they are an additive recurrence by powers of the root of
/// `x^(n + 1) = x + 1` (Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018).
fn normal_point(index: usize, count: usize) -> Vec<f64> {
    if count == 1 {
        // Reversed bits, so that each power of two of first points is spread evenly, too.
        let bits = POINTS.trailing_zeros();
        let place = (index as u32).reverse_bits() >> (u32::BITS - bits);
        return vec![normal_quantile((f64::from(place) + 0.5) / POINTS as f64)];
    }
    let root = (0..60).fold(2.0, |x, _| libm::pow(1.0 + x, 1.0 / (count + 1) as f64));
    // The second half mirrors the first one, so that all odd moments are zero.
    let half = POINTS / 2;
    let (place, sign) = if index < half { (index, 1.0) } else { (index - half, -1.0) };
    let uniform = |dimension: usize| {
        let shifted = 0.5 + (place + 1) as f64 / libm::pow(root, dimension as f64);
        shifted - libm::floor(shifted)
    };
    (1..=count).map(|dimension| sign * normal_quantile(uniform(dimension))).collect()
}

/// The number at which the distribution function of the standard normal has this value, by bisection.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if phi(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::super::{TraceRecipe, preset};
    use super::*;
    use millpond_stats::{mean, standard_deviation};

    fn process(name: &str, seconds: f64) -> RateProcess {
        TraceRecipe::new(preset(name).unwrap(), Span::from_secs(seconds), 5).process().unwrap()
    }

    #[test]
    fn probabilities_of_the_futures_add_up_to_one_in_and_outside_of_an_outage() {
        let process = process("umts-car", 120.0);
        let law = process.next_rates(4);
        let outage = process.outages.first().unwrap().samples(process.step, process.states.len());
        for sample in [0, outage.start, outage.start + 9, outage.end - 1, outage.end] {
            let sum: f64 = law.after(sample).iter().map(|path| path.weight).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sample}: {sum}");
        }
    }

    /// In the first second of an outage of at least a second the next samples have no service; after it the outage goes on for an
    /// exponential time.
    #[test]
    fn an_outage_ends_as_its_law_says() {
        let process = process("umts-car", 120.0);
        let outage = process.outages[0];
        let covered = outage.samples(process.step, process.states.len());
        let none = process.remaining(covered.start + 2, 4);
        assert_eq!(none, [0.0, 0.0, 0.0, 0.0, 1.0]);
        let late = covered.start + 10;
        assert!(covered.contains(&late), "the first outage of this seed is longer than a second");
        let kept = libm::exp(-0.1 / process.preset.outage_spread());
        let first = process.remaining(late, 4)[0];
        assert!((first - (1.0 - kept)).abs() < 1e-9, "{first}, {kept}");
        let begins = process.beginning(2);
        assert!((begins[0] - (1.0 - libm::exp(-1.62 / 600.0))).abs() < 1e-12, "{begins:?}");
    }

    /// Over a long trace the standardized next scores have mean 0 and standard deviation 1, and so have those two samples ahead.
    #[test]
    fn the_next_scores_have_the_mean_and_spread_of_the_law() {
        let process = process("lte-fading", 600.0);
        for ahead in [1, 2] {
            let spread = libm::sqrt(process.covariance(ahead)[ahead - 1][ahead - 1]);
            let scores = (0..process.states.len() - ahead).map(|sample| {
                let score = process.states[sample + ahead].score(process.preset);
                (score - process.means(sample, ahead)[ahead - 1]) / spread
            });
            let scores: Vec<f64> = scores.collect();
            // Four standard errors of 6000 samples, of which two ahead overlap.
            assert!(mean(&scores).abs() < 0.08, "{ahead}: {}", mean(&scores));
            assert!((standard_deviation(&scores) - 1.0).abs() < 0.06, "{ahead}");
        }
    }

    #[test]
    fn the_points_of_the_normal_law_have_its_moments() {
        for count in [1, 2, 5] {
            let points: Vec<Vec<f64>> = (0..POINTS).map(|index| normal_point(index, count)).collect();
            for dimension in 0..count {
                let values: Vec<f64> = points.iter().map(|point| point[dimension]).collect();
                assert!(mean(&values).abs() < 1e-9, "{count}: {}", mean(&values));
                let spread = standard_deviation(&values);
                assert!((spread - 1.0).abs() < 0.05, "{count}: {spread}");
            }
        }
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
    }

    #[test]
    fn the_triangular_factor_gives_the_matrix() {
        let matrix = vec![vec![4.0, 2.0, 0.4], vec![2.0, 5.0, 1.0], vec![0.4, 1.0, 3.0]];
        let factor = cholesky(&matrix);
        for (i, row) in matrix.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let product: f64 = (0..3).map(|k| factor[i][k] * factor[j][k]).sum();
                assert!((product - value).abs() < 1e-12);
            }
        }
    }
}
