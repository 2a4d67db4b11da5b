//! `[endpoint]`: timers and thresholds of RFC 9002 as a scenario sets them.

#![allow(clippy::unwrap_used, reason = "helpers fail as tests do")]

use millpond_endpoint::{SenderConfig, SenderCounters};
use millpond_law::Needs;
use millpond_plan::packets::plan;
use millpond_protocols::Registry;
use millpond_scenario::{Disk, Faults, Scenario};
use millpond_units::{Bytes, Time};
use std::path::Path;

/// A link that serves nothing before 10 s.
const DEAD: &str = r#"
title = "a path that is down"
duration = "20s"
hosts = { jitter = "0s" }
links = [{ name = "L", between = ["A", "B"], rate = { steps = [["0s", "0bps"], ["10s", "20Mbps"]] }, delay = "40ms", buffer = "500packets" }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"] }]
"#;

fn parse(text: &str, sets: &[&str]) -> Result<Scenario, Faults> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(text, "test.toml", Path::new(""), &sets, &Disk)
}

/// Counters of the sender after 9 s.
fn counters(text: &str, sets: &[&str]) -> SenderCounters {
    let mut plan = plan(&parse(text, sets).unwrap(), &Registry::builtin()).unwrap();
    plan.network.run_to(Time::from_secs(9.0));
    let flow = plan.flows[0].id;
    *plan.network.flow(flow).first().sender().counters()
}

#[test]
fn the_defaults_are_those_of_the_endpoint() {
    let endpoint = parse(DEAD, &[]).unwrap().endpoint;
    let default = SenderConfig::new(Bytes::new(1500), Needs::default());
    assert_eq!(endpoint.initial_rtt, default.initial_rtt);
    assert_eq!(endpoint.granularity, default.granularity);
    assert_eq!(endpoint.min_probe_timeout, default.min_probe_timeout);
    assert_eq!(endpoint.max_probe_timeout, default.max_probe_timeout);
    assert_eq!(endpoint.probes_per_timeout, default.probes_per_timeout);
    assert_eq!(endpoint.packet_threshold, default.packet_threshold);
}

/// Before the first sample the variation is half of the round-trip time r (RFC 9002, section 5.3), so that the first probe
/// timeout is r + max(4 r / 2, granularity). It doubles with each timeout.
#[test]
fn probes_leave_at_the_times_of_the_closed_form() {
    let timeouts = |sets: &[&str]| counters(DEAD, sets).probe_timeouts;
    // At 1.0, 3.0, 7.0 s; at 0.3, 0.9, 2.1, 4.5 s; at 1.1, 3.3, 7.7 s; at 2, 6 s; at 0.3 s, then every 0.5 s until 8.8 s.
    assert_eq!(timeouts(&[]), 3);
    assert_eq!(timeouts(&["endpoint.initial_rtt=100ms"]), 4);
    assert_eq!(timeouts(&["endpoint.initial_rtt=100ms", "endpoint.granularity=1s"]), 3);
    assert_eq!(timeouts(&["endpoint.initial_rtt=100ms", "endpoint.min_probe_timeout=2s"]), 2);
    assert_eq!(timeouts(&["endpoint.initial_rtt=100ms", "endpoint.max_probe_timeout=500ms"]), 18);
}

#[test]
fn one_or_two_packets_leave_at_a_timeout() {
    let sent =
        |probes: &str| counters(DEAD, &[&format!("endpoint.probes_per_timeout={probes}")]).sent_packets;
    assert_eq!(sent("2") - sent("1"), 3);
}

/// A packet is overtaken by up to five others and so is its acknowledgement; both are late by 6 ms at most, less than the
/// eighth of the round-trip time at which RFC 9002 declares a loss by time.
#[test]
fn a_larger_packet_threshold_tolerates_reordering() {
    let reordered =
        ["links.L.rate=20Mbps", "links.L.jitter=3ms", "links.L.reorder=true", "flows.f.protocol=vegas"];
    let spurious = |threshold: &str| {
        let threshold = format!("endpoint.packet_threshold={threshold}");
        counters(DEAD, &[&reordered[..], &[&threshold]].concat()).spurious_losses
    };
    assert!(spurious("3") > 10, "{}", spurious("3"));
    assert_eq!(spurious("20"), 0);
}

#[test]
fn bounds_that_contradict_each_other_are_refused_with_their_line() {
    let faults_of = |endpoint: &str| {
        let text = format!("endpoint = {{ {endpoint} }}{DEAD}");
        parse(&text, &[]).unwrap_err().to_string()
    };
    let faults = faults_of("min_probe_timeout = \"2s\", max_probe_timeout = \"1s\"");
    assert!(
        faults.contains("test.toml:1") && faults.contains("at most 1s between two probes, but at least 2s"),
        "{faults}"
    );
    // The default of the longest time is compared as well.
    let faults = faults_of("min_probe_timeout = \"120s\"");
    assert!(faults.contains("at most 1min between two probes, but at least 2min"), "{faults}");
}
