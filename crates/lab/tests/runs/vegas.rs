//! Vegas against its paper.

use crate::common::{fluid, link, range, results};
use millpond_results::Run;

const PAGE: &str = include_str!("../../../protocols/src/vegas/README.md");

const FOUR: &str = r#"
title = "Four flows with the same base RTT"
duration = "40s"
measure = { from = "20s", every = "1s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "40Mbps"
delay = "20ms"
buffer = "200packets"
[[flows]]
name = "f"
count = 4
protocol = "vegas"
path = ["A", "B"]
packet = "1000B"
"#;

#[test]
fn four_vegas_flows_each_keep_two_to_four_packets_in_the_queue() {
    let run = results(FOUR, &[]);
    let link = link(&run, "L");
    // One more packet is in service.
    assert!((7.0..=18.0).contains(&link.queue_packets.mean), "{:?}", link.queue_packets);
    assert!(link.utilization > 0.999, "{}", link.utilization);
    let jain = run.summary.fairness.jain;
    assert!(jain > Some(0.9), "rates are within a factor of two: {jain:?}");
}

/// Ten flows that begin within five seconds.
const TEN: &str = r#"
title = "Ten flows that join a queue"
duration = "90s"
measure = { from = "60s", every = "1s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "20ms"
buffer = "unlimited"
[[flows]]
name = "f"
count = 10
protocol = "vegas"
path = ["A", "B"]
start = { uniform = ["0s", "5s"] }
"#;

fn assert_on_page(sentence: &str) {
    assert!(PAGE.contains(sentence), "in crates/protocols/src/vegas/README.md it must be: {sentence}");
}

/// With the true base RTT each flow would have at most four packets in the queue.
#[test]
fn the_page_has_the_queue_and_the_rates_of_late_joiners() {
    let runs: Vec<Run> = (1..=3).map(|seed| results(TEN, &[&format!("seed={seed}")])).collect();
    let (least, greatest) =
        range(runs.iter().flat_map(|run| &run.summary.flows).map(|f| f.goodput_bps / 1e6));
    let (shortest, longest) = range(runs.iter().map(|run| link(run, "L").queue_packets.mean));
    assert!(shortest > 10.0 * 4.0, "{shortest}");
    assert_on_page(&format!(
        "have {least:.2} to {greatest:.0} Mbit/s after a minute, with\n  {shortest:.0} to {longest:.0} packets queued"
    ));
}

#[test]
fn the_page_has_the_queues_of_two_bottlenecks_in_packets_and_equations() {
    let text = include_str!("../../../../scenarios/two-bottlenecks.toml");
    let groups = ["short", "far", "long", "longest"];
    let vegas: Vec<String> = groups.iter().map(|group| format!("flows.{group}.protocol=vegas")).collect();
    let at_once: Vec<String> = groups.iter().map(|group| format!("flows.{group}.start=0s")).collect();
    let queue = |run: &Run, name: &str| link(run, name).queue_packets.mean;
    let queues = |sets: &[String]| {
        let runs = (1..=3).map(|seed| {
            let seed = format!("seed={seed}");
            let sets: Vec<&str> = sets.iter().map(String::as_str).chain([seed.as_str()]).collect();
            results(text, &sets)
        });
        let runs: Vec<Run> = runs.collect();
        ["L1", "L2"].map(|name| {
            let (least, greatest) = range(runs.iter().map(|run| queue(run, name)));
            format!("{least:.0} to {greatest:.0}")
        })
    };
    let equations = fluid(text, &vegas.iter().map(String::as_str).collect::<Vec<_>>());
    assert_on_page(&format!(
        "has {} packets queued at its links in packets (seeds 1 to 3), and {:.0} and {:.0} in the equations; if all flows start at once, {} in packets",
        queues(&vegas).join(" and "),
        queue(&equations, "L1"),
        queue(&equations, "L2"),
        queues(&[vegas.clone(), at_once].concat()).join(" and ")
    ));
}
