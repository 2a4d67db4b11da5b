//! Streams of random numbers, and samples of distributions.

use rand::Rng;
use rand_pcg::Pcg32;

/// A stream of random numbers. In a run each entity has its own, so that another flow does not change the samples of this
/// one.
#[derive(Clone, Debug)]
pub struct Random(Pcg32);

/// FNV-1a: a stable hash, so that streams do not change from version to version.
pub fn stable_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

impl Random {
    /// The stream of the entity with this name (`"flow short.3"`, `"link L1 ->"`) in a run with this seed.
    pub fn stream(seed: u64, name: &str) -> Self {
        Self(Pcg32::new(seed ^ stable_hash(name).rotate_left(32), stable_hash(name)))
    }

    /// Stream number `stream` of this seed.
    pub fn numbered(seed: u64, stream: u64) -> Self {
        Self(Pcg32::new(seed, stream))
    }

    /// The next 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform among the numbers below `count`; zero if there is none.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// True with this probability. Takes no sample for a probability of at most 0 or at least 1.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        if probability <= 0.0 {
            return false;
        }
        probability >= 1.0 || self.uniform() < probability
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }

    /// Standard normal (Box-Muller, one of the pair: no state is kept between samples).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log1p(-self.uniform()));
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }

    /// Lognormal with this median; `sigma`: standard deviation of the logarithm.
    pub fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        median * libm::exp(sigma * self.normal())
    }

    /// Pareto with this shape and this smallest value; its mean is `shape * least / (shape - 1)`.
    pub fn pareto(&mut self, shape: f64, least: f64) -> f64 {
        least / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let sample = |seed, name: &str| Random::stream(seed, name).bits();
        assert_eq!(sample(1, "flow a"), sample(1, "flow a"));
        assert_ne!(sample(1, "flow a"), sample(2, "flow a"));
        assert_ne!(sample(1, "flow a"), sample(1, "flow b"));
    }

    #[test]
    fn samples_have_the_mean_and_spread_of_their_distribution() {
        let mut random = Random::stream(7, "test");
        let n = 200_000;
        let moments = |sample: &mut dyn FnMut() -> f64| {
            let (mut sum, mut square) = (0.0, 0.0);
            for _ in 0..n {
                let x = sample();
                sum += x;
                square += x * x;
            }
            let mean = sum / f64::from(n);
            (mean, square / f64::from(n) - mean * mean)
        };
        // Five standard errors of each estimate.
        let (mean, variance) = moments(&mut || random.uniform());
        assert!((mean - 0.5).abs() < 0.0033 && (variance - 1.0 / 12.0).abs() < 0.001);
        let (mean, variance) = moments(&mut || random.normal());
        assert!(mean.abs() < 0.012 && (variance - 1.0).abs() < 0.016);
        let (mean, variance) = moments(&mut || random.exponential(2.0));
        assert!((mean - 2.0).abs() < 0.023 && (variance - 4.0).abs() < 0.13);
        let (mean, _) = moments(&mut || random.pareto(3.0, 2.0));
        assert!((mean - 3.0).abs() < 0.02);
        // A mean of exp(1/8) and a standard deviation of .6 for sigma = 1/2.
        let (mean, _) = moments(&mut || random.lognormal(1.0, 0.5));
        assert!((mean - libm::exp(0.125)).abs() < 0.007, "{mean}");
        let hits = (0..n).filter(|_| random.chance(0.25)).count();
        assert!((hits as f64 / f64::from(n) - 0.25).abs() < 0.005);
    }

    /// Binomial with a standard deviation of 129 for each of three numbers: five of them.
    #[test]
    fn each_number_below_a_count_has_the_same_probability() {
        let mut random = Random::stream(7, "test");
        let mut hits = [0_u32; 3];
        (0..75_000).for_each(|_| hits[random.below(3)] += 1);
        assert!(hits.iter().all(|hits| hits.abs_diff(25_000) < 645), "{hits:?}");
        assert_eq!((random.below(1), random.below(0)), (0, 0));
    }
}
