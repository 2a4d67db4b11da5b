//! Windows of a rate times a base RTT, where the base RTT is not that of the path, or where flows have different ones.

use crate::common::{flow, link, near, results};

/// A path whose forward delay becomes 25 ms after 5 s: 10 ms, then 30 ms.
const LONGER: &str = r#"
title = "a path becomes longer"
duration = "10s"
measure = { from = "7s", every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = { steps = [["0s", "5ms"], ["5s", "15ms"]] }
buffer = "1MB"
[[flows]]
name = "f"
protocol = "lgcc"
path = ["A", "B"]
packet = "500B"
"#;

/// The window remains C times the first RTT: C times the quotient of both arrives.
#[test]
fn on_a_path_that_becomes_longer_the_window_is_that_of_the_shorter_one() {
    for (protocol, used) in [("lgcc", 1.0), ("lgc", 1.0), ("acp", 1.0), ("xcp", 3.0)] {
        let run = results(LONGER, &[&format!("flows.f.protocol={protocol}")]);
        let utilization = link(&run, "L").utilization;
        assert!(near(utilization, used * 10.0 / 30.0, 0.02), "{protocol}: {utilization}");
    }
}

/// Two flows without a signalled capacity, of 10 ms unless said otherwise.
const ESTIMATED: &str = r#"
title = "two flows that estimate the capacity"
duration = "80s"
measure = { from = "50s", every = "1s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "5ms"
buffer = "1MB"
[[flows]]
name = "first"
protocol = "lgcc"
path = ["A", "B"]
[[flows]]
name = "second"
protocol = "lgcc"
path = ["A", "B"]
[protocols.lgcc.params]
capacity = "estimated"
"#;

/// A window of x T is delivered at d = x T / (T + q), and k = 2 d + s, s a packet per T: x = D s / (1 - 2 D T / (T + q)) with the
/// deflation D = (1 - p)^eta and q = p max_th / C. The flow with the longest T has almost 1 = 2 D T / (T + q), and the others
/// what s leaves them. A second flow that starts later measures T = 11.9 ms, because the queue of the first is 1.84 ms.
/// Whole packets add up to one to a window.
#[test]
fn flows_that_estimate_the_capacity_share_it_equally_only_if_they_measure_equal_base_rtts() {
    for (set, least, greatest) in [
        ("flows.second.start=0s", 48.0, 52.0),
        ("flows.second.start=15s", 3.2, 8.7),
        ("flows.second.rtt=20ms", 6.2, 16.2),
    ] {
        let first = flow(&results(ESTIMATED, &[set]), "first").goodput_bps / 1e6;
        assert!((least..greatest).contains(&first), "{set}: {first} of 100 Mbit/s");
    }
    let signalled = ["flows.second.start=15s", "protocols.lgcc.params.capacity=signalled"];
    let first = flow(&results(ESTIMATED, &signalled), "first").goodput_bps / 1e6;
    assert!((45.0..55.0).contains(&first), "{first}");
}
