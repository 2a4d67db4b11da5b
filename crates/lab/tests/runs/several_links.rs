//! Flows over several links under every law that has equations. The bottleneck of a path may change, and queues that
//! are empty in equilibrium are on the boundary between empty and not empty.

use crate::common::near;
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};
use millpond_scenario::{Disk, Scenario};
use std::path::Path;

fn run_shipped(file: &str, protocol: &str, duration: u32) -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let names =
        text.lines().skip_while(|line| *line != "[[flows]]").filter_map(|line| line.strip_prefix("name"));
    let groups = names.map(|name| name.trim_matches([' ', '=', '"']));
    let mut sets: Vec<String> = groups.map(|group| format!("flows.{group}.protocol={protocol}")).collect();
    sets.extend([format!("duration={duration}s"), format!("measure.from={}s", duration - 2)]);
    let scenario =
        Scenario::parse(&text, file, &folder, &sets, &Disk).unwrap_or_else(|faults| panic!("{faults}"));
    let about = About { world: World::Fluid, ..About::default() };
    let finished = run(&scenario, &Registry::builtin(), about, &Unwatched);
    finished.unwrap_or_else(|error| panic!("{file} under {protocol}: {error}")).run
}

fn goodput(run: &Run, group: &str) -> f64 {
    run.summary.groups.iter().find(|g| g.name == group).map_or(0.0, |g| g.goodput_bps.mean)
}

#[test]
fn every_law_with_equations_carries_flows_over_several_links() {
    let registry = Registry::builtin();
    let mut protocols = 0;
    for protocol in registry.protocols() {
        let settings = millpond_law::Settings::check(protocol.card().parameters, []).unwrap();
        if !matches!(protocol.fluid(&settings), Ok(Some(_))) {
            continue;
        }
        for file in ["two-bottlenecks.toml", "parking-lot.toml"] {
            let run = run_shipped(file, protocol.card().name, 6);
            assert!(goodput(&run, "long") > 0.0);
        }
        protocols += 1;
    }
    assert!(protocols >= 15, "{protocols}");
}

/// 155 Mbit/s for 20 flows, then 100 Mbit/s for ten of them and ten more: the max-min shares are 10.5 and 5 Mbit/s. ACP's
/// target is 1 % below. In equilibrium both queues are empty, and the arrival rate is the departure rate.
#[test]
fn max_min_fair_laws_have_max_min_shares_over_two_bottlenecks() {
    for (protocol, target) in [("acp", 0.99), ("rcp", 1.0)] {
        let run = run_shipped("two-bottlenecks.toml", protocol, 100);
        let share =
            [("short", 155.0 * target - 50.0 * target), ("far", 50.0 * target), ("long", 25.0 * target)];
        for ((group, mbps), flows) in share.into_iter().zip([10.0, 10.0, 5.0]) {
            let theory = mbps * 1e6 / flows;
            assert!(
                near(goodput(&run, group), theory, 1e-3),
                "{protocol}, {group}: {}",
                goodput(&run, group)
            );
        }
        assert!(run.summary.links.iter().all(|link| link.queue_packets.max < 0.01), "{protocol}");
    }
}

/// Three equal links: the flow over all of them has the same rate as the flows over one each. The links' signals are
/// equal, so that any of them may be the bottleneck.
#[test]
fn xcp_shares_a_parking_lot_of_equal_links_evenly() {
    let run = run_shipped("parking-lot.toml", "xcp", 30);
    for group in ["long", "cross"] {
        assert!(near(goodput(&run, group), 50e6, 1e-3), "{group}: {}", goodput(&run, group));
    }
}
