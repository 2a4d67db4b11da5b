//! An estimate of the effort of a run in packets.

use millpond_scenario::{FlowGroup, Hop, Scenario};
use serde::Serialize;
use std::collections::BTreeMap;

/// Packet-hops per second of processor time of a release build, of which `docs/playground.md` has the measurement.
const EVENTS_PER_SECOND: f64 = 1e7;

/// The effort of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Effort {
    /// Packet-hops of data and acknowledgements.
    pub(crate) events: f64,
    /// Seconds of processor time in packets, in a release build.
    pub(crate) seconds: f64,
}

/// The flows of a group that take the same path.
struct PathLoad<'a> {
    group: &'a FlowGroup,
    path: &'a [Hop],
    /// Their greatest rate together, in bit/s.
    rate: f64,
}

impl Effort {
    /// The estimate. Flows send as much as the slowest link of their path serves or as their applications produce; links that
    /// would get more than they serve reduce all flows in proportion.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let duration = scenario.duration;
        let capacity = |hop: &Hop| -> f64 {
            let direction = scenario.links.get(hop.link).map(|link| link.direction(hop.forward));
            direction.map_or(0.0, |direction| direction.rate.schedule().mean(duration).as_f64())
        };
        let loads = loads(scenario, &capacity);
        let mut arriving: BTreeMap<(usize, bool), f64> = BTreeMap::new();
        for load in &loads {
            for hop in load.path {
                *arriving.entry((hop.link, hop.forward)).or_default() += load.rate;
            }
        }
        let events = |load: &PathLoad<'_>| {
            let share = |hop: &Hop| {
                let sum = arriving.get(&(hop.link, hop.forward)).copied().unwrap_or_default();
                if sum > 0.0 { (capacity(hop) / sum).min(1.0) } else { 0.0 }
            };
            let share = load.path.iter().map(share).fold(1.0, f64::min);
            let packets = load.rate * share * duration.secs() / (8.0 * load.group.packet.as_f64()).max(1.0);
            let acks = load.group.delayed_acks.map_or(1.0, |delayed| 1.0 / f64::from(delayed.packets.max(1)));
            packets * (1.0 + acks) * load.path.len() as f64
        };
        let events: f64 = loads.iter().map(events).sum();
        Self { events, seconds: events / EVENTS_PER_SECOND }
    }
}

/// The load of each path of each group.
fn loads<'a>(scenario: &'a Scenario, capacity: &dyn Fn(&Hop) -> f64) -> Vec<PathLoad<'a>> {
    let of_group = |group: &'a FlowGroup| {
        let flows = f64::from(group.count) / group.paths.len().max(1) as f64;
        let demand = group.demand().map_or(f64::INFINITY, |rate| rate.as_f64() * flows);
        group.paths.iter().map(move |path| {
            let least = path.iter().map(capacity).fold(demand, f64::min);
            PathLoad { group, path, rate: if least.is_finite() { least } else { 0.0 } }
        })
    };
    scenario.flows.iter().flat_map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use millpond_lab::run;
    use millpond_protocols::Registry;
    use millpond_results::{About, RunOrigin, Unwatched, World};
    use std::path::Path;

    /// The estimate is about the packet-hops of the run, as its flows fill the links.
    #[test]
    fn the_estimate_is_about_the_packet_hops_of_a_run() {
        let shipped = shipped::scenarios();
        for (name, overrides) in [("dumbbell", ["duration=12s"]), ("parking-lot", ["duration=12s"])] {
            let text = &shipped.iter().find(|one| one.name == name).unwrap().text;
            let overrides = overrides.map(str::to_owned);
            let scenario =
                Scenario::parse(text, name, Path::new(""), &overrides, &millpond_scenario::Disk).unwrap();
            let about =
                About { label: name.into(), origin: RunOrigin::default(), index: 0, world: World::Packets };
            let finished = run(&scenario, &Registry::builtin(), about, &Unwatched).unwrap();
            let ratio = Effort::of(&scenario).events / finished.run.summary.packet_hops as f64;
            assert!((0.7..1.6).contains(&ratio), "{name}: {ratio}");
        }
    }
}
