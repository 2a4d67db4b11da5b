//! Lognormal distributions of sizes between bounds.

use millpond_units::Bytes;

/// A size whose logarithm is normally distributed.
#[derive(Clone, Copy)]
pub(crate) struct Lognormal {
    /// Mean of the logarithm of the size in bytes.
    mu: f64,
    /// Standard deviation of the logarithm.
    sigma: f64,
}

impl Lognormal {
    pub(crate) fn new(median: Bytes, sigma: f64) -> Self {
        Self { mu: libm::log(median.as_f64()), sigma }
    }

    /// The probability that the size lies between these bounds, with the logarithm shifted by `shift` standard deviations.
    fn between(self, (least, most): (Bytes, Bytes), shift: f64) -> f64 {
        let below = |bound: Bytes| {
            let deviations = (libm::log(bound.as_f64()) - self.mu) / self.sigma - shift;
            0.5 * libm::erfc(-deviations * std::f64::consts::FRAC_1_SQRT_2)
        };
        below(most) - below(least)
    }

    /// The probability that the size lies between these bounds.
    pub(crate) fn probability(self, within: (Bytes, Bytes)) -> f64 {
        self.between(within, 0.0)
    }

    /// The mean of the sizes between these bounds.
    pub(crate) fn mean(self, within: (Bytes, Bytes)) -> Bytes {
        let unbounded = libm::exp(self.mu + self.sigma * self.sigma / 2.0);
        Bytes::from_f64(unbounded * self.between(within, self.sigma) / self.between(within, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_sizes_of_web_pages_have_the_moments_of_3gpp_tr_25_892() {
        // Main objects: mean 10710 B, standard deviation 25032 B. Embedded objects: 7758 B and 126168 B.
        for (median, sigma, mean, deviation) in
            [(4213, 1.366, 10_710.0, 25_032.0), (476, 2.3625, 7758.0, 126_168.0)]
        {
            let all = (Bytes::ZERO, Bytes::new(u64::MAX));
            let average = Lognormal::new(Bytes::new(median), sigma).mean(all).as_f64();
            let spread = average * libm::sqrt(libm::expm1(sigma * sigma));
            assert!((average / mean - 1.0).abs() < 0.005, "{average}");
            assert!((spread / deviation - 1.0).abs() < 0.005, "{spread}");
        }
    }

    #[test]
    fn without_bounds_that_matter_the_mean_is_that_of_the_distribution() {
        let sizes = Lognormal::new(Bytes::new(10_000), 0.5);
        let all = (Bytes::ZERO, Bytes::new(1 << 40));
        assert!((sizes.probability(all) - 1.0).abs() < 1e-12);
        assert!((sizes.mean(all).as_f64() / (10_000.0 * libm::exp(0.125)) - 1.0).abs() < 1e-4);
        // Half of the sizes lie below the median.
        assert!((sizes.probability((Bytes::ZERO, Bytes::new(10_000))) - 0.5).abs() < 1e-12);
    }
}
