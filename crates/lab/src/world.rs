//! Runs a scenario in a chosen world.

use crate::{Error, fluid, live, packets};
use millpond_protocols::Registry;
use millpond_results::{About, Finished, Watch, World};
use millpond_scenario::Scenario;

/// Plans and runs a scenario.
///
/// # Errors
/// An error of [`packets::plan`](millpond_plan::packets::plan) or [`fluid::plan`](millpond_plan::fluid::plan), equations
/// that cannot be integrated, a scenario or a machine that the live world refuses, or that `watch` stopped the run.
pub fn run(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
) -> Result<Finished, Error> {
    match about.world {
        World::Packets => packets::run(scenario, registry, about, watch),
        World::Fluid => fluid::run(scenario, registry, about, watch),
        World::Live => live::run(scenario, registry, about, watch),
    }
}
