//! The scenario and the world of a command.

use crate::args::{self, World};
use crate::failure::Failure;
use millpond_scenario::Scenario;

/// Reads the scenario and applies the changes of the command line.
pub(crate) fn load(args: &args::Scenario) -> Result<Scenario, Failure> {
    let mut scenario = Scenario::load(&args.file, &args.sets)?;
    if let Some(seed) = args.seed {
        scenario.seed = seed;
    }
    Ok(scenario)
}

/// The world of `--world`; an error for one that is not in this version.
pub(crate) fn world(typed: World) -> Result<millpond_results::World, Failure> {
    match typed {
        World::Packets => Ok(millpond_results::World::Packets),
        World::Fluid => Ok(millpond_results::World::Fluid),
        World::Live => Err(Failure::input(
            "the live world is not in this version of Millpond; there are: packets, fluid",
        )),
    }
}
