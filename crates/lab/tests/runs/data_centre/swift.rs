//! Swift: the queue of the target delay, the number of links, and windows below one packet.

use super::{BASE_RTT, ONE_LINK, PACKET, RATE, queueing, shares};
use crate::common::{link, near, results};
use millpond_results::Run;

/// Target delay in seconds of a path of `links` links for a window in packets: section 3.5, SIGCOMM 2020, with the defaults.
fn target(links: f64, window: f64) -> f64 {
    let alpha = 100e-6 / (1.0 / 0.1_f64.sqrt() - 1.0 / 100_f64.sqrt());
    let flows = (alpha / window.sqrt() - alpha / 100_f64.sqrt()).clamp(0.0, 100e-6);
    20e-6 + links * 3.053e-6 + flows
}

/// Queueing delay in seconds at which the round-trip time is the target of the window of each of `flows` equal flows that fill
/// the link: `flows window packet / rate = target(window)`.
fn equilibrium(flows: f64, links: f64, base_rtt: f64) -> f64 {
    let (mut low, mut high) = (1e-3, 1e5);
    for _ in 0..100 {
        let window = f64::midpoint(low, high);
        let rtt = flows * window * PACKET / RATE;
        if rtt < target(links, window) { low = window } else { high = window }
    }
    target(links, low) - base_rtt
}

fn with_flows(flows: usize, sets: &[&str]) -> Run {
    let count = format!("flows.f.count={flows}");
    results(ONE_LINK, &[&[count.as_str()], sets].concat())
}

#[test]
fn equal_flows_hold_the_round_trip_time_at_the_target_of_their_windows() {
    // Each flow adds a packet per round trip until it sees the target: with many flows the queue oscillates about it.
    for (flows, tolerance) in [(1, 0.06), (4, 0.06), (16, 0.15), (64, 0.25)] {
        let run = with_flows(flows, &[]);
        let (measured, theory) = (queueing(&run), equilibrium(flows as f64, 1.0, BASE_RTT));
        assert!(near(measured, theory, tolerance), "{flows}: {measured} instead of {theory}");
        assert!(link(&run, "L").utilization > 0.99 && link(&run, "L").drops_total == 0, "{flows}");
        let (least, greatest) = shares(&run);
        assert!(least > 0.9 && greatest < 1.1, "{flows}: {least} to {greatest}");
    }
}

#[test]
fn each_link_of_the_path_adds_to_the_target() {
    // Two links of 100 Gbit/s and 1 us before the bottleneck: 4 us, and four services of 0.12 us and less, of round trip.
    let text = r#"
title = "Three links"
duration = "60ms"
measure = { from = "30ms", every = "50us" }
links = [
  { name = "first", between = ["S", "T"], rate = "100Gbps", delay = "1us", buffer = "1000packets", queue = "droptail" },
  { name = "second", between = ["T", "A"], rate = "100Gbps", delay = "1us", buffer = "1000packets", queue = "droptail" },
  { name = "L", between = ["A", "B"], rate = "10Gbps", delay = "3us", buffer = "1000packets", queue = "droptail" },
]
flows = [{ name = "f", protocol = "swift", path = ["S", "T", "A", "B"] }]
"#;
    let run = results(text, &[]);
    let base_rtt = 10e-6 + (1500.0 + 40.0) * 8.0 * (1.0 / 10e9 + 2.0 / 100e9);
    let theory = equilibrium(1.0, 3.0, base_rtt);
    assert!(near(queueing(&run), theory, 0.06), "{} instead of {theory}", queueing(&run));
    assert!(theory > equilibrium(1.0, 1.0, base_rtt) + 5e-6);
}

#[test]
fn windows_below_one_packet_hold_the_queue_of_800_flows_near_the_target() {
    // A window of at least one packet each is a queue of 792 packets; with fractions the target is 115 us at most.
    let initial = "protocols.swift.params.initial_window=1";
    let fractions = with_flows(800, &[initial]);
    let theory = equilibrium(800.0, 1.0, BASE_RTT);
    assert!((90e-6..112e-6).contains(&theory), "{theory}");
    let measured = queueing(&fractions);
    assert!(measured < 1.5 * theory, "{measured} instead of {theory}");
    assert!(link(&fractions, "L").utilization > 0.95);
    let whole = queueing(&with_flows(800, &[initial, "protocols.swift.params.min_cwnd=1"]));
    let full = 800.0 * PACKET / RATE - BASE_RTT;
    assert!(near(whole, full, 0.05), "{whole} instead of {full}");
}
