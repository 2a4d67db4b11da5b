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

/// The world of `--world`.
pub(crate) fn world(typed: World) -> millpond_results::World {
    match typed {
        World::Packets => millpond_results::World::Packets,
        World::Fluid => millpond_results::World::Fluid,
        World::Live => millpond_results::World::Live,
    }
}
