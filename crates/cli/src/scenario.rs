//! The scenario and the world of a command.

use crate::args::{self, World};
use crate::failure::Failure;
use millpond_plan::law_faults;
use millpond_protocols::Registry;
use millpond_scenario::Scenario;

/// Reads the scenario and applies the changes of the command line. If it has faults, unknown protocols and refused settings
/// are reported with them.
pub(crate) fn load(args: &args::Scenario, registry: &Registry) -> Result<Scenario, Failure> {
    let scenario = Scenario::load_with(&args.file, &args.sets, &|readable| law_faults(readable, registry))?;
    Ok(match args.seed {
        Some(seed) => scenario.with_seed(seed),
        None => scenario,
    })
}

/// The world of `--world`.
pub(crate) fn world(typed: World) -> millpond_results::World {
    match typed {
        World::Packets => millpond_results::World::Packets,
        World::Fluid => millpond_results::World::Fluid,
        World::Live => millpond_results::World::Live,
    }
}
