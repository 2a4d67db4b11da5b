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
mod refuse;
mod run;

use millpond_scenario::{Faults, Scenario};
pub use plan::{Plan, PlannedFlow, PlannedLink, PlannedLoop, plan};
pub(crate) use run::run;

/// Can the scenario's method integrate what was planned of it? Points of rest and stability need no method.
///
/// # Errors
/// What steps of one length cannot honour: by name, at its line, with what would work.
pub fn check_method(scenario: &Scenario, plan: &Plan) -> Result<(), Faults> {
    refuse::method(scenario, plan).map_err(Faults::from)
}
