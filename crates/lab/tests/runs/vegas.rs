//! Vegas against its paper.

use crate::common::{link, results};

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
