//! The part of a run in which neither flows nor capacities change.

use crate::format::mbit_per_s;
use millpond_plan::fluid::FluidPlan;
use millpond_scenario::Scenario;
use std::fmt;

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

    /// The longest interval between two changes and after `measure.from`; of equal ones the last.
    pub(super) fn longest(plan: &FluidPlan, scenario: &Scenario) -> Self {
        let (begin, end) = (scenario.measure.from.secs(), scenario.duration.secs());
        let begins = if begin > 0.0 { "measure.from" } else { "the run begins" };
        let mut events: Vec<(f64, String)> =
            changes(plan).into_iter().filter(|(time, _)| begin < *time && *time < end).collect();
        events.push((begin, begins.to_owned()));
        events.push((end, "the run ends".to_owned()));
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let interval = |pair: &[(f64, String)]| Self {
            start: pair[0].0,
            end: pair[1].0,
            start_event: pair[0].1.clone(),
            end_event: pair[1].1.clone(),
        };
        let all = events.windows(2).map(interval);
        let none = Self { start: begin, end, start_event: String::new(), end_event: String::new() };
        all.max_by(|a, b| (a.duration() * (1.0 + 1e-9)).total_cmp(&b.duration())).unwrap_or(none)
    }
}

impl fmt::Display for StationaryInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s ({}) to {:.3} s ({})", self.start, self.start_event, self.end, self.end_event)
    }
}

/// Joins, leaves and capacity steps, with their times in seconds.
fn changes(plan: &FluidPlan) -> Vec<(f64, String)> {
    let joins = plan.flows.iter().map(|flow| (flow.start.secs(), format!("{} joins", flow.name)));
    let leaves =
        plan.flows.iter().filter_map(|flow| Some((flow.stop?.secs(), format!("{} leaves", flow.name))));
    let steps = plan.links.iter().filter(|link| link.id.is_some()).flat_map(|link| {
        let step = |(time, rate): &(millpond_units::Time, millpond_units::Rate)| {
            (time.secs(), format!("{} becomes {}", link.entity, mbit_per_s(rate.as_f64())))
        };
        link.capacity.iter().skip(1).map(step)
    });
    joins.chain(leaves).chain(steps).collect()
}
