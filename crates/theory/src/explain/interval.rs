//! The part of a run in which nothing but the control loop moves.

use millpond_plan::fluid::Plan;
use millpond_scenario::Scenario;
use std::fmt;

/// From when to when, in seconds, and what bounds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Its begin.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// What happens at its begin.
    pub begins: String,
    /// What happens at its end.
    pub ends: String,
}

impl Stretch {
    /// How long it is, in seconds.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.to - self.from
    }

    /// The longest one between two changes and after `measure.from`; of equal ones the last.
    pub(super) fn longest(plan: &Plan, scenario: &Scenario) -> Self {
        let (begin, end) = (scenario.measure.from.secs(), scenario.duration.secs());
        let begins = if begin > 0.0 { "measure.from" } else { "the run begins" };
        let mut marks: Vec<(f64, String)> =
            changes(plan).into_iter().filter(|(time, _)| begin < *time && *time < end).collect();
        marks.push((begin, begins.to_owned()));
        marks.push((end, "the run ends".to_owned()));
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let stretch = |pair: &[(f64, String)]| Self {
            from: pair[0].0,
            to: pair[1].0,
            begins: pair[0].1.clone(),
            ends: pair[1].1.clone(),
        };
        let all = marks.windows(2).map(stretch);
        let none = Self { from: begin, to: end, begins: String::new(), ends: String::new() };
        all.max_by(|a, b| (a.length() * (1.0 + 1e-9)).total_cmp(&b.length())).unwrap_or(none)
    }
}

impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s ({}) to {:.3} s ({})", self.from, self.begins, self.to, self.ends)
    }
}

/// Joins, leaves and capacity steps.
fn changes(plan: &Plan) -> Vec<(f64, String)> {
    let joins = plan.flows.iter().map(|flow| (flow.start.secs(), format!("{} joins", flow.name)));
    let leaves =
        plan.flows.iter().filter_map(|flow| Some((flow.stop?.secs(), format!("{} leaves", flow.name))));
    let steps = plan.links.iter().filter(|link| link.id.is_some()).flat_map(|link| {
        let step = |(time, rate): &(millpond_units::Time, millpond_units::Rate)| {
            (time.secs(), format!("{} becomes {rate}", link.entity))
        };
        link.capacity.iter().skip(1).map(step)
    });
    joins.chain(leaves).chain(steps).collect()
}
