//! What the summary says of single flows and loops.

use crate::common::{flow, fluid, mean, near, results, series};
use millpond_results::{Comparison, findings};

/// On the way of `far` every tenth packet is lost. NewReno then has at most sqrt(3 / (2 p)) packets per round trip (Mathis
/// et al. 1997), of 120 ms with an empty queue: .39 Mbit/s, and its fair share is half of 100 Mbit/s.
const LOSSY: &str = r#"
title = "One of two paths loses packets"
duration = "30s"
measure = { from = "5s" }
[[links]]
name = "radio"
between = ["A", "B"]
rate = "200Mbps"
delay = "1ms"
loss = 0.1
[[links]]
name = "L"
between = ["B", "C"]
rate = "100Mbps"
delay = "1ms"
buffer = "100packets"
[[flows]]
name = "near"
protocol = "newreno"
path = ["B", "C"]
rtt = "20ms"
[[flows]]
name = "far"
protocol = "newreno"
path = ["A", "B", "C"]
rtt = "120ms"
"#;

#[test]
fn a_flow_with_less_than_a_tenth_of_its_fair_share_starves() {
    let run = results(LOSSY, &[]);
    let (near, far) = (flow(&run, "near"), flow(&run, "far"));
    let fair = |flow: &millpond_results::Flow| flow.fair_share_bps.unwrap();
    // Half of what both deliver: the fair share is scaled by the utilization.
    assert!((fair(near) - fair(far)).abs() < 1e-3 * fair(near));
    assert!(2.0 * fair(far) <= 100e6 && far.goodput_bps < 0.1 * fair(far), "{far:?}");
    let starving: Vec<u64> = run.summary.groups.iter().map(|group| group.starving).collect();
    assert_eq!(starving, [0, 1]);
    assert!(findings(&run.summary)[0].starts_with("flow \"far\" starves: "));
    let without_loss = results(LOSSY, &["links.radio.loss=0", "flows.far.rtt=20ms"]);
    assert!(without_loss.summary.groups.iter().all(|group| group.starving == 0));
}

const CHAIN: &str = r#"
title = "Two loops"
duration = "20s"
measure = { from = "10s" }
[[links]]
name = "near"
between = ["A", "R"]
rate = "80Mbps"
delay = "5ms"
[[links]]
name = "far"
between = ["R", "B"]
rate = "40Mbps"
delay = "20ms"
[[flows]]
name = "f"
protocol = "lgcc"
path = ["A", "R", "B"]
[protocols.lgcc]
relays = ["R"]
"#;

/// No acknowledgement comes from the destination, so that the flow has neither a round-trip time nor a window. Each loop
/// has: twice the delay of its link and more, and by Little's law at least that many packets at 40 Mbit/s. The fluid LGCC
/// has a rate and no window.
#[test]
fn a_flow_with_relays_has_round_trip_times_and_windows_of_its_loops_only() {
    const END_TO_END: &[&str] = &["protocols.lgcc.relays=[]"];
    let packets = [results(CHAIN, &[]), results(CHAIN, END_TO_END)];
    let equations = [fluid(CHAIN, &[]), fluid(CHAIN, END_TO_END)];
    for ([relayed, alone], has_window) in [(packets, true), (equations, false)] {
        let (chain, alone) = (flow(&relayed, "f"), flow(&alone, "f"));
        assert_eq!((chain.rtt_ms, chain.window_packets), (None, None));
        let names: Vec<&str> = chain.loops.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["f/loop1", "f/loop2"]);
        for (one, base) in chain.loops.iter().zip([10.0, 40.0]) {
            assert!(one.rtt_ms.mean >= base && one.rtt_ms.mean < base + 20.0, "{one:?}");
            let in_flight = chain.send_rate_bps * 1e-3 * base / 12e3;
            let window = one.window_packets.map(|window| window > 0.9 * in_flight);
            assert_eq!(window, has_window.then_some(true), "{one:?} {in_flight}");
        }
        assert!(alone.loops.is_empty() && alone.window_packets.is_some() == has_window);
        assert!(alone.rtt_ms.unwrap().mean >= 50.0);
    }
}

/// A flow with a constant rate: the delay from end to end is that of both links and that of the relay, whose delay is its
/// backlog over the rate (Little's law).
#[test]
fn the_delay_at_a_relay_is_what_links_do_not_explain_in_both_worlds() {
    const TIME: (f64, f64) = (10.0, 20.0);
    for run in [results(CHAIN, &[]), fluid(CHAIN, &[])] {
        let of = |entity: &str, quantity: &str| mean(series(&run, entity, quantity), TIME);
        let delay = |entity: &str| of(entity, "queueing delay");
        let (relay, whole) = (delay("f@R"), delay("f"));
        assert!(relay > 0.05 * whole, "{relay} of {whole} ms");
        let parts = delay("near ->") + delay("far ->") + relay;
        assert!(near(parts, whole, 0.05), "{parts} is not {whole} ms in {}", run.summary.world);
        let by_backlog = of("f@R", "backlog") * 12e3 / of("f", "goodput") * 1e3;
        assert!(near(relay, by_backlog, 0.1), "{relay} is not {by_backlog} ms in {}", run.summary.world);
    }
}

/// The other flow has all of the goodput: Jain's index of both would be 1/2, and the least goodput zero. One flow has no
/// index.
#[test]
fn a_flow_that_never_starts_takes_no_part_in_comparisons_of_goodputs() {
    let late = ["flows.far.start=40s", "flows.near.rtt=20ms"];
    for run in [results(LOSSY, &late), fluid(LOSSY, &[late[0], late[1], "links.radio.loss=none"])] {
        assert_eq!(run.summary.fairness.jain, None, "{}", run.summary.world);
        let goodput = flow(&run, "near").goodput_bps;
        let row = &Comparison::of(std::slice::from_ref(&run)).rows[0];
        assert_eq!([row.least_goodput_bps.mean, row.flow_goodput_bps.mean], [goodput, goodput]);
        assert_eq!(row.jain, None);
        let warnings = run.summary.warnings.join("; ");
        assert!(warnings.contains("\"far\" never starts"), "{warnings}");
    }
}

/// Without processing times and losses, the one-way delay of a packet is its queueing delay plus 4 ms of propagation and the
/// service of 1500 bytes at 10 and at 20 Mbit/s, also through a relay.
#[test]
fn a_one_way_delay_is_queueing_plus_service_plus_propagation() {
    const TWO_LINKS: &str = r#"
title = "Two links"
duration = "20s"
measure = { from = "5s" }
hosts = { jitter = "0s" }
[[links]]
name = "one"
between = ["A", "B"]
rate = "10Mbps"
delay = "3ms"
buffer = "unlimited"
[[links]]
name = "two"
between = ["B", "C"]
rate = "20Mbps"
delay = "1ms"
buffer = "unlimited"
[[flows]]
name = "f"
protocol = "vegas"
path = ["A", "B", "C"]
packet = "1500B"
"#;
    let lgcc = ["flows.f.protocol=lgcc", "protocols.lgcc.relays=[\"B\"]"];
    for sets in [&[][..], &lgcc] {
        let run = results(TWO_LINKS, sets);
        let flow = flow(&run, "f");
        assert!(flow.delivered > 1000 && flow.lost == 0, "{flow:?}");
        let (one_way, expected) = (flow.one_way_ms.unwrap(), 4.0 + 1.2 + 0.6);
        assert!((one_way.mean - flow.queueing_ms.mean - expected).abs() < 1e-6, "{one_way:?}");
        assert!(one_way.min >= expected - 1e-9, "{one_way:?}");
        assert_eq!(run.summary.groups[0].one_way_ms.unwrap(), one_way);
    }
}
