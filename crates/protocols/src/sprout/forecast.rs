//! The forecast (section 3.3): how many packets the link delivers at least within 1 to 8 ticks, with a given probability.

use super::belief::Belief;
use super::model::{Evolution, RATES, TICKS, Weights, normalized, per_tick};
use std::sync::OnceLock;

/// Deliveries within one tick are fewer than this number: an expected 20 of the highest rate, and more than twice the
/// standard deviation of a Poisson process.
const PER_TICK: usize = 30;

/// Independent sums of a scalar product, which the processor adds at the same time. They divide [`RATES`].
const LANES: usize = 8;

/// Packets that the link delivers within 1 to 8 ticks, as a lower bound.
pub(super) type Forecast = [u8; TICKS];

/// The distributions of the deliveries, for each number of ticks and each present rate.
pub(super) struct Forecaster {
    /// For each number of ticks, for each count: the probability of at most so many deliveries, by present rate.
    at_most: Vec<Vec<Weights>>,
}

impl Forecaster {
    /// The distributions, computed at the first call. They depend on the model alone.
    pub(super) fn get() -> &'static Self {
        static FORECASTER: OnceLock<Forecaster> = OnceLock::new();
        FORECASTER.get_or_init(Self::new)
    }

    fn new() -> Self {
        let in_a_tick: Vec<[f64; PER_TICK]> = (0..RATES).map(|i| poisson(per_tick(i))).collect();
        let most = |ticks: usize| ticks * (PER_TICK - 1);
        let mut at_most: Vec<Vec<Weights>> =
            (1..=TICKS).map(|ticks| vec![[0.0; RATES]; most(ticks) + 1]).collect();
        for present in 0..RATES {
            let mut rates: Weights = core::array::from_fn(|i| f64::from(i == present));
            let mut counts = vec![1.0];
            for table in &mut at_most {
                counts = convolve(&counts, &mixture(&rates, &in_a_tick));
                let mut below = 0.0;
                for (row, count) in table.iter_mut().zip(&counts) {
                    below += count;
                    row[present] = below;
                }
                rates = normalized(Evolution::get().apply(&rates));
            }
        }
        Self { at_most }
    }

    /// The probability of at most so many deliveries.
    fn probability(at_most: &Weights, belief: &Belief) -> f64 {
        let (rows, weights) = (at_most.as_chunks::<LANES>().0, belief.probabilities().as_chunks::<LANES>().0);
        let mut sums = [0.0; LANES];
        for (row, weight) in rows.iter().zip(weights) {
            (0..LANES).for_each(|lane| sums[lane] += row[lane] * weight[lane]);
        }
        sums.iter().sum()
    }

    /// For each number of ticks, the least count for which the probability of at most so many deliveries is `risk`.
    pub(super) fn forecast(&self, belief: &Belief, risk: f64) -> Forecast {
        core::array::from_fn(|ticks| {
            let counts = &self.at_most[ticks];
            let count = counts.partition_point(|at_most| Self::probability(at_most, belief) < risk);
            u8::try_from(count).unwrap_or(u8::MAX)
        })
    }
}

/// The Poisson distribution, up to [`PER_TICK`].
fn poisson(expected: f64) -> [f64; PER_TICK] {
    let mut term = libm::exp(-expected);
    core::array::from_fn(|count| {
        let probability = term;
        term *= expected / (count + 1) as f64;
        probability
    })
}

/// The deliveries of a tick for these probabilities of the rates.
fn mixture(rates: &Weights, in_a_tick: &[[f64; PER_TICK]]) -> [f64; PER_TICK] {
    let mut counts = [0.0; PER_TICK];
    for (weight, row) in rates.iter().zip(in_a_tick).filter(|(weight, _)| **weight > 0.0) {
        counts.iter_mut().zip(row).for_each(|(count, probability)| *count += weight * probability);
    }
    counts
}

/// The distribution of the sum of two independent counts.
fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            sums[i + j] += a * b;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A belief in one rate, from many ticks with this number of packets.
    fn after(count: f64, ticks: usize) -> Belief {
        let mut belief = Belief::uniform();
        for _ in 0..ticks {
            belief.evolve();
            belief.observe(count, true);
        }
        belief
    }

    #[test]
    fn the_first_tick_at_a_known_rate_is_the_quantile_of_its_poisson_distribution() {
        // The 5 % quantile of a Poisson distribution with mean 10 is 5, the median is 10 (any table).
        let belief = Belief::certain(128);
        assert!((per_tick(128) - 10.04).abs() < 0.01);
        let forecaster = Forecaster::get();
        assert_eq!(forecaster.forecast(&belief, 0.05)[0], 5);
        assert_eq!(forecaster.forecast(&belief, 0.5)[0], 10);
    }

    #[test]
    fn over_all_ticks_the_median_is_the_rate_times_the_time() {
        let forecast = Forecaster::get().forecast(&Belief::certain(100), 0.5);
        for (ticks, count) in (1_u8..).zip(forecast) {
            let expected = per_tick(100) * f64::from(ticks);
            assert!(
                (f64::from(count) - expected).abs() <= 0.5 + 0.02 * expected,
                "{ticks}: {count} {expected}"
            );
        }
    }

    #[test]
    fn a_forecast_grows_with_time_with_risk_and_with_what_arrived() {
        let forecaster = Forecaster::get();
        for count in [0.0, 1.0, 5.0, 15.0] {
            let cautious = forecaster.forecast(&after(count, 10), 0.05);
            let bold = forecaster.forecast(&after(count, 10), 0.5);
            let more = forecaster.forecast(&after(count + 2.0, 10), 0.05);
            assert!(cautious.is_sorted(), "{cautious:?}");
            assert!(cautious.iter().zip(bold).all(|(a, b)| *a <= b), "{cautious:?} {bold:?}");
            assert!(cautious.iter().zip(more).all(|(a, b)| *a <= b), "{cautious:?} {more:?}");
        }
    }

    #[test]
    fn without_observations_the_belief_becomes_stationary_and_its_forecast_exceeds_that_of_a_uniform_one() {
        // The belief that the evolution leaves unchanged, apart from its sum.
        let mut belief = Belief::uniform();
        (0..5000).for_each(|_| belief.evolve());
        let stationary = belief.clone();
        belief.evolve();
        let change = |a: &Belief, b: &Belief| -> f64 {
            a.probabilities().iter().zip(b.probabilities()).map(|(a, b)| (a - b).abs()).sum()
        };
        assert!(change(&stationary, &belief) < 1e-9);
        // An outage has lost weight (ERRATA.md). If it had more than the risk, nothing would be forecast.
        let risk = 0.05;
        assert!(belief.probabilities()[0] < risk, "{}", belief.probabilities()[0]);
        let of = |belief: &Belief| Forecaster::get().forecast(belief, risk)[4];
        assert!(of(&belief) > of(&Belief::uniform()), "{} {}", of(&belief), of(&Belief::uniform()));
    }

    #[test]
    fn in_an_outage_nothing_is_forecast() {
        assert_eq!(Forecaster::get().forecast(&after(0.0, 100), 0.05), [0; TICKS]);
    }

    #[test]
    fn a_poisson_process_delivers_less_than_was_forecast_with_at_most_the_risk() {
        // A simulated link of a constant 400 packets per second, observed exactly: less than the risk of 5 % of the
        // forecasts exceed what is delivered, because the belief is wider than the truth.
        let mut random = millpond_law::Random::stream(1, "link");
        let arrivals: Vec<f64> = (0..2000).map(|_| poisson_sample(8.0, &mut random)).collect();
        let mut belief = Belief::uniform();
        let (mut missed, mut forecast_sum) = (0, 0.0);
        for (tick, &count) in arrivals.iter().enumerate().take(arrivals.len() - 5) {
            belief.evolve();
            belief.observe(count, true);
            let forecast = f64::from(Forecaster::get().forecast(&belief, 0.05)[4]);
            let delivered: f64 = arrivals[tick + 1..tick + 6].iter().sum();
            missed += usize::from(delivered < forecast);
            forecast_sum += forecast;
        }
        let share = missed as f64 / arrivals.len() as f64;
        assert!(share < 0.05, "{share}");
        // It is useful all the same: on average more than half of the 40 packets of five ticks.
        assert!(forecast_sum / arrivals.len() as f64 > 20.0);
    }

    /// The number of events within one unit of time of a Poisson process.
    fn poisson_sample(mean: f64, random: &mut millpond_law::Random) -> f64 {
        let (mut count, mut product) = (0.0, random.uniform());
        while product > libm::exp(-mean) {
            product *= random.uniform();
            count += 1.0;
        }
        count
    }
}
