//! Whole runs against closed forms.

use crate::common::{flow, link, results};

const LOSSY: &str = r#"
title = "One flow, random loss"
duration = "400s"
measure = { from = "20s", every = "1s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "1Gbps"
delay = "20ms"
loss = 0.001
[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B"]
"#;

/// Mean window, in packets, from the flow's rate and its round-trip time.
fn mean_window(loss: f64) -> f64 {
    let run = results(LOSSY, &[&format!("links.L.loss={loss}")]);
    let flow = flow(&run, "f");
    flow.send_rate_bps / 8.0 / 1500.0 * flow.rtt_ms.unwrap().mean / 1e3
}

/// Ott, Kemperman and Mathis (1996): under independent losses the window of ideal congestion avoidance averages
/// 1.3098 / sqrt(p) over time (periodic losses: sqrt(3/2) / sqrt(p)). Reacting once per round, and recovery, cost some.
#[test]
fn newreno_follows_the_law_of_the_inverse_square_root_of_loss() {
    for loss in [0.004, 0.001, 0.000_25] {
        let constant = mean_window(loss) * loss.sqrt();
        assert!((1.5_f64.sqrt() * 0.92..1.3098 * 1.08).contains(&constant), "p = {loss}: {constant}");
    }
}

const TRANSFER: &str = r#"
title = "A transfer over a lossy chain"
duration = "60s"
[[links]]
name = "L1"
between = ["A", "R"]
rate = "20Mbps"
delay = "5ms"
loss = 0.02
[[links]]
name = "L2"
between = ["R", "B"]
rate = "10Mbps"
delay = "5ms"
loss = 0.01
buffer = "20packets"
[[flows]]
name = "f"
protocol = "cut"
path = ["A", "R", "B"]
workload = { size = "3MB" }
[protocols.cut]
protocol = "newreno"
relays = ["R"]
relay_buffer = "30packets"
"#;

#[test]
fn a_sized_flow_delivers_every_byte_once_through_loss_and_a_full_relay() {
    let run = results(TRANSFER, &[]);
    let transfer = &run.transfers[0];
    assert_eq!(transfer.size_bytes, Some(3_000_000));
    assert_eq!(transfer.delivered_bytes, 3_000_000);
    let completed = transfer.completed_s.expect("it completes");
    // 3 MB at 10 Mbps take 2.4 s at least.
    assert!((2.4..60.0).contains(&completed), "{completed}");
    assert!(flow(&run, "f").lost > 0, "the test is about loss");
    assert_eq!(run.summary.relays[0].dropped, 0);
}

const CALM: &str = r#"
title = "Below capacity"
duration = "20s"
measure = { from = "2s" }
hosts = { jitter = "0s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "10Mbps"
delay = "10ms"
[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B"]
rtt = "50ms"
packet = "1250B"
workload = { rate = "4Mbps" }
"#;

#[test]
fn constant_rate_traffic_below_capacity_has_no_queue_and_its_full_rate() {
    let run = results(CALM, &[]);
    let (flow, link) = (flow(&run, "f"), link(&run, "L"));
    assert!((flow.goodput_bps / 4e6 - 1.0).abs() < 0.002, "{}", flow.goodput_bps);
    assert!((link.utilization - 0.4).abs() < 0.001, "{}", link.utilization);
    assert_eq!(flow.queueing_ms.max, 0.0);
    // Base RTT of 50 ms, 1 ms to serve a packet of 1250 B at 10 Mbps, 32 us for an acknowledgement of 40 B.
    assert!((flow.rtt_ms.unwrap().mean - 51.032).abs() < 0.01, "{}", flow.rtt_ms.unwrap().mean);
    // Each packet is in service for 1 ms of the 2.5 ms between two.
    assert!((link.queue_packets.mean - 0.4).abs() < 0.001, "{}", link.queue_packets.mean);
}
