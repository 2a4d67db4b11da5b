//! Measured quantities are consistent with each other, and correct for known traffic.

use crate::common::{flow, fluid, link, results};
use millpond_results::{EntityKind, Run, quantity};

const PAIR: &str = r#"
title = "Two applications with rates of their own"
duration = "30s"
measure = { from = "10s", every = "500ms", jain_window = "2s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = { steps = [["0s", "10Mbps"], ["20s", "16Mbps"]] }
delay = "10ms"
[[flows]]
name = "big"
protocol = "newreno"
path = ["A", "B"]
packet = "1250B"
workload = { rate = "6Mbps" }
[[flows]]
name = "small"
protocol = "newreno"
path = ["A", "B"]
packet = "1250B"
workload = { rate = "2Mbps" }
"#;

/// Samples of a series.
fn samples<'a>(
    run: &'a Run,
    kind: EntityKind,
    entity: &str,
    quantity: &str,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let found = run.series.iter().find(|s| s.kind == kind && s.entity == entity && s.quantity == quantity);
    let series = found.expect("a series of this name");
    series.times.iter().copied().zip(series.values.iter().copied())
}

#[test]
fn goodputs_of_three_to_one_have_a_jain_index_of_four_fifths() {
    let run = results(PAIR, &[]);
    let fairness = &run.summary.fairness;
    // (3 + 1)^2 / (2 (9 + 1)) = 0.8.
    assert!(fairness.jain.is_some_and(|jain| (jain - 0.8).abs() < 1e-3), "{:?}", fairness.jain);
    assert!((fairness.min_over_max - 1.0 / 3.0).abs() < 2e-3, "{}", fairness.min_over_max);
    assert!((fairness.short_term_jain.p50 - 0.8).abs() < 2e-3, "{}", fairness.short_term_jain.p50);
    let run = results(PAIR, &["flows.small.workload.rate=4Mbps", "flows.big.workload.rate=4Mbps"]);
    assert!(run.summary.fairness.jain > Some(0.9999));
}

#[test]
fn fair_shares_are_max_min_with_the_rates_of_the_applications() {
    let converged = |sets: &[&str], name| flow(&results(PAIR, sets), name).converged_s;
    // Both have the rate of their application.
    assert_eq!(converged(&[], "big"), Some(0.0));
    // One has no limit and uses the remaining capacity.
    let bulk = ["flows.big.workload=bulk", "links.L.rate=10Mbps", "measure.converged_within=0.15"];
    assert!(converged(&bulk, "big").is_some_and(|from| from <= 4.0));
    // There is no other flow to compare with.
    assert_eq!(converged(&["flows.small.start=29s"], "big"), None);
}

#[test]
fn flows_that_share_no_link_have_no_convergence_time() {
    const TWO: &str = r#"
title = "Two separate pairs of flows"
duration = "20s"
measure = { from = "10s", jain_window = "2s", converged_within = 0.05 }
[[links]]
name = "wide"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
buffer = "unlimited"
[[links]]
name = "narrow"
between = ["C", "D"]
rate = "2Mbps"
delay = "10ms"
buffer = "unlimited"
[[flows]]
name = "fast"
protocol = "newreno"
path = ["A", "B"]
count = 2
workload = { rate = "9Mbps" }
[[flows]]
name = "slow"
protocol = "newreno"
path = ["C", "D"]
count = 2
workload = { rate = "900kbps" }
"#;
    let run = results(TWO, &[]);
    for name in ["fast.0", "fast.1", "slow.0", "slow.1"] {
        assert_eq!(flow(&run, name).converged_s, Some(0.0), "{name}");
    }
}

#[test]
fn samples_of_a_link_add_up_to_its_summary() {
    let run = results(PAIR, &[]);
    let link = link(&run, "L");
    let mean = |quantity: &str| {
        let measured: Vec<f64> = samples(&run, EntityKind::Link, "L ->", quantity)
            .filter(|(time, _)| *time > 10.0)
            .map(|(_, value)| value)
            .collect();
        assert_eq!(measured.len(), 40, "20 s in steps of 500 ms");
        measured.iter().sum::<f64>() / 40.0
    };
    // 10 Mbps for 10 s and 16 Mbps for 10 s.
    assert!((mean(quantity::CAPACITY) - 13e6).abs() < 1.0);
    assert!((link.capacity_bps - 13e6).abs() < 1.0);
    assert!((mean(quantity::THROUGHPUT) / (link.capacity_bps * link.utilization) - 1.0).abs() < 1e-3);
    assert!((link.utilization - 8.0 / 13.0).abs() < 1e-3, "{}", link.utilization);
    assert!((mean(quantity::QUEUE) / link.queue_packets.mean - 1.0).abs() < 1e-3);
}

#[test]
fn the_goodput_of_a_flow_integrates_to_what_it_delivered() {
    let run = results(PAIR, &[]);
    for transfer in &run.transfers {
        let bits: f64 = samples(&run, EntityKind::Flow, &transfer.name, quantity::GOODPUT)
            .map(|(_, rate)| rate * 0.5)
            .sum();
        assert!((bits / 8.0 - transfer.delivered_bytes as f64).abs() < 1.0, "{}: {bits}", transfer.name);
    }
}

/// A flow that stops at 5.2 s, within an interval of half a second, and one that goes on.
const STOPS: &str = r#"
duration = "10s"
measure = { every = "500ms" }
links = [{ name = "L", between = ["A", "B"], rate = "10Mbps", delay = "100ms", buffer = "100packets" }]
flows = [
    { name = "stops", protocol = "newreno", path = ["A", "B"], stop = "5.2s" },
    { name = "stays", protocol = "newreno", path = ["A", "B"] },
]
"#;

#[test]
fn a_stopped_flow_has_rates_until_its_last_data_have_arrived_and_a_window_while_it_runs() {
    for run in [results(STOPS, &[]), fluid(STOPS, &[])] {
        let world = run.summary.world.as_str();
        let times = |quantity: &str| -> Vec<f64> {
            samples(&run, EntityKind::Flow, "stops", quantity).map(|(time, _)| time).collect()
        };
        // At 10 Mbit/s 100 packets wait for 120 ms, and propagate for 100 ms: what was sent last is there before 5.5 s, unless it
        // is lost and sent again.
        let last = *times(quantity::GOODPUT).last().unwrap();
        assert!((5.5..=6.5).contains(&last), "{world}: {last}");
        assert_eq!(times(quantity::GOODPUT), times(quantity::SEND_RATE), "{world}");
        for quantity in [quantity::WINDOW, quantity::RTT] {
            assert_eq!(times(quantity).last(), Some(&5.0), "{world}: {quantity}");
        }
        let rates = samples(&run, EntityKind::Flow, "stops", quantity::GOODPUT);
        let bits: f64 = rates.map(|(_, rate)| rate * 0.5).sum();
        let delivered = run.transfers.iter().find(|t| t.name == "stops").unwrap().delivered_bytes as f64;
        assert!((bits / 8.0 - delivered).abs() < 1.0 + 1e-6 * delivered, "{world}: {bits} {delivered}");
        let stays = samples(&run, EntityKind::Flow, "stays", quantity::WINDOW).last();
        assert_eq!(stays.map(|(time, _)| time), Some(10.0), "{world}");
    }
}

/// A flow stops at 3 s. Its relay holds what the first link carries beyond the capacity of the second one, a sixth of all.
const STOPS_BEFORE_ITS_RELAY: &str = r#"
duration = "6s"
measure = { every = "500ms" }
links = [
    { name = "first", between = ["A", "R"], rate = "12Mbps", delay = "10ms", buffer = "unlimited" },
    { name = "second", between = ["R", "B"], rate = "10Mbps", delay = "10ms", buffer = "unlimited" },
]
flows = [{ name = "f", protocol = "split", path = ["A", "R", "B"], stop = "3s" }]
[protocols.split]
protocol = "xcp"
relays = ["R"]
relay_buffer = "unlimited"
"#;

#[test]
fn a_relay_sends_what_it_holds_when_its_flow_has_stopped() {
    for sets in [&[][..], &["protocols.split.aggregate=[\"R\"]"]] {
        for run in [results(STOPS_BEFORE_ITS_RELAY, sets), fluid(STOPS_BEFORE_ITS_RELAY, sets)] {
            let world = run.summary.world.as_str();
            let last = samples(&run, EntityKind::Flow, "f", quantity::GOODPUT).last().unwrap().0;
            assert!((3.5..=4.5).contains(&last), "{world}: {last}");
            let sent = flow(&run, "f").sent as f64 * 1500.0;
            let delivered = run.transfers[0].delivered_bytes as f64;
            assert!((delivered / sent - 1.0).abs() < 0.02, "{world}: {delivered} of {sent}");
        }
    }
}

#[test]
fn a_flow_is_measured_between_its_start_and_its_stop() {
    let sets = ["flows.small.start=12s", "flows.small.stop=18s"];
    let run = results(PAIR, &sets);
    let small = flow(&run, "small");
    assert_eq!((small.start_s, small.stop_s), (12.0, 18.0));
    assert!((small.goodput_bps / 2e6 - 1.0).abs() < 0.01, "{}", small.goodput_bps);
    let times: Vec<f64> =
        samples(&run, EntityKind::Flow, "small", quantity::GOODPUT).map(|(time, _)| time).collect();
    assert_eq!(times.first(), Some(&12.5), "nothing is said of a flow that has not started");
    // Two flows in the windows from 12 to 18 s, one flow alone in all others.
    let jain: Vec<f64> = samples(&run, EntityKind::Group, "all", quantity::JAIN)
        .filter(|(_, j)| !j.is_nan())
        .map(|(time, _)| time)
        .collect();
    assert_eq!(jain, [14.0, 16.0, 18.0]);
}
