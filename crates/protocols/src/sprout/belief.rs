//! What the receiver believes about the rate of the link (section 3.2): a weight for each rate, evolved and multiplied by
//! the likelihood of what arrived, tick by tick.

use super::model::{Evolution, RATES, Weights, normalized, per_tick};

/// The logarithm of the probability of exactly `count` deliveries where `expected` are expected, up to a constant that
/// does not depend on `expected`. The count may be a fraction: packets have different sizes.
fn log_exactly(count: f64, expected: f64) -> f64 {
    if count == 0.0 { -expected } else { count * libm::log(expected) - expected }
}

/// The same for at least `count` deliveries: the regularized incomplete gamma function P(count, expected) as the series of
/// DLMF, Eq. (8.11.4).
fn log_at_least(count: f64, expected: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0, 1.0, count);
    while term > sum * f64::EPSILON {
        k += 1.0;
        term *= expected / k;
        sum += term;
    }
    log_exactly(count, expected) + libm::log(sum)
}

/// The belief.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Belief {
    weights: Weights,
}

impl Belief {
    /// All rates are equally probable.
    pub(super) fn uniform() -> Self {
        Self { weights: [1.0 / RATES as f64; RATES] }
    }

    /// One rate is certain.
    #[cfg(test)]
    pub(super) fn certain(index: usize) -> Self {
        Self { weights: core::array::from_fn(|i| f64::from(i == index)) }
    }

    /// The probability of each rate.
    pub(super) fn probabilities(&self) -> &Weights {
        &self.weights
    }

    /// A tick passes.
    pub(super) fn evolve(&mut self) {
        self.weights = normalized(Evolution::get().apply(&self.weights));
    }

    /// In the tick that has passed, exactly this number of packets arrived, or at least this number, because the sender had
    /// no more in flight.
    pub(super) fn observe(&mut self, count: f64, exact: bool) {
        let likelihood = if exact { log_exactly } else { log_at_least };
        let logs: Weights =
            core::array::from_fn(|i| libm::log(self.weights[i]) + likelihood(count, per_tick(i)));
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most.is_finite() {
            self.weights = normalized(logs.map(|log| libm::exp(log - most)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(count: f64, exact: bool) -> Belief {
        let mut belief = Belief::uniform();
        belief.observe(count, exact);
        belief
    }

    fn mean_per_tick(belief: &Belief) -> f64 {
        belief.probabilities().iter().enumerate().map(|(i, w)| w * per_tick(i)).sum()
    }

    /// The probability of at least `count` deliveries, summed from the probabilities of fewer.
    fn tail(count: u32, expected: f64) -> f64 {
        let mut below = 0.0;
        let mut term = libm::exp(-expected);
        for k in 0..count {
            below += term;
            term *= expected / f64::from(k + 1);
        }
        1.0 - below
    }

    #[test]
    fn a_uniform_belief_becomes_the_gamma_distribution_of_what_was_counted() {
        // The posterior of a uniform prior after n arrivals is Gamma(n + 1) in units of a tick: mean n + 1. With more
        // packets the highest rate of 20 per tick truncates it.
        for count in 1..=5 {
            let mean = mean_per_tick(&observed(f64::from(count), true));
            assert!((mean - f64::from(count + 1)).abs() < 0.01, "{count}: {mean}");
        }
    }

    #[test]
    fn the_likelihood_of_at_least_n_is_the_tail_of_the_poisson_distribution() {
        for count in 1..=30_u32 {
            let ln_factorial: f64 = (1..=count).map(|k| libm::log(f64::from(k))).sum();
            for index in [1, 17, 128, 255] {
                let expected = per_tick(index);
                let computed = libm::exp(log_at_least(f64::from(count), expected) - ln_factorial);
                // The sum in the test cancels; the series does not.
                assert!(
                    (computed - tail(count, expected)).abs() < 1e-13,
                    "{count} of {expected}: {computed}"
                );
            }
        }
    }

    #[test]
    fn a_fraction_of_a_packet_lies_between_the_whole_numbers() {
        for exact in [true, false] {
            let means = [2.0, 2.5, 3.0].map(|count| mean_per_tick(&observed(count, exact)));
            assert!(means[0] < means[1] && means[1] < means[2], "{means:?}");
        }
    }

    #[test]
    fn at_least_n_makes_no_rate_less_probable_than_a_lower_one() {
        let (exact, bound) = (observed(3.0, true), observed(3.0, false));
        // From the same weights the bound makes each rate at least as probable as the next lower one. An outage is excluded.
        assert!(bound.probabilities()[1..].is_sorted());
        assert!(mean_per_tick(&bound) > mean_per_tick(&exact));
    }

    #[test]
    fn one_packet_excludes_an_outage_and_a_second_of_silence_is_one() {
        assert_eq!(observed(1.0, true).probabilities()[0], 0.0);
        assert_eq!(observed(0.1, false).probabilities()[0], 0.0);
        let mut belief = Belief::uniform();
        for _ in 0..50 {
            belief.evolve();
            belief.observe(0.0, true);
        }
        assert!(belief.probabilities()[0] > 0.5, "{}", belief.probabilities()[0]);
    }

    #[test]
    fn any_count_leaves_probabilities() {
        for count in [0.0, 0.01, 30.0, 1e9] {
            for exact in [true, false] {
                let mut belief = Belief::uniform();
                for observed in [count, 0.0, count] {
                    belief.evolve();
                    belief.observe(observed, exact);
                    let sum: f64 = belief.probabilities().iter().sum();
                    assert!((sum - 1.0).abs() < 1e-9, "{count}: {sum}");
                }
            }
        }
    }
}
