//! The model of the link (section 3.1, NSDI 2013): packets are delivered as a Poisson process, whose rate moves as a
//! Brownian motion and stays at zero in an outage.

use millpond_units::{Bytes, Span};
use std::sync::OnceLock;

/// Packets are counted in units of this size (section 3.1).
pub(super) const UNIT: Bytes = Bytes::new(1500);

/// Time between two updates of the belief (section 3.1).
pub(super) const TICK: Span = Span::from_millis(20);

/// Ticks of a forecast (section 3.3: 160 ms).
pub(super) const TICKS: usize = 8;

/// Number of discrete rates (section 3.1).
pub(super) const RATES: usize = 256;

/// The highest rate, in packets per second (section 3.1).
const HIGHEST_RATE: f64 = 1000.0;

/// Standard deviation of the change of the rate in a second, in packets per second (section 3.1).
const BROWNIAN: f64 = 200.0;

/// Rate at which an outage ends, in 1/s (section 3.1).
const ESCAPE: f64 = 1.0;

/// Steps of the rate beyond which a change within one tick is neglected: five standard deviations.
const REACH: usize = 36;

/// A weight for each rate. Weights need not add up to one.
pub(super) type Weights = [f64; RATES];

/// The rate of this index, in packets per second; an outage has index 0.
fn rate(index: usize) -> f64 {
    HIGHEST_RATE * index as f64 / (RATES - 1) as f64
}

/// The expected deliveries of a tick at the rate of this index.
pub(super) fn per_tick(index: usize) -> f64 {
    rate(index) * TICK.secs()
}

/// The probability that a normal variable of mean zero and standard deviation one is less than `x`.
fn normal_below(x: f64) -> f64 {
    0.5 * libm::erfc(-x / core::f64::consts::SQRT_2)
}

/// What a tick without observation does to weights.
#[derive(Debug)]
pub(super) struct Evolution {
    /// The probability that the rate changes by this number of steps, from -[`REACH`] on.
    step: [f64; 2 * REACH + 1],
    /// The probability that it rises by at least this number of steps, or falls by as many.
    at_least: [f64; REACH + 1],
    /// The probability that an outage ends.
    escape: f64,
}

impl Evolution {
    /// The evolution, computed at the first call.
    pub(super) fn get() -> &'static Self {
        static EVOLUTION: OnceLock<Evolution> = OnceLock::new();
        EVOLUTION.get_or_init(Self::new)
    }

    fn new() -> Self {
        let deviation = BROWNIAN * libm::sqrt(TICK.secs()) / rate(1);
        let below = |steps: f64| normal_below(steps / deviation);
        Self {
            step: core::array::from_fn(|i| {
                let steps = i as f64 - REACH as f64;
                below(steps + 0.5) - below(steps - 0.5)
            }),
            at_least: core::array::from_fn(|d| 1.0 - below(d as f64 - 0.5)),
            escape: 1.0 - libm::exp(-ESCAPE * TICK.secs()),
        }
    }

    /// The weights a tick later. The first and the last rate take what moves beyond them. The weights of an outage are
    /// multiplied by the probability that it goes on, or ends, as well as by that of the motion; their sum is then less than
    /// before (ERRATA.md).
    pub(super) fn apply(&self, old: &Weights) -> Weights {
        let mut new = [0.0; RATES];
        for (from, &weight) in old.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            self.spread(from, weight, &mut new);
        }
        new
    }

    fn spread(&self, from: usize, weight: f64, new: &mut Weights) {
        let (stays, leaves) =
            if from == 0 { (weight * (1.0 - self.escape), weight * self.escape) } else { (weight, weight) };
        let (first, last) = (from.saturating_sub(REACH).max(1), (from + REACH).min(RATES - 2));
        let steps = &self.step[REACH + first - from..];
        new[first..=last].iter_mut().zip(steps).for_each(|(new, step)| *new += leaves * step);
        if from <= REACH {
            new[0] += stays * self.at_least[from];
        }
        if RATES - 1 - from <= REACH {
            new[RATES - 1] += leaves * self.at_least[RATES - 1 - from];
        }
    }
}

/// The weights with a sum of one.
pub(super) fn normalized(mut weights: Weights) -> Weights {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certain(index: usize) -> Weights {
        core::array::from_fn(|i| f64::from(i == index))
    }

    fn moments(weights: &Weights) -> (f64, f64) {
        let weights = normalized(*weights);
        let mean: f64 = weights.iter().enumerate().map(|(i, w)| w * rate(i)).sum();
        let square: f64 = weights.iter().enumerate().map(|(i, w)| w * (rate(i) - mean).powi(2)).sum();
        (mean, square.sqrt())
    }

    #[test]
    fn after_n_ticks_a_rate_has_spread_by_200_packets_per_second_times_the_square_root_of_the_time() {
        let mut weights = certain(128);
        for tick in 1..=4 {
            weights = Evolution::get().apply(&weights);
            let (mean, deviation) = moments(&weights);
            let expected = 200.0 * (0.02 * f64::from(tick)).sqrt();
            assert!((mean - rate(128)).abs() < 1e-9, "{mean}");
            // Rounding to whole steps adds a variance of a twelfth of a step per tick.
            assert!((deviation / expected - 1.0).abs() < 2e-3, "{tick}: {deviation} {expected}");
        }
    }

    #[test]
    fn the_motion_keeps_all_weight_of_every_rate_but_that_of_an_outage() {
        for index in 1..RATES {
            let sum: f64 = Evolution::get().apply(&certain(index)).iter().sum();
            assert!((sum - 1.0).abs() < 1e-6, "{index}: {sum}");
        }
    }

    #[test]
    fn within_a_tick_an_outage_ends_by_the_probability_of_a_poisson_process_of_1_per_second() {
        let weights = Evolution::get().apply(&certain(0));
        let motion = Evolution::get().at_least[0];
        assert!((weights[0] - libm::exp(-0.02) * motion).abs() < 1e-12);
        let left: f64 = weights[1..].iter().sum();
        assert!((left - (1.0 - libm::exp(-0.02)) * (1.0 - motion)).abs() < 1e-6, "{left}");
    }
}
