//! From a scenario to a network: whose queue a link has, how large its buffer is, where a flow is cut.

use crate::common::{link, results, scenario};
use millpond_plan::packets::plan;
use millpond_protocols::Registry;

const LINE: &str = r#"
title = "A line"
duration = "10s"
measure = { from = "2s" }
[[links]]
name = "L1"
between = ["A", "R"]
rate = "100Mbps"
delay = "5ms"
[[links]]
name = "L2"
between = ["R", "B"]
rate = "12Mbps"
delay = "15ms"
buffer = "2bdp"
[[flows]]
name = "one"
protocol = "dctcp"
path = ["A", "R", "B"]
[[flows]]
name = "two"
protocol = "dctcp"
path = ["A", "R", "B"]
rtt = "80ms"
"#;

fn complaint(sets: &[&str]) -> String {
    let faults = plan(&scenario(LINE, sets), &Registry::builtin()).err().expect("it is refused");
    faults.to_string()
}

#[test]
fn a_link_has_its_own_queue_else_the_entrys_else_the_protocols_default() {
    let marks = |text: &str| link(&results(text, &[]), "L2").marks;
    // DCTCP's own queue marks; a plain drop-tail queue never does.
    assert!(marks(LINE) > 0);
    let entry = format!("{LINE}[protocols.dctcp]\nqueue = \"droptail\"\n");
    assert_eq!(marks(&entry), 0);
    let own = entry.replace("\"2bdp\"", "\"2bdp\"\nqueue = { red = { preset = \"dctcp-step\" } }");
    assert!(marks(&own) > 0);
}

#[test]
fn a_group_that_never_starts_is_told_of() {
    let warnings = |start: &str| {
        let sets = [format!("flows.two.start={start}")];
        plan(&scenario(LINE, &sets.each_ref().map(String::as_str)), &Registry::builtin())
            .map(|plan| plan.warnings().to_vec())
            .unwrap_or_default()
    };
    assert_eq!(warnings("9s"), Vec::<String>::new());
    assert_eq!(warnings("10s"), ["\"two\" never starts: the run ends at 10s"]);
}

#[test]
fn spawned_transfers_do_not_share_a_loop_and_are_told_what_to_do() {
    let entry = "protocols.lgcc={ relays = [\"R\"], aggregate = [\"R\"] }";
    let mice = "flows.two.workload={ transfers = \"10KB\", poisson = \"100ms\" }";
    let both = ["flows.one.protocol=lgcc", "flows.two.protocol=lgcc", entry, mice];
    let complaint = complaint(&both);
    for word in
        ["transfers of \"two\"", "the loop that begins at \"R\"", "test.toml:21", "protocol = \"lgcc\""]
    {
        assert!(complaint.contains(word), "{word} is missing in:\n{complaint}");
    }
    let apart =
        [&both[..], &["flows.two.protocol=own", "protocols.own={ protocol = \"lgcc\", relays = [\"R\"] }"]];
    assert!(plan(&scenario(LINE, &apart.concat()), &Registry::builtin()).is_ok());
}

#[test]
fn protocols_that_disagree_about_a_shared_queue_are_asked_to_settle_it() {
    let complaint = complaint(&["flows.two.protocol=newreno"]);
    for word in ["\"L1\"", "dctcp wants red", "newreno wants droptail", "links.L1.queue"] {
        assert!(complaint.contains(word), "{word} is missing in:\n{complaint}");
    }
    let settled = ["flows.two.protocol=newreno", "links.L1.queue=droptail", "links.L2.queue=droptail"];
    assert!(plan(&scenario(LINE, &settled), &Registry::builtin()).is_ok());
}

#[test]
fn a_link_is_a_router_of_one_set_of_parameters_per_protocol() {
    let entries = |params: &str| {
        format!(
            "{LINE}[protocols.quick]\nprotocol = \"abc\"\nparams = {params}\n[protocols.usual]\nprotocol = \"abc\"\n"
        )
    };
    let sets = ["flows.one.protocol=quick", "flows.two.protocol=usual"];
    let plan = |text: &str| plan(&scenario(text, &sets), &Registry::builtin());
    assert!(plan(&entries("{}")).is_ok(), "the same parameters under two names are no contradiction");
    let complaint = plan(&entries("{ eta = 0.9 }")).err().expect("it is refused").to_string();
    assert!(complaint.contains("quick and usual"), "{complaint}");
}

#[test]
fn a_buffer_in_bandwidth_delay_products_takes_the_mean_base_rtt_of_the_flows() {
    // Base RTTs of 40 and 80 ms: 2 x 12 Mbps x 60 ms = 180 KB = 120 packets of 1500 B. CUBIC fills what there is.
    let run = results(LINE, &["flows.one.protocol=cubic", "flows.two.protocol=cubic"]);
    assert_eq!(link(&run, "L2").queue_packets.max, 120.0);
}

#[test]
fn base_round_trip_times_are_drawn_from_their_range_and_one_flow_more_changes_no_other() {
    let least_rtts = |count: &str| {
        let sets = [
            &format!("flows.two.count={count}"),
            "flows.two.rtt={ uniform = [\"60ms\", \"100ms\"] }",
            // A packet every 400 ms each, at moments of their own: none waits for another.
            "flows.two.start={ first = \"10ms\", every = \"13ms\" }",
            "flows.two.workload={ rate = \"30kbps\" }",
            "flows.one.workload={ rate = \"30kbps\" }",
        ];
        let run = results(LINE, &sets);
        run.summary.flows[1..].iter().map(|flow| flow.rtt_ms.min).collect::<Vec<_>>()
    };
    let ten = least_rtts("10");
    // Above the base: 1.12 ms of service of a packet, 30 us of its acknowledgement.
    assert!(ten.iter().all(|rtt| (61.1..101.3).contains(rtt)), "{ten:?}");
    assert!(ten.iter().any(|rtt| *rtt > 85.0) && ten.iter().any(|rtt| *rtt < 75.0), "{ten:?}");
    let eleven = least_rtts("11");
    assert!(ten.iter().zip(&eleven).all(|(one, other)| (one - other).abs() < 1e-3), "{eleven:?}");
}

#[test]
fn a_protocol_that_lives_on_relays_says_when_it_has_none() {
    let lgcc = ["flows.one.protocol=lgcc", "flows.two.protocol=lgcc"];
    let run = results(LINE, &lgcc);
    assert!(
        run.summary.warnings.iter().any(|warning| warning.contains("names no relays")),
        "{:?}",
        run.summary.warnings
    );
    assert!(run.summary.relays.is_empty());
}

#[test]
fn a_flow_is_cut_into_loops_at_its_protocols_relays() {
    let text = format!("{LINE}[protocols.lgcc]\nrelays = [\"R\"]\n");
    let run = results(&text, &["flows.one.protocol=lgcc", "flows.two.protocol=lgcc"]);
    let relays: Vec<_> =
        run.summary.relays.iter().map(|relay| (relay.name.as_str(), relay.dropped)).collect();
    assert_eq!(relays, [("one@R", 0), ("two@R", 0)]);
    for entity in ["one/loop1", "one/loop2"] {
        assert!(
            run.series.iter().any(|s| s.entity == entity && s.quantity == "carrying capacity"),
            "{entity}"
        );
    }
    assert!(!run.summary.warnings.iter().any(|warning| warning.contains("relays")));
}

/// LGCC over a core that never stops sending and a last hop that is down for the first five seconds.
const STALL: &str = r#"
title = "A stalled last hop"
duration = "8s"
measure = { from = "1s" }
[[links]]
name = "L1"
between = ["A", "R"]
rate = "100Mbps"
delay = "5ms"
[[links]]
name = "L2"
between = ["R", "B"]
rate = { steps = [["0s", "0bps"], ["5s", "20Mbps"]] }
delay = "5ms"
buffer = "100packets"
[[flows]]
name = "f"
protocol = "lgcc"
path = ["A", "R", "B"]
[protocols.lgcc]
relays = ["R"]
"#;

#[test]
fn a_relay_before_a_stalled_link_fills_up_to_its_bound_and_loses_nothing() {
    // Twice 100 Mbps times 10 ms are 250 KB, in packets of 1500 B; "5ms" is a quarter of that.
    for (sets, bound) in [(&[][..], 250e3 / 1500.0), (&["protocols.lgcc.relay_buffer=5ms"], 62.5e3 / 1500.0)]
    {
        let run = results(STALL, sets);
        let relay = &run.summary.relays[0];
        assert!(relay.queue_packets.max <= bound, "{} of {bound}", relay.queue_packets.max);
        assert!(relay.queue_packets.max > 0.9 * bound, "it is full: {} of {bound}", relay.queue_packets.max);
        assert_eq!(relay.dropped, 0);
        assert!(run.summary.flows[0].goodput_bps > 0.0);
    }
}

#[test]
fn before_a_link_that_is_down_from_the_start_a_relay_says_how_little_it_sends() {
    // The last hop's sender waits for its first acknowledgement with a packet in flight: its relay can promise a packet
    // in all the time that has passed. The first loop then keeps to its floor, a packet in 10 ms: 500 in 5 s, and what
    // it sends before it hears of that. An echo of "no limit" would let 8333 packets come each second.
    let run = results(STALL, &["protocols.lgcc.relay_buffer=unlimited"]);
    let most = run.summary.relays[0].queue_packets.max;
    assert!((480.0..550.0).contains(&most), "{most}");
}

#[test]
fn a_link_slower_than_a_packet_per_base_rtt_of_a_loop_is_told_of() {
    // 10 ms, and 0.12 ms of service at 100 Mbit/s, for 1500 bytes: the first loop sends at least 1.186 Mbit/s.
    let warned = |rate: &str| {
        let run = results(STALL, &[&format!("links.L2.rate={rate}")]);
        run.summary.warnings.iter().any(|warning| warning.contains("sends at least 1185.771kbps"))
    };
    assert!(warned("1.1Mbps") && !warned("1.3Mbps"));
}
