//! The fluid world of a scenario: the same network, the same flows and draws, their laws as differential equations.
//!
//! ```text
//!   Scenario --> plan's cast, members, draws --> refuse: what equations cannot honour
//!           \--> links: capacities, buffers, laws --> loops: classes, delays, relays --> Assembly
//! ```
//!
//! Acknowledgements take no room on links, and relays hold what they are sent. A flow's base round-trip time is that
//! of propagation, as in the packet world; service times are no part of it.

mod links;
mod loops;
mod plan;
mod unsupported;

pub use plan::{Plan, PlannedFlow, PlannedLink, PlannedLoop};

use crate::faults;
use crate::flow_instances::members;
use crate::protocols::{Role, cast};
use crate::warnings::warnings;
use millpond_fluid::{Assembly, FluidNetwork};
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Scenario};
use plan::{Model, refused};

/// Plans the fluid world of `scenario` with the protocols of `registry`.
///
/// # Errors
/// What the packet world's plan refuses, and what equations cannot honour: by name, at its line, with what would work.
pub fn plan(scenario: &Scenario, registry: &Registry) -> Result<Plan, Faults> {
    planned(scenario, registry).map_err(Faults::from)
}

fn planned(scenario: &Scenario, registry: &Registry) -> Result<Plan, Fault> {
    unsupported::scenario(scenario)?;
    let roles = cast(scenario, registry)?;
    let members = members(scenario)?;
    let warnings = warnings(scenario, &roles, &members);
    unsupported::fair_sharing(scenario, &members, &roles)?;
    let models =
        roles.into_iter().map(|role| model(scenario, registry, role)).collect::<Result<Vec<_>, _>>()?;
    let mut network = FluidNetwork::new();
    let links = links::links(scenario, registry, &models, &members, &mut network)?;
    let loops::Loops { loops, flows, .. } = loops::loops(scenario, &models, &members, &links, &mut network);
    // Only the sum of a loop's delays matters to its stability; one that is too short to matter at all would make the
    // solver step as finely.
    let shortest = loops.iter().map(|l| l.facts.base_rtt).fold(f64::INFINITY, f64::min);
    network.round_down_delays(shortest / 100.0);
    let assembly = Assembly::new(network).map_err(|error| refused(scenario, &links, &loops, error))?;
    let left_out = models.iter().map(|m| (m.role.label.value.clone(), m.equations.left_out()));
    let left_out = left_out.filter(|(_, left_out)| !left_out.is_empty()).collect();
    Ok(Plan { assembly, links, loops, flows, warnings, left_out })
}

/// The equations of a protocol.
fn model<'s>(scenario: &Scenario, registry: &Registry, role: Role<'s>) -> Result<Model<'s>, Fault> {
    let params = role.entry.map_or(&[][..], |entry| &entry.params);
    let fault = |error| faults::setting(scenario, &role.label.value, params, role.label.place, &error);
    match role.protocol.fluid(&role.settings).map_err(fault)? {
        Some(equations) => Ok(Model { role, equations }),
        None => Err(unsupported::without_equations(scenario, registry, &role)),
    }
}

/// Can the scenario's method integrate what was planned of it? Points of rest and stability need no method.
///
/// # Errors
/// What steps of one length cannot honour: by name, at its line, with what would work.
pub fn check_method(scenario: &Scenario, plan: &Plan) -> Result<(), Faults> {
    unsupported::method(scenario, plan).map_err(Faults::from)
}
