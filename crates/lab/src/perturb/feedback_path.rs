//! Disturbances of acknowledgements on their return path.

use super::paths::{data_hops, slowest};
use millpond_scenario::{Delay, Direction, Hop, Loss, Rtt, Scenario};
use millpond_units::Span;
use std::collections::BTreeSet;

/// Loses acknowledgements of the flows that are not pinned.
pub(super) fn lose_feedback(scenario: &mut Scenario, share: f64) -> Result<(), String> {
    for (link, forward) in feedback_hops(scenario)? {
        let name = scenario.links[link].name.value.clone();
        let direction: &mut Direction = scenario.links[link].direction_mut(forward);
        if direction.loss != Loss::None {
            return Err(format!("link \"{name}\" loses acknowledgements already"));
        }
        direction.loss = Loss::Bernoulli(share);
    }
    Ok(())
}

/// Delays acknowledgements of the flows that are not pinned.
pub(super) fn delay_feedback(scenario: &mut Scenario, by: Span) -> Result<(), String> {
    for (link, forward) in feedback_hops(scenario)? {
        match &mut scenario.links[link].direction_mut(forward).delay {
            Delay::Constant(delay) => *delay += by,
            Delay::Steps(steps) => steps.iter_mut().for_each(|(_, delay)| *delay += by),
        }
    }
    // A round-trip time of its own would contain the longer path otherwise.
    for rtt in scenario.flows.iter_mut().filter_map(|group| group.rtt.as_mut()) {
        match rtt {
            Rtt::Constant(rtt) => *rtt += by,
            Rtt::Uniform(least, most) => (*least, *most) = (*least + by, *most + by),
        }
    }
    Ok(())
}

/// For each path of a flow that is not pinned, the link of its return path that lies beside the slowest link of the path, or the
/// first that carries no data.
fn feedback_hops(scenario: &Scenario) -> Result<BTreeSet<(usize, bool)>, String> {
    let with_data = data_hops(scenario);
    let carries_no_data = |hop: &Hop| !with_data.contains(&(hop.link, hop.forward));
    let mut hops = BTreeSet::new();
    let groups = scenario.flows.iter().filter(|group| !group.pinned);
    for path in groups.flat_map(|group| group.paths.iter().take(group.count as usize)) {
        let back = scenario.return_path(path).unwrap_or_default();
        let beside = slowest(scenario, path).map(|hop| Hop { forward: !hop.forward, ..hop });
        let preferred = beside.filter(|hop| back.contains(hop) && carries_no_data(hop));
        let hop = preferred.or_else(|| back.iter().copied().find(carries_no_data));
        let Some(hop) = hop else { return Err("each link of a return path carries data, too".to_owned()) };
        hops.insert((hop.link, hop.forward));
    }
    if hops.is_empty() { Err("all flows are pinned".to_owned()) } else { Ok(hops) }
}
