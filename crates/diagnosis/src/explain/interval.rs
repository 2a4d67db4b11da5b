//! The part of a run in which neither flows nor capacities change.

use millpond_plan::fluid::FluidPlan;
use millpond_scenario::Scenario;
use millpond_theory::{
    AnalysisError, AnalyzedCapacity, ConstantCapacities, NamedCapacity, Study, with_constant_capacities,
};
use millpond_units::format::mbit_per_s;
use millpond_units::{Rate, Time};
use std::fmt;

/// The least number of samples in which an oscillation is distinguished from a trend.
pub(super) const LEAST_SAMPLES: usize = 64;

/// An interval without a join, a leave or a capacity step, and the events that bound it.
#[derive(Clone, Debug, PartialEq)]
pub struct StationaryInterval {
    /// Its start, in seconds.
    pub start: f64,
    /// Its end, in seconds.
    pub end: f64,
    /// What happens at its start.
    pub start_event: String,
    /// What happens at its end.
    pub end_event: String,
}

impl StationaryInterval {
    /// Its duration, in seconds.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }

    /// The interval between two of these changes and after `measure.from` that contains `at`; none: the longest, of equal
    /// ones the last.
    fn between(changes: Vec<NetworkChange>, scenario: &Scenario, at: Option<f64>) -> Self {
        let (begin, end) = (scenario.measure.from.secs(), scenario.duration.secs());
        let begins = if begin > 0.0 { "measure.from" } else { "the run begins" };
        let mut events: Vec<NetworkChange> =
            changes.into_iter().filter(|change| begin < change.time && change.time < end).collect();
        events.push(NetworkChange { time: begin, event: begins.to_owned() });
        events.push(NetworkChange { time: end, event: "the run ends".to_owned() });
        events.sort_by(|a, b| a.time.total_cmp(&b.time));
        let interval = |pair: &[NetworkChange]| Self {
            start: pair[0].time,
            end: pair[1].time,
            start_event: pair[0].event.clone(),
            end_event: pair[1].event.clone(),
        };
        let contains = |found: &Self| at.is_none_or(|at| found.start <= at && at < found.end);
        let all = events.windows(2).map(interval).filter(contains);
        let none = Self { start: begin, end, start_event: String::new(), end_event: String::new() };
        all.max_by(|a, b| (a.duration() * (1.0 + 1e-9)).total_cmp(&b.duration())).unwrap_or(none)
    }
}

impl fmt::Display for StationaryInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s ({}) to {:.3} s ({})", self.start, self.start_event, self.end, self.end_event)
    }
}

/// The interval of a run that is analyzed, and the scenario with the capacities of the analysis.
pub(super) struct TimedAnalysis {
    pub(super) interval: StationaryInterval,
    pub(super) scenario: Scenario,
    pub(super) capacities: Vec<NamedCapacity>,
}

impl TimedAnalysis {
    /// The interval that contains `at`, or the longest one; if capacities change too often for any, the longest one without
    /// joins and leaves, at its mean capacity.
    pub(super) fn choose(study: Study<'_>, at: Option<f64>) -> Result<Self, AnalysisError> {
        let scenario = study.scenario;
        let plan = study.plan()?;
        let all = joins_and_leaves(&plan).chain(capacity_steps(&plan)).collect();
        let interval = StationaryInterval::between(all, scenario, at);
        let is_short = interval.duration() < LEAST_SAMPLES as f64 * scenario.measure.every.secs();
        if at.is_some() || !is_short || capacity_steps(&plan).next().is_none() {
            let middle = AnalyzedCapacity::At(f64::midpoint(interval.start, interval.end));
            let capacities = with_constant_capacities(scenario, middle).named;
            return Ok(Self { interval, scenario: scenario.clone(), capacities });
        }
        let interval = StationaryInterval::between(joins_and_leaves(&plan).collect(), scenario, None);
        let mean = AnalyzedCapacity::Mean { from: interval.start, until: interval.end };
        let ConstantCapacities { scenario, named } = with_constant_capacities(scenario, mean);
        Ok(Self { interval, scenario, capacities: named })
    }
}

/// A change of the network during a run.
struct NetworkChange {
    /// In seconds.
    time: f64,
    /// What happens, in English.
    event: String,
}

/// The times at which flows join and leave.
fn joins_and_leaves(plan: &FluidPlan) -> impl Iterator<Item = NetworkChange> + '_ {
    let change = |time: Time, event: String| NetworkChange { time: time.secs(), event };
    let joins = plan.flows.iter().map(move |flow| change(flow.start, format!("{} joins", flow.name)));
    let leaves =
        plan.flows.iter().filter_map(move |flow| Some(change(flow.stop?, format!("{} leaves", flow.name))));
    joins.chain(leaves)
}

/// The steps of the capacities of links.
fn capacity_steps(plan: &FluidPlan) -> impl Iterator<Item = NetworkChange> + '_ {
    plan.links.iter().filter(|link| link.id.is_some()).flat_map(|link| {
        let step = |(time, rate): &(Time, Rate)| NetworkChange {
            time: time.secs(),
            event: format!("{} becomes {}", link.entity, mbit_per_s(rate.as_f64())),
        };
        link.capacity.iter().skip(1).map(step)
    })
}
