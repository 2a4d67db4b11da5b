//! Runs a scenario in the world that was asked for.

use crate::{Error, fluid, packets};
use millpond_protocols::Registry;
use millpond_results::{About, Finished, Watch, World};
use millpond_scenario::Scenario;

/// Plans and runs a scenario.
///
/// # Errors
/// What [`packets::plan`](millpond_plan::packets::plan) or [`fluid::plan`](millpond_plan::fluid::plan) says, that the
/// equations have no solution, or that `watch` stopped it.
pub fn run(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
) -> Result<Finished, Error> {
    match about.world {
        World::Packets => packets::run(scenario, registry, about, watch),
        World::Fluid => fluid::run(scenario, registry, about, watch),
    }
}
