//! The links of the paths of a scenario's flows.

use millpond_scenario::{Direction, Hop, Scenario};
use std::collections::BTreeSet;

/// The directions of links that carry data, each once.
pub(super) fn data_hops(scenario: &Scenario) -> BTreeSet<(usize, bool)> {
    let paths = scenario.flows.iter().flat_map(|group| group.paths.iter().take(group.count as usize));
    paths.flatten().map(|hop| (hop.link, hop.forward)).collect()
}

/// Changes the slowest link of each path. `change` returns whether it has changed something.
///
/// # Errors
/// Nothing was changed.
pub(super) fn each_slowest(
    scenario: &mut Scenario,
    mut change: impl FnMut(&mut Direction) -> bool,
) -> Result<(), ()> {
    let paths = scenario.flows.iter().flat_map(|group| group.paths.iter().take(group.count as usize));
    let slowest: BTreeSet<(usize, bool)> =
        paths.filter_map(|path| slowest(scenario, path)).map(|hop| (hop.link, hop.forward)).collect();
    let mut is_changed = false;
    for (link, forward) in slowest {
        is_changed |= change(scenario.links[link].direction_mut(forward));
    }
    if is_changed { Ok(()) } else { Err(()) }
}

/// The link of a path with the least mean rate over the run; of equal ones the first.
pub(super) fn slowest(scenario: &Scenario, path: &[Hop]) -> Option<Hop> {
    let mean =
        |hop: &&Hop| scenario.links[hop.link].direction(hop.forward).rate.schedule().mean(scenario.duration);
    path.iter().min_by_key(mean).copied()
}
