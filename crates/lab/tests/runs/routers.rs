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
