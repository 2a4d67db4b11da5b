//! When a run is looked at.

use millpond_scenario::Scenario;
use millpond_units::{Span, Time};

/// What is due at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// Measurement begins.
    pub(super) begin: bool,
    /// A sample of every series, every `measure.every`.
    pub(super) sample: bool,
    /// The end of a window of the short-term Jain index, every `measure.jain_window`.
    pub(super) window: bool,
}

/// The moments at which a run is looked at, ascending, the last at its end.
pub(super) struct Ticks {
    from: Time,
    every: Span,
    window: Span,
    /// However rare samples are, a run reports its progress and can be stopped.
    breath: Span,
    end: Time,
    now: Time,
}

/// A run is looked at so many times at least.
const BREATHS: u64 = 1000;

impl Ticks {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let measure = &scenario.measure;
        Self {
            from: measure.from,
            every: measure.every,
            window: measure.jain_window,
            breath: scenario.duration / BREATHS,
            end: Time::ZERO + scenario.duration,
            now: Time::ZERO,
        }
    }
}

impl Iterator for Ticks {
    type Item = (Time, Due);

    fn next(&mut self) -> Option<(Time, Due)> {
        if self.now >= self.end {
            return None;
        }
        let regular = [self.every, self.window, self.breath].map(|period| multiple_after(period, self.now));
        let from = if self.now < self.from { self.from } else { Time::NEVER };
        let now = regular.into_iter().chain([from, self.end]).min()?;
        self.now = now;
        let falls_on = |period: Span| !period.is_zero() && now.picos().is_multiple_of(period.picos());
        Some((
            now,
            Due { begin: now == self.from, sample: falls_on(self.every), window: falls_on(self.window) },
        ))
    }
}

/// The first multiple of `period` after `now`; never if the period is zero.
fn multiple_after(period: Span, now: Time) -> Time {
    match period.picos() {
        0 => Time::NEVER,
        picos => Time::from_picos((now.picos() / picos + 1).saturating_mul(picos)),
    }
}
