//! Where stability ends when something is varied.

use super::{Knob, Refusal, judge, settle};
use crate::fluid;
use millpond_fluid::stability::{Linearized, critical, rightmost};
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

/// The longest round-trip time without queues.
pub(crate) fn longest_rtt(plan: &fluid::Plan) -> f64 {
    plan.loops.iter().map(|l| l.facts.base_rtt).fold(0.0, f64::max)
}

/// The boundaries of stability nearest to the present value, above and below, each with its equilibrium computed anew.
///
/// # Errors
/// The scenario as it is has no verdict.
pub fn boundaries(scenario: &Scenario, registry: &Registry, knob: &Knob) -> Result<Vec<Boundary>, Refusal> {
    let plan = fluid::plan(scenario, registry)?;
    judge(&settle(&plan)?)?;
    let now = knob.now(scenario, registry, longest_rtt(&plan));
    let found = critical(1.0, |factor| growth(&knob.scaled(scenario, now, factor), registry).ok());
    let boundary = |found: &millpond_fluid::stability::Critical| Boundary {
        knob: knob.clone(),
        now,
        value: now * found.value,
        stable_below: found.stable_below,
    };
    Ok(found.iter().map(boundary).collect())
}

/// The real part of the rightmost root.
pub(super) fn growth(scenario: &Scenario, registry: &Registry) -> Result<f64, Refusal> {
    let plan = fluid::plan(scenario, registry)?;
    let settled = settle(&plan)?;
    let linear = Linearized::of(&settled.frozen, &settled.moment);
    Ok(rightmost(&linear.system)?.rightmost())
}
