//! Queues that mark, in the fluid world, where no flow is ECN-capable: they drop.

use crate::common::{flow, fluid, link, near, results};

/// Sixteen NewReno flows without ECN share 20 Mbit/s with a round-trip time of 50 ms and 15 ms of queueing.
const SIXTEEN: &str = r#"
title = "Flows without ECN at PIE"
duration = "60s"
measure = { from = "30s", every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "25ms"
buffer = "unlimited"
queue = "pie"
[[flows]]
name = "f"
protocol = "newreno"
count = 16
path = ["A", "B"]
"#;

/// `w^2 p = 2` with the window `w = r x`, where each flow sends `x = c / (16 (1 - p))` packets/s.
fn loss_probability() -> f64 {
    let window = |p: f64| 0.065 * 20e6 / 12e3 / 16.0 / (1.0 - p);
    (0..100).fold(0.0, |p, _| 2.0 / window(p).powi(2))
}

#[test]
fn flows_without_ecn_lose_what_a_queue_would_mark() {
    let p = loss_probability();
    let run = fluid(SIXTEEN, &[]);
    let (l, f) = (link(&run, "L"), flow(&run, "f.0"));
    assert_eq!((l.marks, f.marked), (0, 0));
    for share in [l.drops as f64 / l.arrivals as f64, f.lost as f64 / f.sent as f64] {
        assert!(near(share, p, 0.01), "{share} {p}");
    }
    assert!(near(l.queueing_ms.mean, 15.0, 1e-3), "{}", l.queueing_ms.mean);
    let fair = 20e6 / 16.0;
    assert!(near(f.goodput_bps, fair, 1e-3) && near(f.send_rate_bps, fair / (1.0 - p), 1e-3), "{f:?}");
    let packets = link(&results(SIXTEEN, &[]), "L").clone();
    assert_eq!(packets.marks, 0, "neither are packets marked");
}

#[test]
fn a_queue_marks_if_one_flow_is_ecn_capable() {
    let run = fluid(SIXTEEN, &["protocols.newreno.params.ecn=true"]);
    let (l, f) = (link(&run, "L"), flow(&run, "f.0"));
    assert_eq!((l.drops, f.lost), (0, 0));
    let window: f64 = 0.065 * 20e6 / 12e3 / 16.0;
    assert!(near(l.marks as f64 / l.arrivals as f64, 2.0 / window.powi(2), 0.01), "{l:?}");
}
