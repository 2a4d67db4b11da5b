//! Measured quantities are consistent with each other, and correct for known traffic.

use crate::common::{flow, fluid, link, results, scenario};
use millpond_lab::fair_shares;
use millpond_protocols::Registry;
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

/// Its application produces 3 Mbit/s for a second of each twenty, which is 150 kbit/s.
#[test]
fn an_application_that_pauses_starves_only_if_it_receives_less_than_it_produces() {
    let bursts = ["flows.big.workload=bulk", "links.L.rate=10Mbps", "duration=60s", "measure.from=20s"];
    let sets =
        [&bursts[..], &["flows.small.workload={ rate = \"3Mbps\", on = \"1s\", off = \"19s\" }"]].concat();
    let run = results(PAIR, &sets);
    let small = flow(&run, "small");
    let fair = small.fair_share_bps.unwrap();
    assert!((fair / 150e3 - 1.0).abs() < 0.05 && (small.goodput_bps / 150e3 - 1.0).abs() < 0.05, "{small:?}");
    assert!(run.summary.groups.iter().all(|group| group.starving == 0));
    // The series of the charts has the same shares, to a packet: 1.5 Mbit in the first half second of a burst, nothing between bursts.
    let shares = fair_shares(&scenario(PAIR, &sets), &Registry::builtin(), &run);
    let small = shares.iter().find(|series| series.entity == "small").unwrap();
    for (at, bits) in [(40.5, 1.5e6), (35.0, 0.0)] {
        let place = small.times.iter().position(|time| *time == at).unwrap();
        assert!((0.5 * small.values[place] - bits).abs() <= 10e3, "{at}: {}", small.values[place]);
    }
    // Packets of the other flow are always served first.
    let last =
        [&sets[..], &["links.L.scheduler=priority", "links.L.buffer=4bdp", "flows.big.weight=2"]].concat();
    let starving: Vec<u64> = results(PAIR, &last).summary.groups.iter().map(|group| group.starving).collect();
    assert_eq!(starving, [0, 1]);
}

/// Alone, two packets of 1500 bytes on 1 Mbit/s with a delay of 2 s arrive after 2.024 s: 11.9 kbit/s.
#[test]
fn a_transfer_has_a_fair_share_of_at_most_its_size_over_its_shortest_completion_time() {
    const FAR: &str = r#"
duration = "600s"
measure.from = "400s"
links = [{ name = "L", between = ["A", "B"], rate = "1Mbps", delay = "2s" }]
flows = [
  { name = "bulk", protocol = "newreno", path = ["A", "B"] },
  { name = "short", protocol = "newreno", path = ["A", "B"], start = "500s", workload = { size = "3000B" } },
]
"#;
    let run = results(FAR, &[]);
    let (bulk, short) = (flow(&run, "bulk"), flow(&run, "short"));
    assert!(bulk.goodput_bps > 0.99e6, "{bulk:?}");
    assert!((short.fair_share_bps.unwrap() / (24e3 / 2.024) - 1.0).abs() < 0.01, "{short:?}");
    assert!(run.summary.groups.iter().all(|group| group.starving == 0));
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

/// Windows of 2 s: there are two flows in the whole of that from 14 to 16 s alone, whether the second one stops at 17 s or has 2.5 MB,
/// which take 3 s at two thirds of the link and 5 s at the 4 Mbit/s that the first one leaves.
#[test]
fn a_flow_counts_in_the_windows_of_fairness_in_the_whole_of_which_it_runs() {
    for end in ["flows.small.stop=17s", "flows.small.workload={ size = \"2.5MB\" }"] {
        let run = results(PAIR, &["flows.small.start=13s", end]);
        let stop = flow(&run, "small").stop_s;
        assert!(16.0 < stop && stop < 18.0, "{end}: {stop}");
        let windows = samples(&run, EntityKind::Group, "all", quantity::JAIN);
        let of_two: Vec<f64> = windows.filter_map(|(end, index)| (!index.is_nan()).then_some(end)).collect();
        assert_eq!(of_two, [16.0], "{end}");
    }
}

/// Intervals of 500 ms. A flow that starts at 12.3 s sends at its rate for the 200 ms that are left: 40 packets of 10,000 bits with
/// their headers, one more or less.
#[test]
fn the_rates_of_the_first_interval_are_means_over_the_time_in_which_the_flow_ran() {
    let run = results(PAIR, &["flows.small.start=12.3s"]);
    let (time, rate) = samples(&run, EntityKind::Flow, "small", quantity::SEND_RATE).next().unwrap();
    assert_eq!(time, 12.5);
    assert!((rate / 2e6 - 1.0).abs() < 0.06, "{rate}");
}

/// In the interval from 12 to 12.5 s there are two flows if the second one runs in its middle.
#[test]
fn a_flow_has_a_fair_share_in_the_intervals_in_the_middle_of_which_it_runs() {
    let first = |start: &str| {
        let sets = [start];
        let run = results(PAIR, &sets);
        let shares = fair_shares(&scenario(PAIR, &sets), &Registry::builtin(), &run);
        let small = shares.iter().find(|series| series.entity == "small").unwrap();
        small
            .times
            .iter()
            .zip(&small.values)
            .find(|(_, share)| !share.is_nan())
            .map(|(time, share)| (*time, *share))
    };
    assert_eq!(first("flows.small.start=12.2s"), Some((12.5, 2e6)), "its application has 2 Mbit/s");
    assert_eq!(first("flows.small.start=12.3s"), Some((13.0, 2e6)));
}

/// 250 of 1250 bytes are headers: the goodput is four fifths of the sending rate, but for losses and what is under way.
#[test]
fn a_goodput_counts_no_headers_in_either_world() {
    const HEADERS: &str = r#"
duration = "30s"
measure.from = "10s"
links = [{ name = "L", between = ["A", "B"], rate = "10Mbps", delay = "10ms", buffer = "50packets", queue = "red" }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"], packet = "1250B", overhead = "250B" }]
"#;
    for run in [results(HEADERS, &[]), fluid(HEADERS, &[])] {
        let flow = flow(&run, "f");
        let share = flow.goodput_bps / flow.send_rate_bps;
        assert!((share / 0.8 - 1.0).abs() < 0.02, "{}: {share}", run.summary.world);
    }
}

/// One flow over its own link, and three over another one. The first one starts in the middle of the measured time.
const TWO_LINKS: &str = r#"
duration = "40s"
measure.from = "10s"
links = [
  { name = "L", between = ["A", "B"], rate = "10Mbps", delay = "10ms", buffer = "100packets", queue = "red" },
  { name = "M", between = ["C", "D"], rate = "4Mbps", delay = "10ms", buffer = "100packets", queue = "red" },
]
flows = [
  { name = "one", protocol = "newreno", path = ["A", "B"], start = "25s" },
  { name = "three", protocol = "newreno", path = ["C", "D"], count = 3 },
]
"#;

#[test]
fn the_delay_of_all_flows_is_the_mean_over_their_packets() {
    for run in [results(TWO_LINKS, &[]), fluid(TWO_LINKS, &[])] {
        let weighted = |value: fn(&millpond_results::Flow) -> f64| {
            run.summary.flows.iter().map(|flow| flow.delivered as f64 * value(flow)).sum::<f64>()
        };
        let mean = weighted(|flow| flow.queueing_ms.mean) / weighted(|_| 1.0);
        let found = run.summary.queueing_ms.mean;
        assert!((found / mean - 1.0).abs() < 1e-3, "{}: {found}, not {mean}", run.summary.world);
    }
}

/// All packets of the flow pass one queue, which is empty for half of the measured time.
#[test]
fn the_delay_of_a_link_is_that_of_its_packets_and_not_of_its_time() {
    for run in [results(TWO_LINKS, &[]), fluid(TWO_LINKS, &[])] {
        let (link, flow) = (link(&run, "L").queueing_ms.mean, flow(&run, "one").queueing_ms.mean);
        assert!((link / flow - 1.0).abs() < 0.05, "{}: {link} and {flow}", run.summary.world);
    }
}

/// A flow fills a buffer of ten packets and stops before the measured time.
#[test]
fn counters_of_a_link_are_those_of_the_measured_time_and_drops_also_of_the_whole_run() {
    const EARLY: &str = r#"
duration = "6s"
measure.from = "4s"
links = [{ name = "L", between = ["A", "B"], rate = "10Mbps", delay = "10ms", buffer = "10packets" }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"], stop = "2s" }]
"#;
    let run = results(EARLY, &[]);
    let link = link(&run, "L");
    assert_eq!((link.arrivals, link.drops, link.utilization), (0, 0, 0.0));
    assert!(link.drops_total > 0);
}

/// The sample at the beginning of the measured time belongs to the time before it.
#[test]
fn the_mean_window_is_that_of_the_samples_after_the_beginning_of_the_measured_time() {
    const ONE: &str = r#"
duration = "4s"
measure = { from = "1s", every = "1s" }
links = [{ name = "L", between = ["A", "B"], rate = "10Mbps", delay = "50ms", buffer = "1bdp" }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"], count = 2 }]
"#;
    for run in [results(ONE, &[]), fluid(ONE, &["links.L.queue=red"])] {
        let windows: Vec<f64> = samples(&run, EntityKind::Flow, "f.0", quantity::WINDOW)
            .filter_map(|(time, window)| (time > 1.5).then_some(window))
            .collect();
        assert_eq!(windows.len(), 3);
        let mean = windows.iter().sum::<f64>() / 3.0;
        let found = flow(&run, "f.0").window_packets.unwrap();
        assert!((found / mean - 1.0).abs() < 1e-12, "{}: {found}, not {mean}", run.summary.world);
    }
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

/// At the end of the run the relay still holds half a megabit or more: a sixth of what arrives in 3 s.
#[test]
fn what_a_relay_holds_at_the_end_is_not_dropped() {
    let run = results(STOPS_BEFORE_ITS_RELAY, &["duration=3s"]);
    let relay = &run.summary.relays[0];
    assert!(relay.queue_packets.max > 0.5e6 / 12_000.0, "{relay:?}");
    assert_eq!(relay.dropped, 0);
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
