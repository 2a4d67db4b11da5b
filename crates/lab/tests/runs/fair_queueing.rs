//! Fair queueing with queue laws: each flow has a law of its own.

use crate::common::{flow, results};
use millpond_protocols::Registry;
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
