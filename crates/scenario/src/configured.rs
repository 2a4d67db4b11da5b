//! The capacity that the laws of a link are configured with: actual, or that of a misconfigured router.

use crate::model::{Capacity, ConfiguredCapacity, ConfiguredRate, Levels};
use crate::schedule::{End, Schedule};
use millpond_units::{Rate, Span, Time};

/// The time for which an error of the noise is constant.
pub const NOISE_INTERVAL: Span = Span::from_millis(100);

impl ConfiguredCapacity {
    /// The capacity over time in a run of this duration, on a link of the capacity `actual`. `uniform` returns random numbers
    /// that are uniform in [0, 1); it is called only if there is noise.
    pub fn schedule(&self, actual: &Capacity, duration: Span, uniform: impl FnMut() -> f64) -> Schedule {
        let rate = match &self.rate {
            ConfiguredRate::Percent(percent) => actual.configured_schedule().scaled(percent / 100.0),
            ConfiguredRate::Other(other) => other.configured_schedule(),
        };
        if self.delay.is_zero() && self.levels == Levels::Exact && self.noise == 0.0 {
            return rate;
        }
        let (highest, mut steps) = (rate.peak(), rate.unrolled(duration));
        steps.iter_mut().skip(1).for_each(|(start, _)| *start += self.delay);
        steps.iter_mut().for_each(|(_, rate)| *rate = self.levels.nearest(*rate, highest));
        if self.noise > 0.0 {
            steps = with_noise(&steps, self.noise, duration, uniform);
        }
        steps.dedup_by_key(|(_, rate)| *rate);
        Schedule::stepped(steps)
    }
}

impl Levels {
    /// The nearest of the levels; the lowest one is above zero. An outage is known exactly.
    fn nearest(self, rate: Rate, highest: Rate) -> Rate {
        match self {
            _ if rate.is_zero() => rate,
            Self::Exact => rate,
            Self::Even(levels) => {
                let level = (rate.as_f64() / highest.as_f64() * levels as f64).round().max(1.0);
                highest.scale(level / levels as f64)
            }
            Self::Scone => nearest_rate_signal(rate),
        }
    }
}

/// The rate of the Rate Signal `n` from 0 to 126 that is nearest on the logarithmic scale: `100 kbit/s * 10^(n/20)`
/// (draft-ietf-scone-protocol, "Rate Signals"; 127 means that the rate is unknown).
fn nearest_rate_signal(rate: Rate) -> Rate {
    const LEAST: Rate = Rate::from_bps(100_000);
    const GREATEST_SIGNAL: f64 = 126.0;
    const PER_DECADE: f64 = 20.0;
    let signal = (PER_DECADE * (rate.as_f64() / LEAST.as_f64()).log10()).round().clamp(0.0, GREATEST_SIGNAL);
    LEAST.scale(10_f64.powf(signal / PER_DECADE))
}

/// A new relative error at each step and after each [`NOISE_INTERVAL`].
fn with_noise(
    steps: &[(Time, Rate)],
    noise: f64,
    duration: Span,
    mut uniform: impl FnMut() -> f64,
) -> Vec<(Time, Rate)> {
    let ends = steps.iter().skip(1).map(|(start, _)| *start).chain([Time::ZERO + duration]);
    let mut noisy = Vec::new();
    for ((start, rate), end) in steps.iter().zip(ends) {
        let mut now = *start;
        loop {
            noisy.push((now, rate.scale(1.0 + noise * (2.0 * uniform() - 1.0))));
            now += NOISE_INTERVAL;
            if now >= end {
                break;
            }
        }
    }
    noisy
}

impl Schedule {
    fn scaled(mut self, share: f64) -> Self {
        if share != 1.0 {
            self.steps.iter_mut().for_each(|(_, rate)| *rate = rate.scale(share));
        }
        self
    }

    /// Its steps before `duration`, with repetitions and the end written out.
    pub fn unrolled(&self, duration: Span) -> Vec<(Time, Rate)> {
        let end = Time::ZERO + duration;
        let mut steps: Vec<(Time, Rate)> = Vec::new();
        let mut begin = Time::ZERO;
        while begin < end {
            let lap = self.steps.iter().map(|(time, rate)| (begin + time.since(Time::ZERO), *rate));
            steps.extend(lap.take_while(|(time, _)| *time < end));
            match self.end {
                End::Loop if self.length < Span::MAX => begin += self.length,
                End::Stop if begin + self.length < end => {
                    steps.push((begin + self.length, Rate::ZERO));
                    break;
                }
                _ => break,
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: fn(f64) -> Rate = Rate::from_mbps;

    fn at(secs: f64) -> Time {
        Time::from_secs(secs)
    }

    fn steps(configured: &ConfiguredCapacity) -> Vec<(Time, Rate)> {
        let actual =
            Capacity::Steps(vec![(at(0.0), MBPS(10.0)), (at(1.0), MBPS(4.0)), (at(2.0), Rate::ZERO)]);
        configured.schedule(&actual, Span::from_secs(3.0), || 0.75).steps
    }

    #[test]
    fn a_percentage_scales_and_a_delay_shifts_all_rates_but_the_first() {
        let rate = ConfiguredRate::Percent(150.0);
        let configured =
            ConfiguredCapacity { rate, delay: Span::from_millis(500), ..ConfiguredCapacity::default() };
        assert_eq!(steps(&configured), [(at(0.0), MBPS(15.0)), (at(1.5), MBPS(6.0)), (at(2.5), Rate::ZERO)]);
    }

    #[test]
    fn levels_are_evenly_spaced_up_to_the_highest_rate() {
        let of = |levels| steps(&ConfiguredCapacity { levels: Levels::Even(levels), ..Default::default() });
        assert_eq!(of(1), [(at(0.0), MBPS(10.0)), (at(2.0), Rate::ZERO)]);
        assert_eq!(of(2), [(at(0.0), MBPS(10.0)), (at(1.0), MBPS(5.0)), (at(2.0), Rate::ZERO)]);
        assert_eq!(of(5), [(at(0.0), MBPS(10.0)), (at(1.0), MBPS(4.0)), (at(2.0), Rate::ZERO)]);
    }

    /// Half a step is a factor of 10^(1/40). The examples are those of the draft.
    #[test]
    fn a_rate_signal_is_within_half_a_step_of_the_rate_from_its_least_to_its_greatest_one() {
        for tenth in 0..=630 {
            let rate = Rate::from_bps(100_000).scale(10_f64.powf(f64::from(tenth) / 100.0));
            let error = (nearest_rate_signal(rate).as_f64() / rate.as_f64()).log10().abs();
            assert!(error <= 1.0 / 40.0 + 1e-6, "{rate}: {error}");
        }
        let signalled = |kbps: u64| nearest_rate_signal(Rate::from_bps(1000 * kbps)).as_f64() / 1e3;
        for (kbps, near) in [(100, 100.0), (112, 112.2), (126, 125.9), (141, 141.3), (1, 100.0)] {
            assert!((signalled(kbps) - near).abs() < 0.1, "{kbps} kbit/s: {}", signalled(kbps));
        }
        assert!((signalled(1_000_000_000) / 199_526_231.5 - 1.0).abs() < 1e-6, "the greatest signal is 126");
    }

    #[test]
    fn an_even_level_is_within_half_a_step_of_the_rate() {
        let highest = MBPS(100.0);
        for (bits, percent) in (1..=16).flat_map(|bits| (1..=100).map(move |percent| (bits, percent))) {
            let (levels, rate) = (1 << bits, MBPS(f64::from(percent)));
            let half_a_step = highest.as_f64() / levels as f64 / 2.0;
            let error = (Levels::Even(levels).nearest(rate, highest).as_f64() - rate.as_f64()).abs();
            // Below the lowest level there is none to round down to.
            let bound = half_a_step.max(2.0 * half_a_step - rate.as_f64());
            assert!(error <= bound + 1.0, "{bits} bits, {percent} %: {error} bit/s");
        }
    }

    #[test]
    fn noise_has_a_new_error_for_each_interval() {
        let configured = ConfiguredCapacity { noise: 0.2, ..Default::default() };
        let actual = Capacity::Constant(MBPS(10.0));
        let mut numbers = (0..).map(|n| f64::from(n % 2));
        let schedule =
            configured.schedule(&actual, Span::from_millis(300), || numbers.next().unwrap_or_default());
        assert_eq!(schedule.steps, [(at(0.0), MBPS(8.0)), (at(0.1), MBPS(12.0)), (at(0.2), MBPS(8.0))]);
    }

    #[test]
    fn a_schedule_that_repeats_is_written_out_to_the_end_of_the_run() {
        let looped = Schedule {
            steps: vec![(at(0.0), MBPS(1.0)), (at(1.0), MBPS(2.0))],
            length: Span::from_secs(2.0),
            end: End::Loop,
        };
        let rates = |end: End, secs: f64| -> Vec<f64> {
            let schedule = Schedule { end, ..looped.clone() };
            schedule.unrolled(Span::from_secs(secs)).iter().map(|(_, rate)| rate.as_f64() / 1e6).collect()
        };
        assert_eq!(rates(End::Loop, 3.5), [1.0, 2.0, 1.0, 2.0]);
        assert_eq!(rates(End::Hold, 3.5), [1.0, 2.0]);
        assert_eq!(rates(End::Stop, 3.5), [1.0, 2.0, 0.0]);
    }
}
