//! Where stability ends when something is varied.

use super::analysis::answerable;
use super::parameter::Knob;
use crate::Refusal;
use crate::equilibrium::{longest_rtt, settle};
use millpond_fluid::stability::{StabilityBoundary, rightmost, search_boundaries};
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_scenario::Scenario;

/// Where stability ends along one knob.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// What was varied.
    pub knob: Knob,
    /// Its present value.
    pub now: f64,
    /// The value at which the network begins to oscillate.
    pub value: f64,
    /// Whether it is stable below.
    pub stable_below: bool,
}

/// What became of a search for boundaries along one knob.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// What was varied.
    pub knob: Knob,
    /// Its present value.
    pub now: f64,
    /// The nearest boundaries, above and below.
    pub found: Vec<Boundary>,
    /// The lowest and the highest value that were looked at.
    pub range: (f64, f64),
}

/// The boundaries of stability nearest to the present value, above and below, each with its equilibrium computed anew; a
/// hundredfold each way at most.
///
/// # Errors
/// The scenario as it is has no verdict.
pub fn search(scenario: &Scenario, registry: &Registry, knob: &Knob) -> Result<Search, Refusal> {
    let plan = fluid::plan(scenario, registry)?;
    answerable(&settle(&plan)?)?;
    let now = knob.now(scenario, registry, longest_rtt(&plan));
    let [up, down] =
        search_boundaries(1.0, |factor| growth(&knob.scaled(scenario, now, factor), registry).ok());
    let boundary = |found: StabilityBoundary| Boundary {
        knob: knob.clone(),
        now,
        value: now * found.value,
        stable_below: found.stable_below,
    };
    let found = [up, down].iter().filter_map(|way| way.boundary).map(boundary).collect();
    Ok(Search { knob: knob.clone(), now, found, range: (knob.least(now * down.to), now * up.to) })
}

/// The boundaries of [`search`].
///
/// # Errors
/// As [`search`].
pub fn boundaries(scenario: &Scenario, registry: &Registry, knob: &Knob) -> Result<Vec<Boundary>, Refusal> {
    search(scenario, registry, knob).map(|search| search.found)
}

/// The real part of the rightmost root that is not zero; infinite about a jump, where the network cycles.
pub(super) fn growth(scenario: &Scenario, registry: &Registry) -> Result<f64, Refusal> {
    let plan = fluid::plan(scenario, registry)?;
    let settled = settle(&plan)?;
    if !settled.frozen.sliding().is_empty() {
        return Ok(f64::INFINITY);
    }
    Ok(rightmost(&settled.linear().system)?.rightmost_nonzero())
}
