//! Packet plans: queues and buffers of links, loops and relays of flows, warnings and errors.

use crate::common::{link, results, scenario};
use millpond_law::{Card, HeaderId, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
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

fn error_of(sets: &[&str]) -> String {
    let faults = plan(&scenario(LINE, sets), &Registry::builtin()).err().expect("the scenario is refused");
    faults.to_string()
}

#[test]
fn a_link_has_its_own_queue_or_that_of_the_entry_or_the_default_of_the_protocol() {
    let marks = |text: &str| link(&results(text, &[]), "L2").marks;
    // DCTCP's default queue marks packets; drop-tail does not.
    assert!(marks(LINE) > 0);
    let entry = format!("{LINE}[protocols.dctcp]\nqueue = \"droptail\"\n");
    assert_eq!(marks(&entry), 0);
    let own = entry.replace("\"2bdp\"", "\"2bdp\"\nqueue = { red = { preset = \"dctcp-step\" } }");
    assert!(marks(&own) > 0);
}

#[test]
fn a_group_that_never_starts_has_a_warning() {
    let warnings = |start: &str| {
        let sets = [format!("flows.two.start={start}")];
        plan(&scenario(LINE, &sets.each_ref().map(String::as_str)), &Registry::builtin())
            .map(|plan| plan.warnings().to_vec())
            .unwrap_or_default()
    };
    assert_eq!(warnings("9s"), Vec::<String>::new());
    assert_eq!(warnings("10s"), ["\"two\" never starts: the run ends at 10s"]);
}

/// The measured time is from 2 s to 10 s.
#[test]
fn a_run_whose_measured_time_has_no_window_for_fair_shares_has_a_warning() {
    let of = |window: &str| {
        let window = format!("measure.jain_window={window}");
        let (planned, run) = (scenario(LINE, &[&window]), results(LINE, &[&window]));
        let has_shares = run.summary.flows.iter().all(|flow| flow.fair_share_bps.is_some());
        (plan(&planned, &Registry::builtin()).unwrap().warnings().to_vec(), has_shares)
    };
    assert_eq!(of("10s"), (Vec::new(), true));
    let warning = "no window of measure.jain_window = \"11s\" ends in the measured time of a run of 10s: flows have no fair \
                   share, and starving ones are not found";
    assert_eq!(of("11s"), (vec![warning.to_owned()], false));
}

#[test]
fn a_protocol_that_adapts_to_marks_has_a_warning_at_links_that_set_none() {
    let warnings = |sets: &[&str]| {
        let sets = [&["links.L1.queue=red", "links.L2.queue=droptail"], sets].concat();
        plan(&scenario(LINE, &sets), &Registry::builtin()).unwrap().warnings().to_vec()
    };
    let expected = "dctcp: link \"L2\" has droptail, which sets no marks; senders adapt to those of red";
    assert_eq!(warnings(&[]), [expected]);
    // CUBIC adapts to losses. The price of LGCC in its header replaces marks.
    let of = |protocol| format!("flows.one.protocol={protocol}");
    assert_eq!(warnings(&[&of("cubic"), "flows.two.protocol=cubic"]), Vec::<String>::new());
    let price = [of("lgcc"), "flows.two.protocol=lgcc".into(), "protocols.lgcc.relays=[\"R\"]".into()];
    let [one, two, relays] = price.each_ref().map(String::as_str);
    assert_eq!(warnings(&[one, two, relays]).len(), 1);
    assert_eq!(warnings(&[one, two, relays, "protocols.lgcc.params.price=field"]), Vec::<String>::new());
}

#[test]
fn a_queue_law_whose_threshold_is_beyond_the_buffer_has_a_warning() {
    let warnings =
        |sets: &[&str]| plan(&scenario(LINE, sets), &Registry::builtin()).unwrap().warnings().to_vec();
    let small = "red acts on queues beyond max_th = 97.5KB, and the buffer has less: it never marks or drops a packet";
    assert_eq!(warnings(&["links.L2.buffer=30KB"]), [format!("link \"L2\": {small}")]);
    let both = ["links.L1.buffer=20KB", "links.L2.buffer=30KB"];
    assert_eq!(warnings(&both), [format!("links \"L1\", \"L2\": {small}")]);
    // Data in both directions of both links.
    let there_and_back = [both[0], both[1], "flows.two.path=[\"B\", \"R\", \"A\"]"];
    assert_eq!(warnings(&there_and_back), [format!("links \"L1\", \"L2\": {small}")]);
    assert_eq!(warnings(&["links.L2.buffer=98KB"]), Vec::<String>::new());
}

/// A protocol of a crate of its own, with the header number of HPCC.
struct SameHeader;

static SAME_HEADER: Card = Card {
    name: "same-header",
    title: "Same header",
    summary: "a test",
    source: "a test",
    needs: Needs { header: HeaderId(9), ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: &[],
};

impl Protocol for SameHeader {
    fn card(&self) -> &'static Card {
        &SAME_HEADER
    }

    fn sender(&self, _: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        let newreno = Registry::builtin().protocol("newreno").expect("a built-in protocol");
        newreno.sender(&Settings::check(newreno.card().parameters, []).expect("its defaults"))
    }
}

#[test]
fn protocols_with_one_header_number_do_not_run_together() {
    let plan_of = |two: &str| {
        let sets = ["flows.one.protocol=same-header", &format!("flows.two.protocol={two}")];
        let registry = Registry::builtin().with(&SameHeader);
        plan(&scenario(LINE, &sets), &registry).map(drop).map_err(|faults| faults.to_string())
    };
    let fault = plan_of("hpcc").expect_err("the numbers are equal");
    assert!(fault.contains("same-header and hpcc have the same header number, 9"), "{fault}");
    assert_eq!(plan_of("newreno"), Ok(()));
}

#[test]
fn a_warning_about_an_overload_has_readable_rates() {
    let sets =
        ["flows.one.workload={ transfers = \"1000003B\", every = \"7ms\" }", "links.L1.rate=12345678901bps"];
    let warnings = plan(&scenario(LINE, &sets), &Registry::builtin()).unwrap().warnings().to_vec();
    let expected =
        "transfers offer 1.1429Gbps to \"L2 ->\", which has 12Mbps: their number grows without bound";
    assert_eq!(warnings, [expected]);
}

/// Each transfer is a packet of 1450 bytes: 23.2 Mbit/s on a link of 12 Mbit/s.
#[test]
fn an_overload_counts_the_header_of_each_packet() {
    let transfers = "flows.one.workload={ transfers = \"50B\", every = \"500us\" }";
    let of = |sets: &[&str]| {
        let sets = [&[transfers, "flows.one.packet=1500B", "flows.one.overhead=1400B"], sets].concat();
        plan(&scenario(LINE, &sets), &Registry::builtin()).unwrap().warnings().to_vec()
    };
    let expected =
        "transfers offer 23.2Mbps to \"L2 ->\", which has 12Mbps: their number grows without bound";
    let mut found = of(&["links.L1.rate=1Gbps"]);
    found.retain(|text| text.contains("offer"));
    assert_eq!(found, [expected]);
}

#[test]
fn spawned_transfers_on_a_shared_loop_are_refused_with_an_alternative() {
    let entry = "protocols.lgcc={ relays = [\"R\"], aggregate = [\"R\"] }";
    let mice = "flows.two.workload={ transfers = \"10KB\", poisson = \"100ms\" }";
    let both = ["flows.one.protocol=lgcc", "flows.two.protocol=lgcc", entry, mice];
    let error = error_of(&both);
    for word in
        ["transfers of \"two\"", "the loop that begins at \"R\"", "test.toml:21", "protocol = \"lgcc\""]
    {
        assert!(error.contains(word), "{word} is missing in:\n{error}");
    }
    let apart =
        [&both[..], &["flows.two.protocol=own", "protocols.own={ protocol = \"lgcc\", relays = [\"R\"] }"]];
    assert!(plan(&scenario(LINE, &apart.concat()), &Registry::builtin()).is_ok());
}

#[test]
fn protocols_with_different_queues_on_one_link_are_refused_with_an_alternative() {
    let error = error_of(&["flows.two.protocol=newreno"]);
    for word in ["\"L1\", \"L2\"", "dctcp (queue red)", "newreno (queue droptail)", "links.L1.queue"] {
        assert!(error.contains(word), "{word} is missing in:\n{error}");
    }
    let settled = ["flows.two.protocol=newreno", "links.L1.queue=droptail", "links.L2.queue=droptail"];
    assert!(plan(&scenario(LINE, &settled), &Registry::builtin()).is_ok());
}

#[test]
fn a_link_has_one_set_of_parameters_per_protocol() {
    let entries = |params: &str| {
        format!(
            "{LINE}[protocols.quick]\nprotocol = \"abc\"\nparams = {params}\n[protocols.usual]\nprotocol = \"abc\"\n"
        )
    };
    let sets = ["flows.one.protocol=quick", "flows.two.protocol=usual"];
    let plan = |text: &str| plan(&scenario(text, &sets), &Registry::builtin());
    assert!(plan(&entries("{}")).is_ok(), "two entries with equal parameters are allowed");
    let error = plan(&entries("{ eta = 0.9 }")).err().expect("the scenario is refused").to_string();
    assert!(error.contains("quick and usual"), "{error}");
}

#[test]
fn entries_of_a_protocol_may_differ_in_parameters_that_only_its_senders_use() {
    let entries = |written: &str| {
        let own = "[protocols.insistent]\nprotocol = \"mcp\"\nparams = { ";
        let text = LINE.replacen("\"dctcp\"", "\"insistent\"", 1).replace("\"dctcp\"", "\"mcp\"");
        plan(&scenario(&format!("{text}{own}{written} }}\n"), &[]), &Registry::builtin())
    };
    assert!(entries("fairing_cycles = 1000").is_ok());
    let refused = entries("request_limit = 10").err().expect("a parameter of routers").to_string();
    assert!(refused.contains("cannot be a router for both"), "{refused}");
}

#[test]
fn a_buffer_in_bandwidth_delay_products_takes_the_mean_base_rtt_of_the_flows() {
    // Base RTTs of 40 and 80 ms: 2 x 12 Mbps x 60 ms = 180 KB = 120 packets of 1500 B. CUBIC fills the buffer.
    let run = results(LINE, &["flows.one.protocol=cubic", "flows.two.protocol=cubic"]);
    assert_eq!(link(&run, "L2").queue_packets.max, 120.0);
}

#[test]
fn a_buffer_in_bandwidth_delay_products_has_room_for_a_packet() {
    let run = results(LINE, &["links.L2.buffer=0.001bdp"]);
    assert_eq!(link(&run, "L2").queue_packets.max, 1.0);
    assert!(link(&run, "L2").utilization > 0.0);
}

#[test]
fn a_buffer_in_bytes_without_room_for_a_packet_is_refused() {
    let error = error_of(&["links.L2.buffer=1499B"]);
    assert!(error.contains("L2 ->: its buffer has no room for a packet of 1.5KB"), "{error}");
    assert!(error.contains("set links.L2.buffer to \"1.5KB\" or more"), "{error}");
}

#[test]
fn base_rtts_are_sampled_from_their_range_and_another_flow_does_not_change_them() {
    let least_rtts = |count: &str| {
        let sets = [
            &format!("flows.two.count={count}"),
            "flows.two.rtt={ uniform = [\"60ms\", \"100ms\"] }",
            // Each flow sends a packet every 400 ms at different times, so that no packet is queued.
            "flows.two.start={ first = \"10ms\", every = \"13ms\" }",
            "flows.two.workload={ rate = \"30kbps\" }",
            "flows.one.workload={ rate = \"30kbps\" }",
            "hosts.jitter=0s",
        ];
        let run = results(LINE, &sets);
        run.summary.flows[1..].iter().map(|flow| flow.rtt_ms.unwrap().min).collect::<Vec<_>>()
    };
    let ten = least_rtts("10");
    // Above the base RTT: service times of 1.12 ms for a packet and 30 us for its acknowledgement.
    assert!(ten.iter().all(|rtt| (61.1..101.3).contains(rtt)), "{ten:?}");
    assert!(ten.iter().any(|rtt| *rtt > 85.0) && ten.iter().any(|rtt| *rtt < 75.0), "{ten:?}");
    let eleven = least_rtts("11");
    assert!(ten.iter().zip(&eleven).all(|(one, other)| (one - other).abs() < 1e-3), "{eleven:?}");
}

#[test]
fn a_protocol_that_needs_relays_has_a_warning_without_them() {
    let lgcc = ["flows.one.protocol=lgcc", "flows.two.protocol=lgcc"];
    let run = results(LINE, &lgcc);
    assert!(
        run.summary.warnings.iter().any(|warning| warning.contains("has no relays")),
        "{:?}",
        run.summary.warnings
    );
    assert!(run.summary.relays.is_empty());
}

#[test]
fn a_flow_has_one_loop_more_than_its_protocol_has_relays_on_the_path() {
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

/// LGCC over a fast core and a last hop that is down for the first five seconds.
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
fn a_relay_before_a_link_that_is_down_fills_to_its_limit_and_loses_nothing() {
    // Two bandwidth-delay products of the first loop; a size; 5 packets, as the next loop may send none.
    for (buffer, bound) in [("250KB", 250e3 / 1500.0), ("20packets", 20.0), ("2bdp", 5.0), ("20ms", 5.0)] {
        let set = format!("protocols.lgcc.relay_buffer={buffer}");
        let relay = &results(STALL, &[&set, "duration=4.9s"]).summary.relays[0];
        assert!(relay.queue_packets.max <= bound, "{} of {bound}", relay.queue_packets.max);
        assert!(relay.queue_packets.max > 0.9 * bound, "it is full: {} of {bound}", relay.queue_packets.max);
        let run = results(STALL, &[&set]);
        assert_eq!(run.summary.relays[0].dropped, 0);
        assert!(run.summary.flows[0].goodput_bps > 0.0);
    }
}

#[test]
fn by_default_a_relay_between_a_long_and_a_short_loop_does_not_limit_the_throughput() {
    // With a bound of eight windows of the second loop, 16 ms, the first one would send 16 ms of data per 100 ms.
    let alike = ["links.L2.rate=100Mbps", "duration=10s", "measure.from=5s"];
    for (first, second) in [("50ms", "1ms"), ("1ms", "50ms"), ("5ms", "5ms")] {
        let delays = [&format!("links.L1.delay={first}"), &format!("links.L2.delay={second}")];
        let goodput = |set: &str| {
            let sets = [&alike[..], &[delays[0], delays[1], set]].concat();
            results(STALL, &sets).summary.flows[0].goodput_bps
        };
        let ratio =
            goodput("protocols.lgcc.relay_buffer=2bdp") / goodput("protocols.lgcc.relay_buffer=unlimited");
        assert!(ratio > 0.98, "{first}, {second}: {ratio}");
    }
}

#[test]
fn a_relay_before_a_slow_link_holds_milliseconds_by_default() {
    // Ten flows share 1 Mbit/s: 100 kbit/s each, but no loop sends less than a packet per 10 ms, 1.2 Mbit/s.
    let text = STALL.replace("name = \"f\"\n", "name = \"f\"\ncount = 10\n");
    let slow = ["links.L2.rate=1Mbps", "duration=20s", "measure.from=5s"];
    let held = |buffer: &str| {
        let set = format!("protocols.lgcc.relay_buffer={buffer}");
        let run = results(&text, &[&slow[..], &[&set]].concat());
        let most = run.summary.relays.iter().map(|relay| relay.queue_packets.max).fold(0.0, f64::max);
        (most, run.summary.groups[0].goodput_bps.mean, run.summary.queueing_ms.mean)
    };
    let (packets, goodput, _) = held("250KB");
    assert!(packets > 100.0, "the size of two bandwidth-delay products of the first loop holds {packets}");
    // 20 ms, and 100 ms, of 100 kbit/s are less than the least of 5 packets, which wait for 120 ms each. Before the second
    // link 50 packets wait at most (RED's max_th), for 12 ms each.
    for buffer in ["2bdp", "20ms", "5packets"] {
        let run = held(buffer);
        assert!(
            run.0 <= 5.0 && run.1 > 0.98 * goodput && run.2 < 5.0 * 120.0 + 600.0,
            "{buffer}: {run:?}, {goodput}"
        );
    }
}

#[test]
fn a_relay_before_a_link_that_is_down_from_the_start_limits_the_loop_before_it() {
    // The sender of the last loop waits for its first acknowledgement with one packet in flight, so that its feedback is a
    // rate near zero. The first loop then sends at its minimum rate, a packet in 10 ms: 500 in 5 s, and the packets that
    // it sent before the feedback arrived. Without feedback 8333 packets would arrive each second.
    let run = results(STALL, &["protocols.lgcc.relay_buffer=unlimited"]);
    let most = run.summary.relays[0].queue_packets.max;
    assert!((480.0..550.0).contains(&most), "{most}");
}

#[test]
fn a_link_slower_than_one_packet_per_base_rtt_of_the_loop_before_has_a_warning() {
    // 10 ms, and 0.12 ms of service at 100 Mbit/s, for 1500 bytes: the first loop sends at least 1.186 Mbit/s.
    let warnings = |rate: &str| {
        let run = results(STALL, &[&format!("links.L2.rate={rate}")]);
        let warnings = run.summary.warnings.into_iter();
        warnings.filter(|warning| warning.contains("minimum rate")).collect::<Vec<_>>()
    };
    assert_eq!(warnings("1.3Mbps"), Vec::<String>::new());
    // 1500 bytes at 1.1 Mbit/s take 10.9 ms.
    let expected = "lgcc: flow \"f\": the minimum rate of loop 1 of 2 is 1.19 Mbit/s (one initial window per base RTT of 10.1 ms), \
                    above the flow's equal share of link \"L2 ->\" for 100.0 % of the time (mean share 1.10 Mbit/s, 10.9 ms per packet). \
                    The relay before that link stays full. Use fewer flows, smaller packets or fewer relays; \
                    relay_buffer = \"5packets\" bounds the delay in the relay to 54.5 ms";
    assert_eq!(warnings("1.1Mbps"), [expected]);
    // The mean of this link is 10.9 Mbit/s, but it is below the minimum rate for a tenth of the time.
    let varying = warnings("{ steps = [[\"0s\", \"12Mbps\"], [\"4s\", \"1Mbps\"], [\"4.8s\", \"12Mbps\"]] }");
    assert!(varying.len() == 1 && varying[0].contains("for 10.0 % of the time"), "{varying:?}");
    // An outage for a tenth of the time is none of it: no minimum rate would be low enough.
    let outage = "{ steps = [[\"0s\", \"12Mbps\"], [\"4s\", \"0bps\"], [\"4.8s\", \"12Mbps\"]] }";
    assert_eq!(warnings(outage), Vec::<String>::new());
}

#[test]
fn the_default_buffer_of_a_link_whose_first_step_is_an_outage_is_that_of_its_mean_rate() {
    // 5 s at zero and 3 s at 20 Mbit/s: the mean is 7.5 Mbit/s, and a BDP of 20 ms is 18.75 KB. With a buffer of zero bytes
    // nothing would ever be delivered.
    let text = STALL.replace("buffer = \"100packets\"\n", "").replace("relays = [\"R\"]", "relays = []");
    let run = results(&text, &[]);
    assert!(run.summary.flows[0].goodput_bps > 3e6, "{}", run.summary.flows[0].goodput_bps);
    assert!(link(&run, "L2").queue_packets.max <= 13.0);
}

/// `NAME:PRESET` is short for the parameter `preset`.
#[test]
fn parameters_with_presets_have_the_name_that_variants_expect() {
    let mut presets = 0;
    for protocol in Registry::builtin().protocols() {
        let parameters = protocol.card().parameters.iter().map(|key| key.parameter());
        for parameter in parameters.filter(|parameter| !parameter.presets.is_empty()) {
            assert_eq!(parameter.name, millpond_scenario::PRESET, "{}", protocol.card().name);
            presets += 1;
        }
    }
    assert!(presets > 0);
}

/// RCP's routers divide 12 Mbit/s by two flows; with a code of one bit a flow has the nearer end of its range.
#[test]
fn a_rate_code_rounds_the_rates_of_senders_and_is_refused_where_there_are_none() {
    let sender = ["flows.one.protocol=rcp", "flows.two.protocol=rcp"];
    let code = |range: &str| format!("protocols.rcp.rate_code={{ bits = 1, range = [{range}] }}");
    let goodputs = |code: &str| {
        let run = results(LINE, &[&sender[..], &[code]].concat());
        run.summary.flows.iter().map(|flow| flow.goodput_bps).collect::<Vec<_>>()
    };
    // The middle of the range on the logarithmic scale is 10 Mbit/s, above all that a router offers at 12 Mbit/s to two.
    for goodput in goodputs(&code("\"1Mbps\", \"200Mbps\"")) {
        assert!((0.9e6..1.05e6).contains(&goodput), "{goodput}");
    }
    assert!(goodputs("protocols.rcp.rate_code=exact").iter().sum::<f64>() > 10e6);
    let found = error_of(&["protocols.dctcp.rate_code.bits=7"]);
    assert!(found.contains("dctcp return no rate"), "{found}");
    let fluid = scenario(LINE, &[&sender[..], &["protocols.rcp.rate_code.bits=7"]].concat());
    let found = millpond_plan::fluid::plan(&fluid, &Registry::builtin()).err().expect("refused").to_string();
    assert!(found.contains("the fluid world has no codes of rates"), "{found}");
}
