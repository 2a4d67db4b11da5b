//! A resolved scenario is equal when it is read again.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

mod common;

use common::{TRACES, parse_with};
use millpond_scenario::{Method, Scenario};
use proptest::prelude::*;
use std::path::Path;

/// `key = value` of each kind that a link's direction can say.
fn direction() -> impl Strategy<Value = String> {
    let rate = prop_oneof![
        (1_u64..10_000_000_000).prop_map(|bps| format!("\"{bps}bps\"")),
        Just("{ steps = [[\"0s\", \"5Mbps\"], [\"1.5s\", \"0bps\"]] }".to_owned()),
        (0.1_f64..3.0).prop_map(|scale| format!("{{ trace = {{ file = \"cell.down\", scale = {scale} }} }}")),
        Just(
            "{ trace = { file = \"cell.csv\", end = \"stop\", skip = \"0.5s\", length = \"1s\" } }"
                .to_owned()
        ),
    ];
    let delay = prop_oneof![
        (0_u64..1_000_000_000_000).prop_map(|ps| format!("\"{ps}ps\"")),
        Just("{ steps = [[\"0s\", \"5ms\"], [\"1s\", \"0s\"]] }".to_owned()),
    ];
    let loss = prop_oneof![
        Just("\"none\"".to_owned()),
        (0.0_f64..=1.0).prop_map(|p| format!("{{ bernoulli = {p:?} }}")),
        (0.0_f64..=1.0, 0.0_f64..=1.0).prop_map(|(p, q)| format!(
            "{{ gilbert-elliott = {{ good_to_bad = {p:?}, bad_to_good = {q:?} }} }}"
        )),
    ];
    let buffer = prop_oneof![
        Just("unlimited".to_owned()),
        (1_u64..1_000_000).prop_map(|n| format!("{n}packets")),
        (1_u64..u64::MAX).prop_map(|n| format!("{n}B")),
        (0.001_f64..10.0).prop_map(|x| format!("{x}bdp")),
        (1_u64..u64::MAX).prop_map(|n| format!("{n}ps")),
    ];
    let queue = prop_oneof![
        Just("\"default\""),
        Just("\"droptail\""),
        Just("{ red = { max_th = \"75KB\", gentle = true, \"odd key\" = { acks = 4 }, w_q = 0.002 } }"),
    ];
    let layer = prop_oneof![
        Just("\"none\""),
        Just("{ radio = { error = 0.125, retransmit_after = \"8ms\", attempts = 3 } }"),
        Just("{ grants = { every = \"5ms\", after = \"4ms\" } }"),
        Just("{ contention = { access = \"100us\", window = 31, aggregate = 32, stations = 2 } }"),
    ];
    let rest = (
        any::<bool>(),
        prop_oneof![Just("fifo"), Just("fair"), Just("drr"), Just("priority")],
        any::<bool>(),
        layer,
    );
    (rate, delay, loss, buffer, queue, rest).prop_map(|(rate, delay, loss, buffer, queue, rest)| {
        let (reorder, scheduler, is_configured, layer) = rest;
        let configured = if is_configured { "\"3Mbps\"" } else { "\"107%\"" };
        let belief = "configured_delay = \"3ms\"\nconfigured_levels = 4\nrouter = \"tunnel\"\nconfigured_noise = 0.125";
        format!(
            "rate = {rate}\ndelay = {delay}\nloss = {loss}\nbuffer = \"{buffer}\"\nqueue = {queue}\n\
             reorder = {reorder}\nscheduler = \"{scheduler}\"\nconfigured_rate = {configured}\n{belief}\njitter = \"1ms\"\nlink_layer = {layer}\n"
        )
    })
}

fn flow() -> impl Strategy<Value = String> {
    let start = prop_oneof![
        Just("\"1.25s\""),
        Just("{ uniform = [\"0s\", \"3s\"] }"),
        Just("{ every = \"2s\" }"),
        Just("{ first = \"1s\", poisson = \"10ms\" }"),
    ];
    let end = prop_oneof![
        Just(""),
        // After the start of the last of 2000 flows.
        Just("stop = \"5000s\""),
        Just("lasts = { exponential = \"2s\" }"),
        Just("lasts = { uniform = [\"1s\", \"2s\"] }"),
        Just("lasts = { pareto = \"2s\", shape = 1.5 }"),
        Just("stop = { first = \"5s\", every = \"2s\" }"),
    ];
    let workload = prop_oneof![
        Just("\"bulk\""),
        Just("{ rate = \"5Mbps\" }"),
        Just("{ rate = \"5Mbps\", on = \"1s\", off = { pareto = \"3s\", shape = 1.5 } }"),
        Just("{ rate = \"5Mbps\", bursts = [[\"1s\", \"2s\"], [\"3.5s\", \"4s\"]] }"),
        Just("{ transfers = \"10KB\", every = \"30ms\" }"),
        Just("{ transfers = { pareto_from = \"10KB\", shape = 1.35 }, poisson = \"30ms\" }"),
        Just("{ size = \"1MB\" }"),
        Just("{ ping = \"20ms\" }"),
        Just("{ size = { cdf = \"web-search.cdf\" } }"),
        Just("{ transfers = { cdf = [[\"10KB\", 0.125], [\"1MB\", 1]] }, poisson = \"30ms\" }"),
        Just("{ size = { pareto = \"1MB\", shape = 1.2 } }"),
        Just("{ size = { uniform = [\"1B\", \"1MB\"] } }"),
        Just("{ size = { exponential = \"123456B\" } }"),
        Just("{ size = { lognormal = \"10KB\", sigma = 1.5, within = [\"1KB\", \"1MB\"] } }"),
        Just("{ transfers = { lognormal = \"10KB\", sigma = 1.5 }, poisson = \"30ms\" }"),
        Just("{ pages = \"3gpp\" }"),
        Just("{ pages = { first = \"5KB\", objects = 7, parse = \"10ms\", think = \"2s\" } }"),
        Just("{ video = \"bba-0\" }"),
        Just("{ video = { ladder = [\"1Mbps\", \"3Mbps\"], segment = \"2s\", handshakes = 1 } }"),
        Just("{ call = \"rfc8593\" }"),
        Just(
            "{ call = { range = [\"300kbps\", \"3Mbps\"], frames_per_s = 25, abrupt = \"20%\", least_share = 0.1, pauses = [[\"1s\", \"2s\"]] } }"
        ),
    ];
    let acks = prop_oneof![
        Just("false"),
        Just("true"),
        Just("{ packets = 4 }\nsender = \"unresponsive\"\nreceiver = \"hides-marks\""),
        Just("{ packets = 4, urgent = false }\nsender = { greedy = 2.5 }\nreceiver = { early_acks = 8 }"),
    ];
    let rtt = prop_oneof![Just("\"10s\""), Just("{ uniform = [\"10s\", \"12s\"] }")];
    let rest = (1_u32..2000, any::<bool>(), acks, rtt);
    (start, end, workload, rest).prop_map(|(start, end, workload, (count, pinned, acks, rtt))| {
        format!(
            "start = {start}\n{end}\nworkload = {workload}\ncount = {count}\npinned = {pinned}\n\
             delayed_acks = {acks}\nrtt = {rtt}\nweight = 2.5\n"
        )
    })
}

fn read_again(scenario: &Scenario) -> Scenario {
    let text = scenario.to_toml();
    let again = Scenario::parse(&text, "again.toml", Path::new("elsewhere"), &[], &TRACES);
    again.unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn what_is_written_reads_back_the_same(
        title in "\\PC*", seed: u64, duration in 1_u64..10_000_000_000, there in direction(), back in direction(),
        flow in flow(), simplex: bool,
    ) {
        let back = if simplex { String::new() } else { format!("[links.back]\n{back}") };
        let text = format!(
            "title = {}\nduration = \"{duration}ns\"\nseed = {seed}\n\
             [[links]]\nname = \"L\"\nbetween = [\"A\", \"B\"]\nsimplex = {simplex}\n{there}{back}\n\
             [[links]]\nname = \"M\"\nbetween = [\"B\", \"A\"]\nsimplex = true\nrate = \"1Mbps\"\n\
             [[flows]]\nname = \"f\"\nprotocol = \"cubic\"\npath = [\"A\", \"B\"]\n{flow}\n\
             [protocols.cubic]\nrelays = \"all\"\naggregate = \"all\"\nparams = {{ beta = 0.7 }}\n",
            toml::Value::String(title)
        );
        // Two links from B to A are ambiguous: a duplex first link goes alone.
        let text = if simplex { text } else { text.replace("[\"B\", \"A\"]\nsimplex = true", "[\"B\", \"C\"]") };
        let scenario = parse_with(&text, &[]).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        prop_assert_eq!(&read_again(&scenario), &scenario, "{}", scenario.to_toml());
    }
}

#[test]
fn shorthands_are_written_out_as_plain_links_and_paths() {
    for shorthand in [
        "[dumbbell]\npairs = 3\nbottleneck = { rate = \"10Mbps\" }\naccess = { rate = \"1Gbps\", delay = \"2ms\" }",
        "[parking-lot]\nhops = 3\nlink = { rate = \"10Mbps\" }\naccess = { rate = \"1Gbps\" }",
        "[chain]\nhops = 4\nlink = { rate = \"10Mbps\" }\nlast = { rate = { trace = \"cell.csv\" } }",
        "[tree]\nfanout = 3\nlevels = [{ rate = \"10Mbps\" }, { rate = \"5Mbps\" }]",
    ] {
        let text = format!("duration = \"1s\"\n{shorthand}\n[[flows]]\nname = \"f\"\nprotocol = \"cubic\"\n");
        let scenario = parse_with(&text, &[]).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(read_again(&scenario), scenario);
    }
}

#[test]
fn the_method_and_its_step_are_written_out() {
    let text = "duration = \"7s\"\nfluid = { method = \"fixed-step\", step = \"2.5ms\" }\n\
                [dumbbell]\nbottleneck = { rate = \"10Mbps\" }\n[[flows]]\nname = \"f\"\nprotocol = \"cubic\"\n";
    let scenario = parse_with(text, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    let Method::FixedStep(step) = &scenario.fluid.method else { panic!("{:?}", scenario.fluid) };
    assert_eq!(step.picos(), 2_500_000_000);
    assert_eq!(read_again(&scenario), scenario);
    // An override of the method leaves the file's step idle.
    let adaptive = parse_with(text, &["fluid.method=adaptive"]).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(adaptive.fluid.method, Method::Adaptive);
    assert_eq!(read_again(&adaptive), adaptive);
}
