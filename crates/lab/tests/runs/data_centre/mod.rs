//! Protocols for data centres, at their speeds: round trips of tens of microseconds at 10 to 100 Gbit/s.

mod hpcc;
mod spreading;
mod swift;
mod timely;

use millpond_results::Run;

/// One link of 10 Gbit/s and 10 us of round trip, with a buffer of 1000 packets.
const ONE_LINK: &str = r#"
title = "One link of a data centre"
duration = "60ms"
measure = { from = "30ms", every = "50us" }
links = [{ name = "L", between = ["A", "B"], rate = "10Gbps", delay = "5us", buffer = "1000packets", queue = "droptail" }]
flows = [{ name = "f", protocol = "swift", path = ["A", "B"] }]
"#;

/// Round-trip time of the link without a queue in seconds: two delays, and the service of a packet of 1500 bytes and of an
/// acknowledgement of 40 bytes.
const BASE_RTT: f64 = 10e-6 + (1500.0 + 40.0) * 8.0 / 10e9;

const RATE: f64 = 10e9;
const PACKET: f64 = 12_000.0;

/// Mean queueing delay of all flows, in seconds.
fn queueing(run: &Run) -> f64 {
    let delays: Vec<f64> = run.summary.flows.iter().map(|flow| flow.queueing_ms.mean * 1e-3).collect();
    millpond_stats::mean(&delays)
}

/// Least and greatest goodput of the flows over their mean.
fn shares(run: &Run) -> (f64, f64) {
    let rates: Vec<f64> = run.summary.flows.iter().map(|flow| flow.goodput_bps).collect();
    let mean = millpond_stats::mean(&rates);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    (least / mean, rates.iter().copied().fold(0.0, f64::max) / mean)
}
