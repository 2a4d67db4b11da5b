//! Names of worlds.

use crate::error::Failure;
use millpond_results::World;

/// The world of this name.
pub(crate) fn world_of(name: &str) -> Result<World, Failure> {
    let known = [World::Packets, World::Fluid];
    let found = known.into_iter().find(|world| world.name() == name);
    found.ok_or_else(|| {
        Failure::input(format!(
            "no world \"{name}\" here; there are: {}. The command has one more: millpond run --world live",
            known.map(World::name).join(", ")
        ))
    })
}
