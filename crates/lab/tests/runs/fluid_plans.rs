//! Fluid plans: classes of equal flows, delays, shared loops, and unsupported features.

use crate::common::scenario;
use millpond_fluid::{Accuracy, Entity};
use millpond_plan::fluid::{FluidPlan, plan};
use millpond_protocols::Registry;
use millpond_theory::equilibrium::find_equilibrium;

const LINE: &str = r#"
title = "A line"
duration = "10s"
[[links]]
name = "L1"
between = ["A", "R"]
rate = "100Mbps"
delay = "5ms"
[[links]]
name = "L2"
between = ["R", "B"]
rate = "12Mbps"
delay = "15ms"
[[flows]]
name = "many"
count = 4
protocol = "cltcp"
path = ["A", "R", "B"]
[[flows]]
name = "late"
count = 2
protocol = "cltcp"
path = ["R", "B"]
rtt = "80ms"
start = { first = "2s", every = "1s" }
"#;

fn planned(text: &str, sets: &[&str]) -> FluidPlan {
    plan(&scenario(text, sets), &Registry::builtin()).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn equal_flows_are_one_class_and_different_flows_are_not() {
    let plan = planned(LINE, &[]);
    let loops: Vec<_> = plan.loops.iter().map(|l| (l.name.as_str(), l.count, l.links.len())).collect();
    assert_eq!(loops, [("many", 4.0, 2), ("late.0", 1.0, 1), ("late.1", 1.0, 1)]);
    let flows: Vec<_> = plan.flows.iter().map(|f| (f.name.as_str(), f.loops[0].0)).collect();
    let expected = [("many.0", 0), ("many.1", 0), ("many.2", 0), ("many.3", 0), ("late.0", 1), ("late.1", 2)];
    assert_eq!(flows, expected);
    assert_eq!(plan.loops[0].facts.base_rtt, 0.04);
    assert_eq!(plan.loops[1].facts.base_rtt, 0.08);
    assert_eq!(plan.loops[0].facts.capacity, 12e6);
}

/// Flows that start together and differ in their sampled round-trip times alone.
#[test]
fn flows_with_sampled_round_trip_times_are_classes_of_their_own() {
    let plan = planned(LINE, &["flows.many.rtt={ uniform = [\"50ms\", \"90ms\"] }"]);
    let rtts: Vec<f64> = plan.loops[..4].iter().map(|l| l.facts.base_rtt).collect();
    assert!(rtts.iter().all(|rtt| (0.05..0.09).contains(rtt)), "{rtts:?}");
    assert!(rtts.windows(2).all(|pair| pair[0] != pair[1]), "{rtts:?}");
}

#[test]
fn directions_with_acknowledgements_only_have_no_link_in_the_engine() {
    let plan = planned(LINE, &[]);
    let links: Vec<_> = plan.links.iter().map(|l| (l.entity.as_str(), l.id.is_some())).collect();
    assert_eq!(links, [("L1 ->", true), ("L1 <-", false), ("L2 ->", true), ("L2 <-", false)]);
}

/// A sender's rate reaches a link one forward delay later. The extra delay of `late` is before its first link: 80 ms less twice
/// 15 ms; `many` reaches L2 through 5 ms of L1.
#[test]
fn flows_reach_their_links_after_the_delays_of_the_packet_world() {
    for (group, way) in [("many", 0.005), ("late", 0.05)] {
        let other = if group == "many" { "flows.late.start=9s" } else { "flows.many.start=9s" };
        let plan = planned(LINE, &[&format!("flows.{group}.start=1s"), other]);
        let solution = plan.assembly.run(1.2, 0.001, Accuracy::default()).unwrap();
        let l2 = plan.links[2].id.unwrap().0;
        let arriving = solution.of(Entity::Link(l2), "arriving rate");
        let first = arriving.iter().position(|rate| *rate > 0.0).unwrap();
        assert!((solution.times[first] - 1.0 - way).abs() < 1.5e-3, "{group}: {}", solution.times[first]);
    }
}

#[test]
fn half_of_the_extra_delay_is_on_a_return_path_that_would_be_too_short() {
    let text = LINE.replace("\"5ms\"", "\"0ms\"").replace("\"15ms\"", "\"0ms\"");
    let plan = planned(&text, &["flows.many.rtt=60ms"]);
    assert_eq!(plan.loops[0].facts.base_rtt, 0.06);
}

#[test]
fn a_flow_with_a_relay_has_two_loops() {
    let text = format!("{LINE}[protocols.lgcc]\nrelays = [\"R\"]\n");
    let plan = planned(&text, &["flows.many.protocol=lgcc", "flows.late.protocol=lgcc"]);
    let names: Vec<_> = plan.loops.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["many/loop1", "many/loop2", "late.0", "late.1"]);
    assert_eq!(plan.flows[0].relays, ["R"]);
    assert_eq!(plan.flows[0].loops.len(), 2);
}

/// Two groups meet at R: one loop for all three flows, with a part for each class, which begins when its first bit arrives.
#[test]
fn flows_that_continue_together_share_one_loop() {
    let sets = [
        "flows.many.count=1",
        "flows.many.protocol=lgcc",
        "flows.late.protocol=lgcc",
        "flows.late.path=[\"A\", \"R\", \"B\"]",
        "flows.late.weight=2",
        "protocols.lgcc={ relays = [\"R\"], aggregate = [\"R\"] }",
    ];
    let plan = planned(LINE, &sets);
    let names: Vec<&str> = plan.loops.iter().map(|l| l.name.as_str()).collect();
    let expected = [
        "many/loop1",
        "lgcc 1",
        "many/loop2",
        "late.0/loop1",
        "late.0/loop2",
        "late.1/loop1",
        "late.1/loop2",
    ];
    assert_eq!(names, expected);
    let shared: Vec<Option<usize>> = plan.loops.iter().map(|l| l.shared.map(|id| id.0)).collect();
    assert_eq!(shared, [None, None, Some(1), None, Some(1), None, Some(1)]);
    // Of 80 ms the two links have 40, so that 40 are before the first link; R is 5 ms behind it. The last flow starts at 3 s.
    assert!((plan.assembly.last_start() - 3.045).abs() < 1e-9, "{}", plan.assembly.last_start());
    // One, two and two fifths of 12 Mbit/s.
    let settled = find_equilibrium(&plan).unwrap_or_else(|refusal| panic!("{refusal}"));
    for (l, share) in [(2, 1.0), (4, 2.0), (6, 2.0)] {
        let rate = settled.value(Entity::Loop(l), "sending rate").unwrap();
        assert!((rate / (12e6 * share / 5.0) - 1.0).abs() < 1e-6, "{l}: {rate}");
    }
}

#[test]
fn capacity_steps_are_events_of_the_engine() {
    let sets = ["links.L2.rate={ steps = [[\"0s\", \"12Mbps\"], [\"3s\", \"6Mbps\"]] }"];
    let plan = planned(LINE, &sets);
    let steps: Vec<_> = plan.links[2].capacity.iter().map(|(t, r)| (t.secs(), r.as_f64())).collect();
    assert_eq!(steps, [(0.0, 12e6), (3.0, 6e6)]);
}

#[test]
fn features_without_equations_are_refused_with_name_and_alternative() {
    let error_of = |set: &str| {
        let scenario = scenario(LINE, &[set]);
        plan(&scenario, &Registry::builtin()).err().map(|faults| faults.to_string()).unwrap_or_default()
    };
    for (set, words) in [
        ("links.L1.loss=0.01", &["\"L1\"", "random loss", "loss"][..]),
        ("links.L2.jitter=1ms", &["\"L2\"", "jitter"]),
        ("links.L2.scheduler=fair", &["L2 ->", "fair queueing", "fifo"]),
        ("links.L2.scheduler=drr", &["L2 ->", "deficit round robin", "fifo"]),
        ("links.L2.scheduler=priority", &["L2 ->", "strict priority", "fifo"]),
        ("links.L2.queue=codel", &["L2 ->", "codel has no fluid model", "droptail"]),
        ("flows.many.workload={ size = \"1MB\" }", &["\"many\"", "transfers of a given size", "bulk"]),
        ("flows.many.workload={ rate = \"1Mbps\" }", &["\"many\"", "applications of limited rate"]),
        ("links.L2.rate={ steps = [[\"0s\", \"12Mbps\"], [\"3s\", \"0bps\"]] }", &["L2 ->", "outages"]),
    ] {
        let error = error_of(set);
        for word in words.iter().chain(&["--world packets"]) {
            assert!(error.contains(word), "{set}: {word} is missing in:\n{error}");
        }
    }
}

#[test]
fn every_protocol_has_a_fluid_plan_or_is_refused_by_name() {
    let registry = Registry::builtin();
    for protocol in registry.protocols() {
        let name = protocol.card().name;
        let sets = ["many", "late"].map(|group| format!("flows.{group}.protocol={name}"));
        let scenario = scenario(LINE, &sets.each_ref().map(String::as_str));
        if let Err(faults) = plan(&scenario, &registry) {
            let error = faults.to_string();
            assert!(error.contains("no fluid model"), "{name}: {error}");
        }
    }
}

/// CLTCP is max-min fair: each of six flows has a sixth of 12 Mbit/s, at full utilization and the target queue of 100
/// packets, whatever their round-trip times.
#[test]
fn cltcp_converges_to_its_equilibrium() {
    let plan = planned(LINE, &["flows.late.start=0s", "links.L2.buffer=500packets"]);
    let solution = plan.assembly.run(60.0, 1.0, Accuracy::default()).unwrap();
    for l in 0..plan.loops.len() {
        let rate = solution.of(Entity::Loop(l), "sending rate").last().copied().unwrap();
        assert!((rate / 2e6 - 1.0).abs() < 1e-3, "{l}: {rate}");
    }
    let queue = solution.of(Entity::Link(plan.links[2].id.unwrap().0), "queue").last().copied().unwrap();
    assert!((queue / 1.2e6 - 1.0).abs() < 1e-2, "{queue}");
}
