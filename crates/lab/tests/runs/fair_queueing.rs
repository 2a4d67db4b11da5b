//! Fair queueing with queue laws: each flow has a law of its own.

use crate::common::{flow, fluid, results};
use millpond_protocols::Registry;
use millpond_results::Run;
use millpond_scenario::{Disk, Scenario};
use std::path::Path;

/// DCTCP and three NewReno flows. NewReno is not ECN-capable: a mark is a loss for it. The marking threshold of 20 packets is
/// far below NewReno's buffer needs at a queue that DCTCP holds at the threshold.
const NEIGHBOURS: &str = r#"
duration = "20s"
measure.from = "5s"

[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
buffer = "200packets"
queue = { red = { preset = "dctcp-step" } }
scheduler = "fair"

[[flows]]
name = "d"
protocol = "dctcp"
path = ["A", "B"]

[[flows]]
name = "n"
protocol = "newreno"
path = ["A", "B"]
count = 3
"#;

#[test]
fn the_neighbours_of_dctcp_get_their_shares_of_a_fair_queue_with_marks() {
    let run = results(NEIGHBOURS, &[]);
    for name in ["d", "n.0", "n.1", "n.2"] {
        let share = flow(&run, name).goodput_bps / 5e6;
        // A window that is halved at 20 packets above the bandwidth-delay product of 8 stays above it.
        assert!((0.9..1.1).contains(&share), "{name}: {share} of its share");
    }
}

/// CoDel keeps the delay of each flow near its target; the delay of a flow below its share has none.
#[test]
fn a_flow_below_its_share_has_no_marks_beside_a_flow_with_a_queue() {
    let slow = r#"
[[flows]]
name = "slow"
protocol = "newreno"
path = ["A", "B"]
workload = { rate = "1Mbps" }
"#;
    let text = format!("{NEIGHBOURS}{slow}");
    let run = results(&text, &["links.L.queue=codel"]);
    let (slow, bulk) = (flow(&run, "slow"), flow(&run, "n.0"));
    assert_eq!((slow.lost, slow.marked), (0, 0));
    assert!(bulk.lost > 0);
    assert!((slow.goodput_bps / 1e6 - 1.0).abs() < 0.05, "{}", slow.goodput_bps);
}

#[test]
fn a_queue_law_without_a_form_for_one_flow_is_refused_with_the_alternatives() {
    let sets = ["links.L.queue=rem".to_owned()];
    let scenario = Scenario::parse(NEIGHBOURS, "test.toml", Path::new(""), &sets, &Disk).unwrap();
    let faults =
        millpond_plan::packets::check(&scenario, &Registry::builtin()).map(drop).unwrap_err().to_string();
    for part in ["L ->", "queue of its own", "codel"] {
        assert!(faults.contains(part), "{faults}");
    }
}

/// Two flows with weights at a link of 40 Mbit/s.
const WEIGHTED: &str = r#"
duration = "20s"
measure = { from = "5s", jain_window = "2s" }

[[links]]
name = "L"
between = ["A", "B"]
rate = "40Mbps"
delay = "10ms"
scheduler = "fair"

[[flows]]
name = "gold"
protocol = "cubic"
path = ["A", "B"]
weight = 3

[[flows]]
name = "plain"
protocol = "cubic"
path = ["A", "B"]
"#;

fn fair_share(run: &Run, name: &str) -> f64 {
    flow(run, name).fair_share_bps.expect("a flow that shares its link")
}

/// Weights 3 and 1 divide 40 Mbit/s into 30 and 10.
#[test]
fn flows_that_have_what_their_weights_give_them_are_fair() {
    let run = results(WEIGHTED, &[]);
    for (name, share) in [("gold", 30e6), ("plain", 10e6)] {
        assert!((fair_share(&run, name) / share - 1.0).abs() < 1e-3, "{name}: {}", fair_share(&run, name));
        assert!((flow(&run, name).goodput_bps / share - 1.0).abs() < 0.01, "{name}");
        assert!(flow(&run, name).converged_s.is_some(), "{name}");
    }
    let fairness = &run.summary.fairness;
    assert!(fairness.jain > Some(0.9999) && fairness.short_term_jain.min > 0.999, "{fairness:?}");
    assert!(fairness.min_over_max > 0.99, "{fairness:?}");
}

/// A flow of weight 1 beside one of weight 30 has 1.3 of 40 Mbit/s, which is its share.
#[test]
fn a_flow_with_the_share_of_its_small_weight_does_not_starve() {
    let run = results(WEIGHTED, &["flows.gold.weight=30"]);
    assert!((fair_share(&run, "plain") / (40e6 / 31.0) - 1.0).abs() < 1e-2, "{}", fair_share(&run, "plain"));
    assert!(run.summary.groups.iter().all(|group| group.starving == 0));
}

/// Under strict priority the weight is an order: the shares are equal, and the flow without one starves.
#[test]
fn weights_of_strict_priority_are_no_shares() {
    let run = results(WEIGHTED, &["links.L.scheduler=priority"]);
    assert!((fair_share(&run, "plain") / 20e6 - 1.0).abs() < 0.01, "{}", fair_share(&run, "plain"));
    assert!(flow(&run, "plain").starves());
}

/// LGC shares by weight without a scheduler, also as equations.
#[test]
fn weighted_flows_of_lgc_are_fair_in_both_worlds() {
    let sets = ["links.L.scheduler=fifo", "flows.gold.protocol=lgc", "flows.plain.protocol=lgc"];
    for run in [results(WEIGHTED, &sets), fluid(WEIGHTED, &sets)] {
        let (gold, plain) = (flow(&run, "gold").goodput_bps, flow(&run, "plain").goodput_bps);
        assert!((gold / plain / 3.0 - 1.0).abs() < 0.05, "{gold} and {plain}");
        assert!((fair_share(&run, "gold") / fair_share(&run, "plain") - 3.0).abs() < 1e-9);
        assert!(run.summary.fairness.jain > Some(0.999), "{:?}", run.summary.fairness);
    }
}

/// Whether the flows have other goodputs with the weight 3 than without it, at a first-come, first-served link.
fn weight_matters(protocol: &str) -> bool {
    let sets = ["links.L.scheduler=fifo", "links.L.rate=8Mbps", "duration=20s"].map(str::to_owned);
    let of_flows = ["gold", "plain"].map(|group| format!("flows.{group}.protocol={protocol}"));
    let goodputs = |weight: &str| {
        let weight = format!("flows.gold.weight={weight}");
        let sets: Vec<&str> = sets.iter().chain(&of_flows).chain([&weight]).map(String::as_str).collect();
        let run = results(WEIGHTED, &sets);
        ["gold", "plain"].map(|name| flow(&run, name).goodput_bps)
    };
    goodputs("1") != goodputs("3")
}

#[test]
fn protocols_whose_senders_share_by_weight_declare_it() {
    for protocol in Registry::builtin().protocols() {
        let name = protocol.card().name;
        assert_eq!(weight_matters(name), protocol.reads_weight(), "{name}");
    }
}

#[test]
fn a_weight_that_nothing_reads_has_a_warning() {
    let warnings = |sets: &[&str]| results(WEIGHTED, sets).summary.warnings;
    let text = "\"gold\": weight = 3 has no effect: cubic does not read it";
    let unused = warnings(&["links.L.scheduler=fifo"]);
    assert!(unused.iter().any(|warning| warning.starts_with(text)), "{unused:?}");
    for used in [
        &["links.L.scheduler=drr"][..],
        &["links.L.scheduler=priority"],
        &["links.L.scheduler=fifo", "flows.gold.weight=1"],
        &["links.L.scheduler=fifo", "flows.gold.protocol=lgc", "flows.plain.protocol=lgc"],
    ] {
        assert!(warnings(used).iter().all(|warning| !warning.contains("weight")), "{used:?}");
    }
}
