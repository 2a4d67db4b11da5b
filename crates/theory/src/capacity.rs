//! A scenario with varying capacities, held at a named capacity for analysis.

use millpond_scenario::{Capacity, ConfiguredRate, Direction, End, Scenario, Schedule};
use millpond_units::format::number;
use millpond_units::{Rate, Span, Time};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// The capacity at which links with a varying capacity are analyzed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnalyzedCapacity {
    /// The mean between two times, in seconds.
    Mean {
        /// The beginning.
        from: f64,
        /// The end.
        until: f64,
    },
    /// The capacity at this time, in seconds.
    At(f64),
}

impl AnalyzedCapacity {
    /// The mean over the run of a scenario.
    #[must_use]
    pub fn mean_of_run(scenario: &Scenario) -> Self {
        Self::Mean { from: 0.0, until: scenario.duration.secs() }
    }

    fn of(self, schedule: &Schedule) -> f64 {
        match self {
            Self::Mean { from, until } => {
                (served(schedule, Time::from_secs(until)) - served(schedule, Time::from_secs(from)))
                    / (until - from)
            }
            Self::At(time) => schedule.at(Time::from_secs(time)).as_f64(),
        }
    }
}

impl fmt::Display for AnalyzedCapacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean { from, until } if *from == 0.0 => write!(f, "mean over {until} s"),
            Self::Mean { from, until } => write!(f, "mean from {from} s to {until} s"),
            Self::At(time) => write!(f, "at {time} s"),
        }
    }
}

/// The constant capacity that an analysis used for a link with a varying one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NamedCapacity {
    /// Name of the link, with an arrow for its direction.
    pub link: String,
    /// Its capacity in the analysis, in bit/s.
    pub capacity_bps: f64,
    /// What it is of the varying capacity: `mean over 60 s` or `at 20 s`.
    pub which: String,
}

impl fmt::Display for NamedCapacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: capacity {} Mbit/s ({})", self.link, number(self.capacity_bps / 1e6), self.which)
    }
}

/// A scenario whose capacities are constant.
pub struct ConstantCapacities {
    /// The scenario.
    pub scenario: Scenario,
    /// The capacities that vary in the original one, of the links that data cross.
    pub named: Vec<NamedCapacity>,
}

/// The scenario with each varying capacity replaced by a constant.
#[must_use]
pub fn with_constant_capacities(scenario: &Scenario, capacity: AnalyzedCapacity) -> ConstantCapacities {
    let carries_data = |link: usize, forward: bool| {
        let hops = scenario.flows.iter().flat_map(|group| group.paths.iter().flatten());
        hops.into_iter().any(|hop| (hop.link, hop.forward) == (link, forward))
    };
    let mut held = scenario.clone();
    let mut named = Vec::new();
    for (index, link) in held.links.iter_mut().enumerate() {
        let directions = std::iter::once(&mut link.forward).chain(&mut link.backward);
        for (direction, (arrow, forward)) in directions.zip([("->", true), ("<-", false)]) {
            let rate = hold(direction, capacity).filter(|_| carries_data(index, forward));
            if let Some(rate) = rate {
                let link = format!("{} {arrow}", link.name.value);
                named.push(NamedCapacity { link, capacity_bps: rate, which: capacity.to_string() });
            }
        }
    }
    ConstantCapacities { scenario: held, named }
}

/// Replaces the capacities of one direction; returns the new one in bit/s if the old one varied.
fn hold(direction: &mut Direction, capacity: AnalyzedCapacity) -> Option<f64> {
    if let ConfiguredRate::Other(configured) = &mut direction.configured.rate
        && varies(configured)
    {
        *configured = Capacity::Constant(Rate::from_bps_f64(capacity.of(&configured.schedule())));
    }
    if !varies(&direction.rate) {
        return None;
    }
    let signalled =
        matches!(&direction.rate, Capacity::Trace(_)) && matches!(capacity, AnalyzedCapacity::At(_));
    // A trace of delivery opportunities is averaged over the window of its signalled capacity.
    let schedule = if signalled { direction.rate.configured_schedule() } else { direction.rate.schedule() };
    let rate = capacity.of(&schedule);
    direction.rate = Capacity::Constant(Rate::from_bps_f64(rate));
    Some(rate)
}

fn varies(capacity: &Capacity) -> bool {
    let schedule = capacity.schedule();
    let first = schedule.steps.first().map(|(_, rate)| *rate);
    schedule.steps.iter().any(|(_, rate)| Some(*rate) != first)
        || (schedule.length < Span::MAX && schedule.end == End::Stop)
}

/// Bits served from time zero to this time.
fn served(schedule: &Schedule, until: Time) -> f64 {
    let within = |until: Time| -> f64 {
        let ends = schedule.steps.iter().skip(1).map(|(time, _)| *time).chain([until]);
        let segments = schedule.steps.iter().zip(ends).filter(|((begin, _), _)| *begin < until);
        segments.map(|((begin, rate), end)| rate.as_f64() * end.min(until).since(*begin).secs()).sum()
    };
    if schedule.length == Span::MAX || until <= Time::ZERO + schedule.length {
        return within(until);
    }
    let length = schedule.length;
    let whole = within(Time::ZERO + length);
    let beyond = until.since(Time::ZERO + length);
    match schedule.end {
        End::Stop => whole,
        End::Hold => whole + schedule.at(until).as_f64() * beyond.secs(),
        End::Loop => {
            let laps = 1 + beyond.picos() / length.picos();
            let rest = Time::from_picos(beyond.picos() % length.picos());
            // Far fewer laps than 2^53.
            #[allow(clippy::cast_precision_loss)]
            let laps = laps as f64;
            laps * whole + within(rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(end: End) -> Schedule {
        let steps = vec![(Time::ZERO, Rate::from_mbps(4.0)), (Time::from_secs(0.5), Rate::from_mbps(2.0))];
        Schedule { steps, length: Span::from_secs(1.0), end }
    }

    /// 4 Mbit/s for half a second, then 2 Mbit/s: 3 Mbit per lap.
    #[test]
    fn the_mean_of_a_schedule_includes_what_follows_its_end() {
        let mean = |end, from, until| AnalyzedCapacity::Mean { from, until }.of(&schedule(end)) / 1e6;
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(mean(End::Loop, 0.0, 2.0), 3.0);
        near(mean(End::Loop, 0.0, 1.5), (3.0 + 2.0) / 1.5);
        near(mean(End::Hold, 0.0, 2.0), (3.0 + 2.0) / 2.0);
        near(mean(End::Stop, 0.0, 2.0), 1.5);
        near(mean(End::Loop, 1.5, 2.0), 2.0);
        near(AnalyzedCapacity::At(1.6).of(&schedule(End::Loop)) / 1e6, 2.0);
    }
}
