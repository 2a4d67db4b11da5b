//! A reference that can be reached, up to knowing one number: the window is a constant times the present rate times the base
//! round-trip time, and the constant is chosen after the trace is known.
//!
//! The queue is computed in steps: data arrives as the window allows one round trip earlier, and departs at the rate of the
//! link, first come, first served.

use crate::capacity::Capacity;
use millpond_scenario::trace::{Format, Trace};
use millpond_stats::WeightedSamples;
use schemars::JsonSchema;
use serde::Serialize;

/// The constants.
const FACTORS: [f64; 20] =
    [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0];
/// Steps of the queue: their greatest length in seconds, and the least number of them in a round trip.
const STEPS: (f64, f64) = (0.001, 20.0);
/// The mean rate of delivery opportunities is taken over this time, in seconds.
const MEAN_OF_OPPORTUNITIES: f64 = 0.1;

/// A point of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FactorPoint {
    /// The constant.
    pub factor: f64,
    /// Served bits over the bits that the capacity could have served, from 0 to 1.
    pub utilization: f64,
    /// 95th percentile of the queueing delay over bytes, in milliseconds.
    pub queueing_p95_ms: f64,
}

/// The reference for each constant, from `from` to `to` on the trace. Times are in seconds.
pub fn one_factor(trace: &Trace, rtt: f64, (from, to): (f64, f64)) -> Vec<FactorPoint> {
    let capacity = Capacity::of(trace);
    let step = rtt / (rtt / STEPS.0).max(STEPS.1).ceil();
    let lag = (rtt / step).round() as usize;
    let memory = if trace.format == Format::Mahimahi { MEAN_OF_OPPORTUNITIES } else { 0.0 };
    let count = (to / step) as usize;
    let link: Vec<LinkStep> = (0..count)
        .map(|index| {
            let time = index as f64 * step;
            LinkStep {
                product: capacity.recent(time, memory) * rtt,
                service: capacity.between(time, time + step),
            }
        })
        .collect();
    let first = (from / step) as usize;
    FACTORS.iter().map(|factor| point(&link, *factor, lag, step, first)).collect()
}

/// The link during one step.
struct LinkStep {
    /// Present rate times base round-trip time, in bits.
    product: f64,
    /// Bits that can be served.
    service: f64,
}

fn point(link: &[LinkStep], factor: f64, lag: usize, step: f64, first: usize) -> FactorPoint {
    // Bits that have arrived by the end of each step.
    let mut arrived = vec![0.0_f64; link.len() + lag];
    let (mut departed, mut oldest) = (0.0_f64, 0);
    let (mut served, mut possible) = (0.0, 0.0);
    let mut delays = WeightedSamples::default();
    for (index, now) in link.iter().enumerate() {
        let leaves = now.service.min(arrived[index] - departed);
        departed += leaves;
        while arrived[oldest] < departed {
            oldest += 1;
        }
        let before = (index + lag).checked_sub(1).map_or(0.0, |last| arrived[last]);
        arrived[index + lag] = before.max(departed + factor * now.product);
        if index >= first {
            served += leaves;
            possible += now.service;
            delays.add((index - oldest) as f64 * step, leaves);
        }
    }
    let p95 = delays.distribution().map_or(0.0, |delays| delays.quantile(0.95));
    FactorPoint {
        factor,
        utilization: if possible > 0.0 { served / possible } else { 0.0 },
        queueing_p95_ms: 1000.0 * p95,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::{Rate, Span, Time};

    fn trace(steps: &[(u64, f64)], seconds: f64) -> Trace {
        let step =
            |&(millis, mbps): &(u64, f64)| (Time::ZERO + Span::from_millis(millis), Rate::from_mbps(mbps));
        Trace {
            format: Format::Csv,
            steps: steps.iter().map(step).collect(),
            length: Span::from_secs(seconds),
            sampling: Span::from_millis(100),
        }
    }

    /// At constant capacity the queue is `W` less what is served in a round trip.
    #[test]
    fn at_constant_capacity_the_factor_is_the_utilization_or_leaves_the_rest_as_a_queue() {
        for point in one_factor(&trace(&[(0, 8.0)], 20.0), 0.05, (2.0, 20.0)) {
            assert!((point.utilization - point.factor.min(1.0)).abs() < 0.003, "{point:?}");
            let queueing = 50.0 * (point.factor - 1.0).max(0.0);
            assert!((point.queueing_p95_ms - queueing).abs() < 0.5 + 1e-9, "half a step: {point:?}");
        }
    }

    /// The rate falls to a quarter for a second in every four: what was sent for the higher rate waits for its return or for
    /// four times as long.
    #[test]
    fn a_fall_of_the_rate_makes_the_last_round_trip_wait() {
        let steps: Vec<(u64, f64)> =
            (0..10).flat_map(|i| [(4000 * i, 8.0), (4000 * i + 3000, 2.0)]).collect();
        let points = one_factor(&trace(&steps, 40.0), 0.1, (2.0, 40.0));
        let one = points.iter().find(|point| point.factor == 1.0).unwrap();
        // For a round trip after each of nine rises arrivals have the lower rate: 0.6 of 247 Mbit each.
        assert!((one.utilization - (1.0 - 9.0 * 0.6 / 247.0)).abs() < 0.002, "{one:?}");
        // After each of ten falls 0.8 Mbit wait up to 300 ms, and after each of nine rises, when the window of a round trip arrives
        // at once, 0.8 Mbit up to 75 ms, all of them evenly. A twentieth of 241.6 Mbit waits longer than d:
        // 8 (1 - d / 300) + 7.2 (1 - d / 75) = 12.08.
        let delay = (8.0 + 7.2 - 12.08) / (8.0 / 300.0 + 7.2 / 75.0);
        assert!((one.queueing_p95_ms - delay).abs() < 1.0, "a step: {one:?}, {delay}");
        let least = points.iter().find(|point| point.factor == 0.5).unwrap();
        assert!(least.utilization < 0.52, "{least:?}");
    }
}
