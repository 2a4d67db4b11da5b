//! Reading the scenario that a command is about.

use crate::args::{self, World};
use crate::failure::Failure;
use millpond_scenario::Scenario;

/// The scenario with everything that the command line changes about it.
pub(crate) fn load(args: &args::Scenario) -> Result<Scenario, Failure> {
    refuse_absent_worlds(args.world)?;
    let mut scenario = Scenario::load(&args.file, &args.sets)?;
    if let Some(seed) = args.seed {
        scenario.seed = seed;
    }
    Ok(scenario)
}

fn refuse_absent_worlds(world: World) -> Result<(), Failure> {
    let name = match world {
        World::Packets => return Ok(()),
        World::Fluid => "fluid",
        World::Live => "live",
    };
    Err(Failure::input(format!("the {name} world is not in this version of Millpond; there is: packets")))
}
