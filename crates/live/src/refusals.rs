//! What real hosts cannot do: errors with name, line and alternative.

use crate::lab::{DATA_HEAD, LONGEST_DATAGRAM};
use millpond_scenario::{Fault, FlowGroup, Hop, Place, Scenario, Workload};
use millpond_units::{Bytes, Rate};
use std::collections::BTreeMap;

/// Most packets per second of all flows together. A packet and its acknowledgement are sent and read four times, which costs
/// about 40 us on one thread (`docs/live.md`), so that twice as many need a processor of twice the speed.
const MOST_PACKETS_PER_SECOND: f64 = 50_000.0;

const PACKETS: &str = "run it with --world packets";

/// Checks a scenario for the live world, beside the checks of the packet world.
///
/// # Errors
/// The first thing that real hosts cannot do.
pub fn check_live(scenario: &Scenario) -> Result<(), Fault> {
    for group in &scenario.flows {
        let longest = Bytes::new((LONGEST_DATAGRAM - DATA_HEAD) as u64);
        if group.packet.saturating_sub(group.overhead) > longest {
            let message = format!(
                "flows \"{}\": a packet of {} does not fit into a UDP datagram with the head of the live world",
                group.name.value, group.packet
            );
            let fault = refusal(scenario, group.name.place, message);
            return Err(fault.help(format!("set `packet` to {longest} or less, or {PACKETS}")));
        }
    }
    too_many_packets(scenario)
}

fn refusal(scenario: &Scenario, place: Place, message: String) -> Fault {
    scenario.fault(place, message, "not possible in the live world")
}

/// The slowest link of a path, at its highest rate.
fn bottleneck(scenario: &Scenario, path: &[Hop]) -> Option<(usize, Rate)> {
    let rate = |hop: &Hop| scenario.links[hop.link].direction(hop.forward).rate.schedule().peak();
    path.iter().map(|hop| (hop.link, rate(hop))).min_by_key(|(_, rate)| *rate)
}

/// The most packets per second that flows can send: what their bottlenecks carry, or what their applications produce.
fn too_many_packets(scenario: &Scenario) -> Result<(), Fault> {
    let mut links: BTreeMap<usize, f64> = BTreeMap::new();
    for group in &scenario.flows {
        for path in &group.paths {
            let Some((link, rate)) = bottleneck(scenario, path) else { continue };
            let packets = demand(group).min(rate).as_f64() / group.packet.bits() as f64;
            let of_link = links.entry(link).or_default();
            *of_link = of_link.max(packets);
        }
    }
    let all: f64 = links.values().sum();
    let busiest = links.iter().max_by(|one, other| one.1.total_cmp(other.1));
    let Some((link, packets)) = busiest.filter(|_| all > MOST_PACKETS_PER_SECOND) else { return Ok(()) };
    let link = &scenario.links[*link].name;
    let message = format!(
        "link \"{}\" carries {packets:.0} packets per second; real packets on one processor reach about {MOST_PACKETS_PER_SECOND:.0} at all bottlenecks together",
        link.value
    );
    let fault = refusal(scenario, link.place, message);
    Err(fault.help(format!("set a lower `rate`, or {PACKETS}")))
}

/// The rate of the group's applications together; the highest rate without a limit.
fn demand(group: &FlowGroup) -> Rate {
    match &group.workload {
        Workload::Produced(..) | Workload::Ping(_) => {
            group.demand().unwrap_or(Rate::MAX).scale(f64::from(group.count))
        }
        _ => Rate::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_scenario::Disk;
    use std::path::Path;

    fn refused(sets: &[&str]) -> Option<String> {
        let text = r#"
            title = "one link"
            duration = "1s"
            links = [{ name = "L", between = ["S", "D"], rate = "50Mbps", delay = "5ms" }]
            flows = [{ name = "f", protocol = "cubic", path = ["S", "D"] }]
        "#;
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let scenario = Scenario::parse(text, "one.toml", Path::new(""), &sets, &Disk).unwrap();
        check_live(&scenario).err().map(|fault| fault.to_string())
    }

    #[test]
    fn what_real_hosts_can_do_is_not_refused() {
        assert_eq!(refused(&[]), None);
        // 500 Mbit/s in packets of 1500 bytes are 41667 packets per second.
        assert_eq!(refused(&["links.L.rate=500Mbps"]), None);
        assert_eq!(refused(&["links.L.rate=10Gbps", "flows.f.workload={rate=\"10Mbps\"}"]), None);
        assert_eq!(refused(&["flows.f.packet=65381B"]), None);
    }

    #[test]
    fn what_they_cannot_do_is_refused_by_name() {
        let many = refused(&["links.L.rate=10Gbps"]).unwrap();
        assert!(many.contains("link \"L\" carries 833333 packets per second"), "{many}");
        let large = refused(&["flows.f.packet=65382B", "links.L.buffer=1MB"]).unwrap();
        assert!(large.contains("flows \"f\": a packet of 65.382KB does not fit"), "{large}");
    }
}
