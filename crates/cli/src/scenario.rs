//! Reading the scenario that a command is about.

use crate::args::{self, World};
use crate::failure::Failure;
use millpond_scenario::Scenario;

/// The scenario with everything that the command line changes about it.
pub(crate) fn load(args: &args::Scenario) -> Result<Scenario, Failure> {
    let mut scenario = Scenario::load(&args.file, &args.sets)?;
    if let Some(seed) = args.seed {
        scenario.seed = seed;
    }
    Ok(scenario)
}

/// Where it is to be run.
pub(crate) fn world(typed: World) -> Result<millpond_results::World, Failure> {
    match typed {
        World::Packets => Ok(millpond_results::World::Packets),
        World::Fluid => Ok(millpond_results::World::Fluid),
        World::Live => Err(Failure::input(
            "the live world is not in this version of Millpond; there are: packets, fluid",
        )),
    }
}
