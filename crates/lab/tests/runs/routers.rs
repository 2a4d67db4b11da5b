//! Routers that take no part in explicit feedback, tunnels, and routers that strip it.

use crate::common::{flow, link, results};
use millpond_results::Run;

const CONDUCTS: [&str; 4] = ["takes-part", "absent", "tunnel", "strips"];

/// Two flows over a slow and then over a fast link.
const TWO_LINKS: &str = r#"
title = "two links"
duration = "12s"
measure = { from = "4s" }

[[links]]
name = "slow"
between = ["A", "B"]
rate = "10Mbps"
delay = "10ms"

[[links]]
name = "fast"
between = ["B", "C"]
rate = "100Mbps"
delay = "10ms"

[[flows]]
name = "f"
count = 2
protocol = "xcp"
path = ["A", "B", "C"]
"#;

/// Marks of DualPI2 are removed behind it.
const CLEARED_MARKS: &str = r#"
title = "Prague beside CUBIC, marks removed"
duration = "60s"
measure = { from = "10s" }

[[links]]
name = "slow"
between = ["A", "B"]
rate = "40Mbps"
delay = "10ms"
queue = "dualpi2"

[[links]]
name = "fast"
between = ["B", "C"]
rate = "1Gbps"
delay = "0ms"
router = "strips"

[[flows]]
name = "prague"
protocol = "prague"
path = ["A", "B", "C"]

[[flows]]
name = "cubic"
protocol = "cubic"
path = ["A", "B", "C"]
"#;

const PAGE: &str = include_str!("../../../../docs/scenario.md");

fn at(link: &str, conduct: &str, sets: &[&str]) -> Run {
    let router = format!("links.{link}.router={conduct}");
    results(TWO_LINKS, &[&[router.as_str()], sets].concat())
}

/// A protocol without header and without ECN has nothing that could be hidden or stripped.
#[test]
fn a_flow_without_explicit_feedback_is_the_same_behind_every_router() {
    for queue in ["droptail", "codel", "fq-codel", "dualpi2"] {
        let queue = format!("links.slow.queue={queue}");
        let sets = ["flows.f.protocol=cubic", queue.as_str()];
        let groups = CONDUCTS.map(|conduct| at("slow", conduct, &sets).summary.groups);
        assert!(groups.windows(2).all(|pair| pair[0] == pair[1]), "{queue}");
    }
}

/// DCTCP has no router: only its queue marks.
#[test]
fn an_absent_router_leaves_the_queue_as_it_is() {
    let queue = "links.slow.queue={ red = { preset = \"dctcp-step\" } }";
    let sets = ["flows.f.protocol=dctcp", queue, "links.slow.buffer=300packets"];
    let [with, without] = ["takes-part", "absent"].map(|conduct| at("slow", conduct, &sets).summary);
    assert_eq!((with.groups, with.links), (without.groups, without.links));
}

/// In a tunnel and behind a router that strips, packets are not ECN-capable: what the queue would mark it drops.
#[test]
fn a_queue_in_a_tunnel_drops_where_it_would_mark() {
    let queue = "links.slow.queue={ red = { preset = \"dctcp-step\" } }";
    let sets = ["flows.f.protocol=dctcp", queue, "links.slow.buffer=300packets"];
    let counts = |conduct| {
        let run = at("slow", conduct, &sets);
        (link(&run, "slow").marks, link(&run, "slow").drops)
    };
    let (marks, drops) = counts("takes-part");
    assert!(marks > 0 && drops == 0, "{marks} marks, {drops} drops");
    for conduct in ["tunnel", "strips"] {
        let (marks, drops) = counts(conduct);
        assert!(marks == 0 && drops > 0, "{conduct}: {marks} marks, {drops} drops");
    }
}

/// DCTCP before a queue that marks at its step, whose marks are removed behind it. A sender that trusts the path receives no
/// mark and fills the buffer. One that checks the ECN fields stops ECN after a round trip of 40 ms: then the queue drops what
/// it would mark.
#[test]
fn a_path_that_clears_marks_behind_the_queue_is_noticed() {
    const STEP: f64 = 65.0;
    let queue = "links.slow.queue={ red = { preset = \"dctcp-step\" } }";
    let sets = ["flows.f.protocol=dctcp", queue, "links.slow.buffer=300packets"];
    let measured = |conduct, validate: &str| {
        let run = at("fast", conduct, &[&sets[..], &[validate]].concat());
        (flow(&run, "f.0").ecn_stopped_s, link(&run, "slow").queue_packets.max, link(&run, "slow").marks)
    };
    let validate = ["endpoint.validate_ecn=true", "endpoint.validate_ecn=false"];
    assert_eq!(measured("takes-part", validate[0]).0, None);
    let (stopped, longest, marks) = measured("strips", validate[0]);
    assert!(stopped.is_some_and(|time| (0.040..0.045).contains(&time)), "{stopped:?}");
    // A packet that finds as many packets in the queue as the step has is dropped.
    assert!(longest <= STEP + 1.0 && marks == 0, "{longest} packets, {marks} marks");
    let (stopped, longest, marks) = measured("strips", validate[1]);
    assert!(
        stopped.is_none() && longest > 2.0 * STEP && marks > 0,
        "{stopped:?} {longest} packets, {marks} marks"
    );
}

/// A flow of Prague whose marks are removed behind DualPI2 takes nearly all from CUBIC, unless it stops ECN: then both have
/// losses alone.
#[test]
fn prague_leaves_its_share_to_cubic_on_a_path_that_clears_marks() {
    let goodputs = |set: &str| {
        let run = results(CLEARED_MARKS, &[set]);
        ["prague", "cubic"].map(|name| flow(&run, name).goodput_bps / 1e6)
    };
    let [prague, cubic] = goodputs("endpoint.validate_ecn=true");
    assert!((prague - cubic).abs() < 0.2 * 40.0 && prague + cubic > 36.0, "{prague} {cubic} Mbit/s");
    let [trusting, starved] = goodputs("endpoint.validate_ecn=false");
    // Less than a quarter of half of the link.
    assert!(starved < 0.25 * 20.0 && trusting > 30.0, "{trusting} {starved} Mbit/s");
    let sentence = format!(
        "have {prague:.1} and {cubic:.1} Mbit/s with the check, and {trusting:.1} and {starved:.1} Mbit/s"
    );
    assert!(PAGE.contains(&sentence), "docs/scenario.md: {sentence}");
}

/// At a drop-tail queue both mean that no router reads or writes the header.
#[test]
fn a_router_that_is_absent_and_one_that_a_tunnel_passes_are_the_same_for_a_header() {
    for protocol in ["xcp", "rcp", "acp", "mcp"] {
        let protocol = format!("flows.f.protocol={protocol}");
        let [absent, tunnel] = ["absent", "tunnel"].map(|conduct| at("slow", conduct, &[&protocol]).summary);
        assert_eq!(absent.groups, tunnel.groups, "{protocol}");
    }
}

/// The feedback of the slow link passes through a tunnel over the fast one, and not through a router that strips it.
#[test]
fn feedback_of_earlier_links_passes_a_tunnel_and_not_a_router_that_strips() {
    let delay = |conduct| {
        let run = at("fast", conduct, &[]);
        (link(&run, "slow").utilization, flow(&run, "f.0").queueing_ms.p95)
    };
    let [with, tunnel, strips] = ["takes-part", "tunnel", "strips"].map(delay);
    for (used, p95) in [with, tunnel] {
        assert!(used > 0.95 && p95 < 10.0, "{used} {p95} ms");
    }
    assert!((strips.0 - with.0).abs() > 0.05 || strips.1 > 2.0 * with.1, "without feedback: {strips:?}");
}

/// Each sample of a clock whose tick is longer than the round-trip time is one tick.
#[test]
fn a_clock_with_a_tick_longer_than_the_path_measures_one_tick() {
    let run =
        results(TWO_LINKS, &["flows.f.protocol=newreno", "flows.f.count=1", "endpoint.clock_tick=500ms"]);
    let rtt = crate::common::series(&run, "f", "smoothed RTT");
    assert!(rtt.values.iter().all(|value| (value - 500.0).abs() < 1e-6), "{:?}", &rtt.values[..5]);
}
