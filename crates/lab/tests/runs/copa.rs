//! Copa: the queue, the shares and the period of its equilibrium, its two modes, and what a forgotten base round-trip time does.

use crate::common::{flow, link, near, results, samples_of, series};
use millpond_results::Run;

/// A link of 40 Mbit/s and 40 ms: 133 packets.
const ONE_LINK: &str = r#"
title = "Copa on one link"
duration = "80s"
measure = { from = "20s", every = "10ms" }
links = [{ name = "L", between = ["A", "B"], rate = "40Mbps", delay = "20ms", buffer = "4bdp", queue = "droptail" }]
flows = [{ name = "f", protocol = "copa", path = ["A", "B"] }]
"#;

const DEFAULT_MODE: &str = "protocols.copa.params.modes=default";

/// Service time of a packet in milliseconds.
const PACKET_MS: f64 = 0.3;

fn with_flows(flows: usize, sets: &[&str]) -> Run {
    let count = format!("flows.f.count={flows}");
    results(ONE_LINK, &[&[count.as_str()], sets].concat())
}

#[test]
fn in_the_default_mode_each_flow_has_between_one_and_one_and_a_half_of_its_target_in_the_queue() {
    // Section 2.1, NSDI 2018: the target is 1 / delta = 2 packets of each flow; the queue oscillates between none and 2.5 / delta,
    // with a mean of 1.25 / delta.
    for flows in [1, 2, 4, 10] {
        let run = with_flows(flows, &[DEFAULT_MODE]);
        let target = 2.0 * flows as f64;
        let delays: Vec<f64> = run.summary.flows.iter().map(|flow| flow.queueing_ms.mean).collect();
        let queue = millpond_stats::mean(&delays) / PACKET_MS;
        assert!((target..1.5 * target).contains(&queue), "{flows}: {queue} of {target} packets");
        // The packet in service and whole packets of windows add a few.
        let most = link(&run, "L").queue_packets.max;
        assert!(most < 2.5 * target + 4.0, "{flows}: {most}");
        assert!(link(&run, "L").utilization > 0.99);
        for flow in &run.summary.flows {
            assert!(near(flow.goodput_bps, 40e6 / flows as f64, 0.05), "{flows}: {}", flow.goodput_bps);
        }
    }
}

#[test]
fn the_queue_oscillates_with_a_period_of_five_round_trips() {
    // Section 2.1: two and a half round trips up, and as many down.
    let run = with_flows(4, &[DEFAULT_MODE]);
    let (low, high) = (5.0, 14.0);
    let mut is_high = false;
    let mut rises = 0.0;
    for (_, value) in samples_of(series(&run, "L ->", "queue"), (20.0, 80.0)) {
        if value > high && !is_high {
            rises += 1.0;
        }
        is_high = if is_high { value > low } else { value > high };
    }
    let rtt = 40.3e-3 + flow(&run, "f.0").queueing_ms.mean * 1e-3;
    let period = 60.0 / rises / rtt;
    assert!((4.0..6.0).contains(&period), "{period} round trips");
}

#[test]
fn beside_cubic_the_competitive_mode_keeps_a_share_and_the_default_mode_starves() {
    // Section 2.2: the default mode cannot share a link with a flow that fills the buffer.
    let text = ONE_LINK.replace(
        r#"flows = [{ name = "f", protocol = "copa", path = ["A", "B"] }]"#,
        r#"flows = [{ name = "copa", protocol = "copa", path = ["A", "B"] }, { name = "cubic", protocol = "cubic", path = ["A", "B"] }]"#,
    );
    let share = |sets: &[&str]| {
        let sets = [&["duration=120s", "measure.from=30s"], sets].concat();
        flow(&results(&text, &sets), "copa").goodput_bps / 20e6
    };
    let (both, default) = (share(&[]), share(&[DEFAULT_MODE]));
    assert!((0.4..1.6).contains(&both), "{both}");
    assert!(default < 0.1, "{default}");
}

#[test]
fn competing_flows_of_its_own_kind_lose_most_packets_if_they_forget_the_base_round_trip_time() {
    // Ten flows that compete keep a buffer of 40 ms full for longer than the ten seconds of RTTmin: the queueing delay then seems to be
    // zero, and the target rate is infinite.
    let lost = |sets: &[&str]| {
        let run = with_flows(10, &[&["links.L.delay=5ms"], sets].concat());
        link(&run, "L").drops as f64 / link(&run, "L").arrivals as f64
    };
    let (forgotten, kept) = (lost(&[]), lost(&["protocols.copa.params.min_rtt_window=1000s"]));
    assert!(forgotten > 0.3 && kept < 0.05, "{forgotten} {kept}");
}
