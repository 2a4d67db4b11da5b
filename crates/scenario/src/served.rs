//! The service of a piecewise-constant rate between any two times.

use millpond_units::{Rate, Time};

/// Running total of the service of a piecewise-constant rate.
pub(crate) struct ServedData<'a> {
    steps: &'a [(Time, Rate)],
    /// Bits times 10^12 served before each step.
    before: Vec<u128>,
}

impl<'a> ServedData<'a> {
    /// For these rates, the first of which begins at zero.
    pub(crate) fn new(steps: &'a [(Time, Rate)]) -> Self {
        let mut total = 0;
        let next = steps.iter().skip(1).map(|&(start, _)| start);
        let before = steps.iter().zip(next).map(|(&(start, rate), end)| {
            total += u128::from(rate.bps()) * u128::from(end.since(start).picos());
            total
        });
        Self { steps, before: std::iter::once(0).chain(before).collect() }
    }

    /// Index of the step that holds at `time`.
    pub(crate) fn step(&self, time: Time) -> usize {
        self.steps.partition_point(|&(start, _)| start <= time).saturating_sub(1)
    }

    /// Bits times 10^12 served until `time`.
    pub(crate) fn until(&self, time: Time) -> u128 {
        let step = self.step(time);
        let (Some(before), Some(&(start, rate))) = (self.before.get(step), self.steps.get(step)) else {
            return 0;
        };
        before + u128::from(rate.bps()) * u128::from(time.since(start).picos())
    }

    /// The mean rate between two times.
    pub(crate) fn mean(&self, from: Time, to: Time) -> Rate {
        let picos = u128::from(to.since(from).picos()).max(1);
        let served = self.until(to) - self.until(from);
        Rate::from_bps(u64::try_from((served + picos / 2) / picos).unwrap_or(u64::MAX))
    }

    /// When the step after the one that holds at `time` begins.
    pub(crate) fn next_step(&self, time: Time) -> Time {
        self.steps.get(self.step(time) + 1).map_or(Time::NEVER, |&(start, _)| start)
    }

    /// When the step that holds at `time` began.
    pub(crate) fn this_step(&self, time: Time) -> Time {
        self.steps.get(self.step(time)).map_or(Time::ZERO, |&(start, _)| start)
    }
}
