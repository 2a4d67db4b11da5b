//! What hosts do with datagrams is what they do in the simulator: with datagrams that take no time and calls that are never
//! late, both give the same numbers.

use super::{VirtualRun, ideal, planned};
use millpond_protocols::Registry;
use millpond_sim::{LinkCounters, LoopCounters, PacketNetwork};
use millpond_units::{Span, Time};

/// Everything that a network has counted: links, loops, delays in picoseconds.
fn counts(network: &PacketNetwork) -> (Vec<LinkCounters>, Vec<LoopCounters>, Vec<(u64, u128)>) {
    let delays =
        network.flows().map(|flow| flow.one_way_delays()).map(|delays| (delays.total(), delays.sum()));
    (
        network.links().map(|link| link.totals()).collect(),
        network.flows().flat_map(|flow| flow.loops().map(|one| one.totals()).collect::<Vec<_>>()).collect(),
        delays.collect(),
    )
}

fn assert_equal(text: &str) {
    let end = Time::from_secs(3.0);
    let mut simulated = planned(text);
    simulated.network.run_to(end);
    let mut live = VirtualRun::new(text);
    live.run_to(end, Span::ZERO, &mut ideal);
    assert_eq!(counts(&live.plan.network), counts(&simulated.network), "{text}");
    let counters = live.counters();
    assert!(counters.sent > 100, "{text}");
    assert_eq!(counters.accepted, counters.sent);
}

/// Two flows of a protocol over two links with an RTT of 20 ms. The protocol chooses the queues. No flow starts at the time of
/// a control interval of a link: events of one time have another order if frames come between them.
fn two_flows(protocol: &str, relays: &str) -> String {
    format!(
        r#"
        title = "two flows"
        duration = "3s"
        links = [
            {{ name = "A", between = ["S", "R"], rate = "25Mbps", delay = "5ms" }},
            {{ name = "B", between = ["R", "D"], rate = "20Mbps", delay = "5ms" }},
        ]
        flows = [
            {{ name = "first", protocol = "{protocol}", path = ["S", "R", "D"], start = "1.234us" }},
            {{ name = "second", protocol = "{protocol}", path = ["S", "R", "D"], start = "500.077ms" }},
        ]
        {relays}
        "#
    )
}

#[test]
fn every_protocol_does_with_datagrams_what_it_does_in_the_simulator() {
    for protocol in Registry::builtin().protocols() {
        assert_equal(&two_flows(protocol.card().name, ""));
    }
}

#[test]
fn relays_do_with_datagrams_what_they_do_in_the_simulator() {
    assert_equal(&two_flows("lgcc", "protocols = { lgcc = { relays = [\"R\"] } }"));
}

#[test]
fn loops_of_other_protocols_do_with_datagrams_what_they_do_in_the_simulator() {
    for [first, second] in [["cubic", "lgcc"], ["lgcc", "pledge"], ["xcp", "bbr3"]] {
        let entry = format!("{{ protocol = \"{first}\", relays = [\"R\"], loops = {{ R = \"{second}\" }} }}");
        assert_equal(&two_flows("split", &format!("protocols = {{ split = {entry} }}")));
    }
}

#[test]
fn transfers_and_delayed_acknowledgements_are_the_same() {
    assert_equal(
        r#"
        title = "transfers"
        duration = "3s"
        links = [{ name = "L", between = ["S", "D"], rate = "20Mbps", delay = "5ms", loss = "1%" }]
        flows = [
            { name = "long", protocol = "cubic", path = ["S", "D"], rtt = "20ms", delayed_acks = { packets = 2, after = "10ms" } },
            { name = "short", protocol = "newreno", path = ["S", "D"], workload = { transfers = "20KB", poisson = "40ms" } },
        ]
        "#,
    );
}

#[test]
fn transfers_through_relays_are_the_same_also_where_they_reuse_loops() {
    assert_equal(
        r#"
        title = "transfers through a relay"
        duration = "3s"
        links = [
            { name = "A", between = ["S", "R"], rate = "25Mbps", delay = "5ms" },
            { name = "B", between = ["R", "D"], rate = "20Mbps", delay = "5ms" },
        ]
        flows = [
            { name = "short", protocol = "lgcc", path = ["S", "R", "D"], start = "1.234us", workload = { transfers = "20KB", poisson = "40ms" } },
        ]
        protocols = { lgcc = { relays = ["R"] } }
        "#,
    );
}

#[test]
fn web_pages_video_and_calls_are_the_same() {
    assert_equal(
        r#"
        title = "applications"
        duration = "3s"
        links = [{ name = "L", between = ["S", "D"], rate = "20Mbps", delay = "5ms", loss = "1%" }]
        flows = [
            { name = "web", count = 3, protocol = "cubic", path = ["S", "D"], workload = { pages = { think = "100ms" } } },
            { name = "tv", protocol = "newreno", path = ["S", "D"], workload = { video = "bba-0" } },
            { name = "call", protocol = "newreno", path = ["S", "D"], workload = { call = "rfc8593" } },
        ]
        "#,
    );
}
