//! Runs a scenario in a chosen world.

use crate::{Error, MakeObserver, fluid, live, packets};
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
        World::Packets => packets::run(scenario, registry, about, watch, None),
        World::Fluid => fluid::run(scenario, registry, about, watch),
        World::Live => live::run(scenario, registry, about, watch, None),
    }
}

/// As [`run`], with an observer of each sender. The fluid world has no packets, and so no observers.
///
/// # Errors
/// As [`run`], and those of `observer`.
pub fn run_observed(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
    observer: &MakeObserver<'_>,
) -> Result<Finished, Error> {
    match about.world {
        World::Packets => packets::run(scenario, registry, about, watch, Some(observer)),
        World::Fluid => fluid::run(scenario, registry, about, watch),
        World::Live => live::run(scenario, registry, about, watch, Some(observer)),
    }
}
