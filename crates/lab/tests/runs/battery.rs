//! Properties of every registered protocol: runs of several of its flows on one bottleneck.

use crate::common::{link, results};
use millpond_protocols::Registry;

const DUEL: &str = r#"
title = "A latecomer joins one of its own kind"
duration = "40s"
measure = { from = "20s", every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "40Mbps"
delay = "15ms"
buffer = "1bdp"
[[flows]]
name = "first"
protocol = "newreno"
path = ["A", "B"]
[[flows]]
name = "late"
protocol = "newreno"
path = ["A", "B"]
start = "10s"
"#;

/// One bandwidth-delay product at 40 Mbps and 30 ms, in packets of 1500 B.
const BUFFER: f64 = 100.0;

/// Protocols that need longer than that to converge, and why.
const SLOW: &[(&str, &[&str])] = &[
    // Seven cycles until rates are fair, 49 s each: two flows increase by .49 * 40 Mbit/s in steps of 80 kbit/s per 400 ms.
    ("mcp", &["duration=420s", "measure.from=390s"]),
];

/// Protocols whose defaults are for a data centre: their target of the round-trip time is below that of the other paths. 250
/// times the rate, a three-thousandth of the delay.
const DATA_CENTRE: &[&str] = &["swift", "timely", "timely-patched"];

const DATA_CENTRE_PATH: &[&str] = &[
    "links.L.rate=10Gbps",
    "links.L.delay=5us",
    "links.L.buffer=100packets",
    "duration=120ms",
    "measure.from=60ms",
    "measure.every=100us",
    "flows.late.start=10ms",
];

fn each_protocol(check: impl Fn(&str, &millpond_results::Run)) {
    for protocol in Registry::builtin().protocols() {
        let name = protocol.card().name;
        let named = ["first", "late"].map(|flow| format!("flows.{flow}.protocol={name}"));
        let patience =
            SLOW.iter().filter(|(slow, _)| *slow == name).flat_map(|(_, sets)| sets.iter().copied());
        let path = if DATA_CENTRE.contains(&name) { DATA_CENTRE_PATH } else { &[] };
        let sets: Vec<&str> =
            named.iter().map(String::as_str).chain(patience).chain(path.iter().copied()).collect();
        check(name, &results(DUEL, &sets));
    }
}

#[test]
fn no_protocol_exceeds_the_capacity_or_the_buffer() {
    each_protocol(|name, run| {
        for link in &run.summary.links {
            assert!(link.utilization <= 1.0, "{name}: {}", link.utilization);
            assert!(link.queue_packets.max <= BUFFER, "{name}: {}", link.queue_packets.max);
        }
        let goodput: f64 = run.summary.flows.iter().map(|flow| flow.goodput_bps).sum();
        assert!(goodput <= link(run, "L").capacity_bps * 1.0001, "{name}: {goodput}");
    });
}

#[test]
fn every_protocol_fills_a_steady_link() {
    each_protocol(|name, run| {
        let utilization = link(run, "L").utilization;
        assert!(utilization > 0.9, "{name}: {utilization}");
    });
}

#[test]
fn no_flow_starves_beside_a_flow_of_the_same_protocol() {
    each_protocol(|name, run| {
        let shares: Vec<f64> = run
            .summary
            .flows
            .iter()
            .map(|flow| flow.goodput_bps / (link(run, "L").capacity_bps / 2.0))
            .collect();
        assert!(shares.iter().all(|share| *share > 0.4), "{name}: {shares:?}");
    });
}

#[test]
fn series_and_distributions_have_possible_values_only() {
    each_protocol(|name, run| {
        for series in &run.series {
            assert_eq!(series.times.len(), series.values.len());
            assert!(series.times.windows(2).all(|pair| pair[0] < pair[1]), "{name}: {}", series.quantity);
            let finite = |value: &f64| value.is_finite() || value.is_nan();
            assert!(series.values.iter().all(finite), "{name}: {} of {}", series.quantity, series.entity);
        }
        for distribution in &run.distributions {
            let growing = |pair: &[(f64, f64)]| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1;
            assert!(distribution.points.windows(2).all(growing), "{name}: {}", distribution.entity);
            assert_eq!(distribution.points.last().map(|point| point.0), Some(1.0));
        }
    });
}
