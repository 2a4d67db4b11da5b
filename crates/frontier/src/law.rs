//! The bound for a link whose random process is known.

use crate::newsvendor::{Outcome, TradeOff};
use millpond_scenario::trace::{RatePath, RateProcess};
use rayon::prelude::*;
use std::ops::Range;

/// Times within a sample at which the program is solved, for each interval between two of its discontinuities.
const NODES: usize = 5;

/// A link whose rate is constant during each sample, with the conditional law of the next rates.
pub trait RateLaw: Sync {
    /// The duration of a sample in seconds.
    fn step(&self) -> f64;

    /// The samples for which the bound is computed.
    fn samples(&self) -> Range<usize>;

    /// The rate of a sample in bit/s.
    fn rate(&self, sample: usize) -> f64;

    /// The futures of each sample for a controller that knows its state: the rates of the next `count` samples. Probabilities
    /// add up to one.
    fn next(&self, count: usize) -> Box<dyn Fn(usize) -> Vec<RatePath> + Sync + '_>;
}

/// Samples of a generated trace from one of its samples on.
pub struct GeneratedLink<'a> {
    /// The process.
    pub process: &'a RateProcess,
    /// The samples.
    pub samples: Range<usize>,
}

impl RateLaw for GeneratedLink<'_> {
    fn step(&self) -> f64 {
        self.process.step.secs()
    }

    fn samples(&self) -> Range<usize> {
        self.samples.clone()
    }

    fn rate(&self, sample: usize) -> f64 {
        self.process.rates.get(sample).map_or(0.0, |rate| rate.as_f64())
    }

    fn next(&self, count: usize) -> Box<dyn Fn(usize) -> Vec<RatePath> + Sync + '_> {
        let law = self.process.next_rates(count);
        Box::new(move |sample| law.after(sample))
    }
}

/// The greatest utilization with a base round-trip time `rtt` and at most the share `late` of bytes that wait longer than
/// `delay`. Times are in seconds.
pub fn greatest_utilization(law: &dyn RateLaw, rtt: f64, delay: f64, late: f64) -> f64 {
    let count = ((rtt + delay) / law.step() - 1e-9).ceil().max(1.0) as usize;
    let next = law.next(count);
    let nodes = nodes(law.step(), rtt, delay);
    let of_sample = |sample| {
        let mut trade_off = TradeOff::default();
        let paths = next(sample);
        let mut outcomes = Vec::with_capacity(paths.len());
        for (left, weight) in &nodes {
            outcomes.clear();
            outcomes.extend(paths.iter().map(|path| {
                let service = Service { left: *left, rate: law.rate(sample), path, step: law.step() };
                service.outcome(*weight, rtt, delay)
            }));
            trade_off.add(&mut outcomes, rtt);
        }
        trade_off
    };
    let parts: Vec<TradeOff> = law.samples().into_par_iter().map(of_sample).collect();
    let capacity: f64 = law.samples().map(|sample| law.rate(sample) * law.step()).sum();
    if capacity <= 0.0 {
        return 1.0;
    }
    1.0 - TradeOff::sum(parts).least_idle(capacity, late) / capacity
}

/// Times before the end of a sample, with the durations that they stand for. Earlier ones know all service of `rtt + delay`, and
/// have neither idle capacity nor late bytes.
fn nodes(step: f64, rtt: f64, delay: f64) -> Vec<(f64, f64)> {
    let end = step.min(rtt + delay);
    let mut breaks = vec![0.0, rtt % step, (rtt + delay) % step, end];
    breaks.retain(|time| *time <= end);
    breaks.sort_by(f64::total_cmp);
    let intervals = breaks.windows(2).filter(|pair| pair[1] > pair[0]);
    let nodes = intervals.flat_map(|pair| {
        let width = (pair[1] - pair[0]) / NODES as f64;
        (0..NODES).map(move |node| (pair[0] + (node as f64 + 0.5) * width, width))
    });
    nodes.collect()
}

/// The service after a time within a sample.
struct Service<'a> {
    /// Time until the end of the sample.
    left: f64,
    rate: f64,
    path: &'a RatePath,
    step: f64,
}

impl Service<'_> {
    fn outcome(&self, weight: f64, rtt: f64, delay: f64) -> Outcome {
        Outcome {
            weight: weight * self.path.weight,
            scale: 1.0,
            within_rtt: self.within(rtt).0,
            within_delay: self.within(rtt + delay).0,
            rate_after: self.within(rtt + delay).1,
        }
    }

    /// The bits that are served in this time, and the rate at its end.
    fn within(&self, time: f64) -> (f64, f64) {
        if time < self.left {
            return (self.rate * time, self.rate);
        }
        let (mut bits, mut rest) = (self.rate * self.left, time - self.left);
        let mut last = self.rate;
        for rate in &self.path.rates {
            last = *rate;
            bits += rate * rest.min(self.step);
            if rest <= self.step {
                break;
            }
            rest -= self.step;
        }
        (bits, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_scenario::trace::{TraceRecipe, preset};
    use millpond_units::Span;

    /// A Markov chain of two rates, which change with probability `change` after each sample of a second. Both states are equally
    /// frequent: the samples are one of each.
    struct TwoStates {
        rates: [f64; 2],
        change: f64,
    }

    impl RateLaw for TwoStates {
        fn step(&self) -> f64 {
            1.0
        }

        fn samples(&self) -> Range<usize> {
            0..2
        }

        fn rate(&self, sample: usize) -> f64 {
            self.rates[sample]
        }

        /// All sequences of states.
        fn next(&self, count: usize) -> Box<dyn Fn(usize) -> Vec<RatePath> + Sync + '_> {
            Box::new(move |sample| {
                let path = |bits: usize| {
                    let states: Vec<usize> = (0..count).map(|step| bits >> step & 1).collect();
                    let before = std::iter::once(&sample).chain(&states);
                    let chance =
                        |(a, b): (&usize, &usize)| if a == b { 1.0 - self.change } else { self.change };
                    let weight = before.zip(&states).map(chance).product();
                    RatePath { weight, rates: states.iter().map(|state| self.rates[*state]).collect() }
                };
                (0..1 << count).map(path).collect()
            })
        }
    }

    fn two_states(low: f64, high: f64, change: f64) -> TwoStates {
        TwoStates { rates: [low, high], change }
    }

    /// 0.12 s at 4 and 0.03 s at 1 bit/s.
    #[test]
    fn an_outcome_has_the_service_of_both_times_and_the_rate_at_the_end() {
        let path = RatePath { weight: 0.5, rates: vec![1.0, 9.0] };
        let outcome = Service { left: 0.12, rate: 4.0, path: &path, step: 1.0 }.outcome(0.2, 0.1, 0.05);
        assert_eq!((outcome.weight, outcome.scale, outcome.rate_after), (0.1, 1.0, 1.0));
        assert!((outcome.within_rtt - 0.4).abs() < 1e-12 && (outcome.within_delay - 0.51).abs() < 1e-12);
    }

    #[test]
    fn a_constant_capacity_is_used_completely_at_any_delay() {
        for delay in [0.0, 0.01, 1.3] {
            let found = greatest_utilization(&two_states(5.0, 5.0, 0.3), 0.2, delay, 0.0);
            assert!((found - 1.0).abs() < 1e-12, "{delay}: {found}");
        }
    }

    /// With `d = 0` and no late bytes, `W` is the least possible service. In the share `T` of the samples' time in which the
    /// next rate matters, the high state is idle if it continues and the low state if it ends, both for `(h - l) / 2` in the
    /// mean.
    #[test]
    fn rare_changes_of_two_rates_have_the_closed_form() {
        let (low, high, change, rtt) = (1.0, 4.0, 0.02, 0.1);
        let law = two_states(low, high, change);
        let idle = rtt * (high - low) / 2.0 * ((1.0 - change) + change) / 2.0;
        let mean = (low + high) / 2.0;
        let found = greatest_utilization(&law, rtt, 0.0, 0.0);
        assert!((found - (1.0 - idle / mean)).abs() < 1e-9, "{found}");
        // Late bytes that suffice for the high state, whose changes make bytes of the low rate late, leave the idle capacity
        // of the low state. What remains buys the times at which the low state gains most, those just before the change.
        let late_high = rtt * change * low / 2.0;
        let late = 0.05;
        let idle_low = rtt * change * (high - low) / 2.0 / 2.0;
        let price = rtt * (1.0 - change) * low / 2.0;
        let bought = |share: f64| 2.0 * idle_low * (share - share * share / 2.0);
        let spent = |share: f64| late_high + price * share - late * (mean - idle_low + bought(share));
        let (mut a, mut b) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (a + b) / 2.0;
            if spent(middle) < 0.0 { a = middle } else { b = middle }
        }
        let expected = 1.0 - (idle_low - bought(a)) / mean;
        let found = greatest_utilization(&law, rtt, 0.0, late);
        assert!(spent(0.0) < 0.0 && (found - expected).abs() < 1e-4, "{found}, not {expected}");
    }

    #[test]
    fn with_a_short_round_trip_the_whole_capacity_can_be_used() {
        let law = two_states(1.0, 4.0, 0.3);
        let idle = [0.1, 0.01, 0.001].map(|rtt| 1.0 - greatest_utilization(&law, rtt, 0.0, 0.0));
        assert!(idle[0] > 1e-3 && idle[1] < 0.11 * idle[0] && idle[2] < 0.11 * idle[1], "{idle:?}");
    }

    #[test]
    fn a_longer_delay_or_more_late_bytes_permit_no_less_utilization() {
        let law = two_states(1.0, 4.0, 0.3);
        let delays = [0.0, 0.1, 0.3, 0.7, 1.2, 2.5];
        let found = delays.map(|delay| greatest_utilization(&law, 0.5, delay, 0.05));
        assert!(found.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{found:?}");
        assert!(found[0] < 0.98 && found[5] > found[0] + 0.02, "{found:?}");
        let found = [0.0, 0.02, 0.05, 0.2].map(|late| greatest_utilization(&law, 0.5, 0.1, late));
        assert!(found.windows(2).all(|pair| pair[1] > pair[0]), "{found:?}");
    }

    /// The best of all controllers of a small link in slots, by backward induction over everything that a controller can know:
    /// the state of the link, the ages of queued bits and the arrivals that are determined already.
    struct SmallLink {
        rates: [u32; 2],
        change: f64,
        /// The round trip is one slot; a bit is late if it waits longer than this many slots.
        delay: usize,
        price: f64,
    }

    impl SmallLink {
        /// Greatest mean of served bits less `price` times late bits over `left` slots. `queue[age]`: bits; `arriving`: what was
        /// sent in the last slot.
        fn best(&self, state: usize, queue: &[u32], arriving: u32, left: usize) -> f64 {
            if left == 0 {
                return 0.0;
            }
            let mut queue = queue.to_vec();
            queue[0] = arriving;
            let (mut rest, mut value) = (self.rates[state], 0.0);
            for age in (0..queue.len()).rev() {
                let served = queue[age].min(rest);
                rest -= served;
                queue[age] -= served;
                let late = f64::from(u8::from(age > self.delay));
                value += f64::from(served) * (1.0 - self.price * late);
            }
            // All that waits too long is alike.
            let oldest = queue.len() - 1;
            let mut older = vec![0; queue.len()];
            for (age, bits) in queue.iter().enumerate() {
                older[(age + 1).min(oldest)] += bits;
            }
            let next = |sent: u32| {
                let after = |next: usize| {
                    let chance = if next == state { 1.0 - self.change } else { self.change };
                    chance * self.best(next, &older, sent, left - 1)
                };
                after(0) + after(1)
            };
            value + (0..=self.rates[1]).map(next).fold(f64::NEG_INFINITY, f64::max)
        }
    }

    /// What is sent at the beginning of slot `t`, when the state of this slot is known, arrives in slot `t + 1`. So the window is for
    /// two slots, and every departure is counted twice.
    #[test]
    fn no_causal_controller_of_a_small_link_exceeds_the_bound_by_enumeration() {
        for (change, delay, price) in [(0.3, 0, 0.5), (0.3, 0, 3.0), (0.1, 1, 2.0), (0.5, 1, 0.7)] {
            let link = SmallLink { rates: [1, 3], change, delay, price };
            let slots = 5;
            let empty = vec![0; delay + 2];
            let best = (link.best(0, &empty, 0, slots) + link.best(1, &empty, 0, slots)) / 2.0;
            // Windows of two slots, of which the first begins before the first slot.
            let bound = (slots + 1) as f64 * small_bound(&link);
            assert!(best <= bound + 1e-9, "delay {delay}: {best} of {bound}");
            assert!(best > 0.5 * bound, "delay {delay}: {best} of {bound}");
        }
    }

    /// The greatest mean of departures less `price` times late bits per slot, from (1) and (2), over both states.
    fn small_bound(link: &SmallLink) -> f64 {
        let law = TwoStates { rates: link.rates.map(f64::from), change: link.change };
        let paths = law.next(link.delay + 2);
        let of_state = |state: usize| {
            let value = |window: u32| {
                let window = f64::from(window);
                let one = |path: &RatePath| {
                    let within = |slots: usize| law.rates[state] + path.rates[..slots].iter().sum::<f64>();
                    let left = (window - within(link.delay + 1)).max(0.0);
                    let late = left.min(path.rates[link.delay + 1]);
                    path.weight * (window.min(within(1)) / 2.0 - link.price * late)
                };
                paths(state).iter().map(one).sum::<f64>()
            };
            (0..=12).map(value).fold(f64::NEG_INFINITY, f64::max)
        };
        (of_state(0) + of_state(1)) / 2.0
    }

    #[test]
    fn the_bound_of_a_preset_rises_with_the_delay() {
        let process =
            TraceRecipe::new(preset("lte-short").unwrap(), Span::from_secs(20.0), 3).process().unwrap();
        let link = GeneratedLink { process: &process, samples: 0..process.rates.len() };
        let found = [0.005, 0.05, 0.2].map(|delay| greatest_utilization(&link, 0.3, delay, 0.05));
        assert!(
            found[0] > 0.5 && found.windows(2).all(|pair| pair[1] > pair[0]) && found[2] < 1.0,
            "{found:?}"
        );
    }
}
