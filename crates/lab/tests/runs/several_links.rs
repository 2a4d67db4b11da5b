//! Flows over several links under every law that has equations. The bottleneck of a path may change, and queues that
//! are empty in equilibrium are on the boundary between empty and not empty.

use crate::common::{near, scenario};
use millpond_diagnosis::agreement::compute_agreement;
use millpond_lab::run;
use millpond_plan::fluid::plan;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};
use millpond_scenario::{Disk, Scenario};
use millpond_theory::Study;
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

/// Three flows over two links of 50 Mbit/s.
const SERIES: &str = r#"
title = "Equal links in series"
duration = "20s"
measure = { from = "10s" }
[[links]]
name = "A"
between = ["a", "b"]
rate = "50Mbps"
delay = "5ms"
[[links]]
name = "B"
between = ["b", "c"]
rate = "50Mbps"
delay = "5ms"
[[flows]]
name = "both"
count = 3
protocol = "lgcc"
path = ["a", "b", "c"]
"#;

/// A second flow that enters between the links, whose packets can make a queue at the second link.
const ENTERING: &str = r#"
[[flows]]
name = "entering"
protocol = "lgcc"
path = ["b", "c"]
"#;

/// A full link sends at most one packet per service time, so that an equal link behind it has no queue but for the random
/// processing time of at most one service time. Of the equations, where each queue receives the rates of the senders, both
/// queues have the same arrivals and capacities, and are equal.
#[test]
fn equal_links_in_series_have_two_queues_in_the_equations_alone_and_a_note_says_so() {
    let (scenario, registry) = (scenario(SERIES, &[]), Registry::builtin());
    let in_world =
        |world| run(&scenario, &registry, About { world, ..About::default() }, &Unwatched).unwrap().run;
    let (packets, fluid) = (in_world(World::Packets), in_world(World::Fluid));
    let queues = |run: &Run| {
        ["A", "B"].map(|name| {
            let forward = |link: &&millpond_results::Link| link.name == name && link.utilization > 0.5;
            run.summary.links.iter().find(forward).map_or(f64::NAN, |link| link.queue_packets.mean)
        })
    };
    let [first, second] = queues(&packets);
    assert!(first > 5.0 && second <= 2.0, "{first} {second}");
    let [first, second] = queues(&fluid);
    assert!(first > 5.0 && near(first, second, 1e-6), "{first} {second}");
    let agreement = compute_agreement(Study::new(&scenario, &registry), &packets, &fluid);
    let note = agreement.notes.iter().find(|note| note.contains("packets wait at A -> alone"));
    assert!(
        note.is_some_and(|note| note.starts_with("B -> has the capacity of A ->")),
        "{:?}",
        agreement.notes
    );
}

#[test]
fn links_in_series_whose_queues_packets_have_as_well_have_no_note() {
    let note = |text: &str, sets: &[&str]| {
        let plan = plan(&scenario(text, sets), &Registry::builtin()).unwrap();
        plan.queues_in_series(|_| true)
    };
    assert!(note(SERIES, &[]).is_some());
    assert_eq!(note(SERIES, &["links.B.rate=40Mbps"]), None);
    assert_eq!(note(&format!("{SERIES}{ENTERING}"), &[]), None);
}
