//! An estimate of the effort of a run in packets.

use crate::faults::PlacedFault;
use crate::limits;
use crate::messages::PageWorld;
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
    /// Flows.
    pub(crate) flows: u64,
    /// Samples of all series.
    pub(crate) samples: f64,
}

/// An error if a scenario has too many flows to be planned in the time of a check.
///
/// # Errors
/// The number of flows, and the limit.
pub(crate) fn check_flows(scenario: &Scenario) -> Result<(), Vec<PlacedFault>> {
    let flows = flows(scenario);
    if flows <= limits::MOST_FLOWS {
        return Ok(());
    }
    let message = format!("{flows} flows; the limit of the playground is {}", limits::MOST_FLOWS);
    Err(vec![PlacedFault::plain(message).help("use fewer flows, or run it with: millpond run")])
}

fn flows(scenario: &Scenario) -> u64 {
    scenario.flows.iter().map(|group| u64::from(group.count)).sum()
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
        let (flows, links) = (flows(scenario), scenario.links.len());
        // About as many quantities as flows and directions of links usually have.
        let quantities = 6.0 * flows as f64 + 8.0 * links as f64;
        let samples = quantities * duration.secs() / scenario.measure.every.secs().max(1e-12);
        Self { events, seconds: events / EVENTS_PER_SECOND, flows, samples }
    }

    /// Whether a run in this world needs little enough time and memory.
    ///
    /// # Errors
    /// The estimate, and the limit that it exceeds.
    pub(crate) fn check(&self, world: PageWorld) -> Result<(), Vec<PlacedFault>> {
        let millions = |number: f64| format!("{:.0} million", number / 1e6);
        let excess = |what: &str, found: f64, most: f64, help: &str| {
            let message = format!(
                "about {} {what}; the limit of the playground is {}",
                millions(found),
                millions(most)
            );
            Err(vec![PlacedFault::plain(message).help(format!("{help}, or run it with: millpond run"))])
        };
        if world == PageWorld::Packets && self.events > limits::MOST_EVENTS {
            let help = "shorten duration, lower the rates of links";
            return excess("packet-hops", self.events, limits::MOST_EVENTS, help);
        }
        if self.samples > limits::MOST_SAMPLES {
            let help = "raise measure.every, shorten duration, use fewer flows";
            return excess("samples of series", self.samples, limits::MOST_SAMPLES, help);
        }
        Ok(())
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
