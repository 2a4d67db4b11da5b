//! XCP flows of few packets.

use crate::common::{link, results};

const FEW_PACKETS: &str = r#"
title = "Two hundred flows of few packets"
duration = "30s"
measure = { from = "10s" }
[dumbbell]
pairs = 1
bottleneck = { rate = "68Mbps", delay = "32ms" }
access = { rate = "10Gbps", delay = "4ms" }
[[flows]]
name = "f"
count = 200
protocol = "xcp"
packet = "1000B"
start = { first = "0s", every = "5ms" }
"#;

/// 3.4 packets of 1000 B in 80 ms for each flow. By hand: with independent phases and without a queue the packets in flight
/// are `sqrt(200 * .4 * .6 / (2 pi))` less than 680 in the mean, .4 % of the link; windows that are rounded down leave more.
#[test]
fn flows_of_three_to_four_packets_fill_the_link_and_share_it_equally() {
    let run = results(FEW_PACKETS, &[]);
    let utilization = link(&run, "bottleneck").utilization;
    assert!(utilization > 0.99, "{utilization}");
    assert!(run.summary.fairness.jain > Some(0.9995), "{:?}", run.summary.fairness.jain);
    assert_eq!(link(&run, "bottleneck").drops_total, 0);
}
