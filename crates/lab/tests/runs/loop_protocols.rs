//! Flows whose loops run different protocols: split paths.

use crate::common::{flow, fluid, greatest, least, link, mean, near, results, samples_of, scenario, series};
use millpond_lab::{Choice, cases};
use millpond_plan::packets::plan;
use millpond_protocols::Registry;
use millpond_results::{Run, World, quantity};
use millpond_scenario::trace::{TraceRecipe, preset};
use millpond_units::{Bytes, Span, Time};

/// Two loops, the second of which is the slower one. PROTOCOL and NEXT are those of the loops.
const SPLIT: &str = r#"
title = "split"
duration = "10s"
measure = { from = "5s" }
[[links]]
name = "first"
between = ["A", "R"]
rate = "40Mbps"
delay = "5ms"
[[links]]
name = "second"
between = ["R", "B"]
rate = "10Mbps"
delay = "15ms"
[[flows]]
name = "f"
protocol = "split"
path = ["A", "R", "B"]
[protocols.split]
protocol = "PROTOCOL"
relays = ["R"]
relay_buffer = "60KB"
loops = { R = "NEXT" }
"#;

/// The scenario with these protocols.
pub(crate) fn split(protocol: &str, next: &str) -> String {
    SPLIT.replace("PROTOCOL", protocol).replace("NEXT", next)
}

/// The same without the first link, and with one protocol.
pub(crate) fn unsplit(protocol: &str) -> String {
    let flow = SPLIT.split("[protocols.split]").next().unwrap_or(SPLIT);
    flow.replace("\"split\"", &format!("\"{protocol}\"")).replace("\"A\", \"R\", \"B\"", "\"R\", \"B\"")
}

/// A law of each kind: windows with loss, rates that are measured, feedback of routers, feedback of the relay.
const KINDS: [&str; 5] = ["cubic", "bbr3", "xcp", "pledge", "lgcc"];

fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.into_iter().flat_map(|first| KINDS.into_iter().map(move |next| (first, next)))
}

/// At any time, what has arrived at the relay has left it or waits in it, and no more waits than the buffer holds. After the
/// end of a transfer all of it has been delivered.
#[test]
fn between_any_two_laws_a_relay_loses_nothing_and_holds_no_more_than_its_buffer() {
    let size = Bytes::new(3_000_000);
    for (first, next) in pairs() {
        let sized = format!("flows.f.workload={{ size = \"{size}\" }}");
        let mut plan = plan(&scenario(&split(first, next), &[&sized]), &Registry::builtin()).unwrap();
        for step in 1..=1000 {
            plan.network.run_to(Time::from_secs(f64::from(step) * 0.01));
            let loops: Vec<_> = plan.network.flow(plan.flows[0].id).loops().collect();
            let [before, after] = &loops[..] else { panic!("{first}, {next}: two loops") };
            assert_eq!(before.arrived(), after.stream_bytes_sent() + after.backlog(), "{first}, {next}");
            assert!(after.backlog() <= Bytes::new(60_000), "{first}, {next}: {}", after.backlog());
        }
        let flow = plan.network.flow(plan.flows[0].id);
        assert_eq!(flow.delivered(), size, "{first}, {next}");
        assert!(flow.completed().is_some(), "{first}, {next}");
    }
}

/// The second loop limits the flow, and its law finds the rate that it finds on this link without a first loop: a relay that
/// always has data is a source that always has data.
#[test]
fn behind_a_faster_loop_a_law_has_the_rate_that_it_has_alone() {
    for (first, next) in pairs() {
        let behind = flow(&results(&split(first, next), &[]), "f").goodput_bps;
        let alone = flow(&results(&unsplit(next), &[]), "f").goodput_bps;
        // A relay whose sender is LGCC keeps two packets in its queue at most times; it is empty at some.
        assert!(near(behind, alone, 0.05), "{first}, {next}: {behind} and {alone}");
    }
}

/// The window of the first round trip, in packets.
const WINDOW: i64 = 10;

/// The time in seconds after which CUBIC has delivered `WINDOW (2^n - 1)` packets over two links with these round-trip times.
fn completion(rtts_ms: [u32; 2], rounds: u32, relays: &str) -> f64 {
    let payload = WINDOW * (2_i64.pow(rounds) - 1) * 1440;
    let [first, second] =
        rtts_ms.map(|rtt| format!("rate = \"10Gbps\", delay = \"{}us\", buffer = \"unlimited\"", rtt * 500));
    let params = format!("params = {{ initial_window = {WINDOW} }}");
    let text = format!(
        "title = \"start\"\nduration = \"10s\"\nhosts = {{ jitter = \"0s\" }}\n\
         links = [\n{{ name = \"first\", between = [\"A\", \"R\"], {first} }},\n\
         {{ name = \"second\", between = [\"R\", \"B\"], {second} }},\n]\n\
         [[flows]]\nname = \"f\"\nprotocol = \"cubic\"\npath = [\"A\", \"R\", \"B\"]\npacket = \"1500B\"\noverhead = \"60B\"\n\
         workload = {{ size = \"{payload}B\" }}\n[protocols.cubic]\n{params}\n{relays}\n\
         [protocols.next]\nprotocol = \"cubic\"\n{params}\n"
    );
    flow(&results(&text, &[]), "f").completed_s.expect("the transfer ends")
}

/// In slow start, with a window of W packets in the first round trip and twice as many in each further one, W (2^n - 1) packets
/// need n rounds: the last of them leaves n - 1 round trips T after the first, and arrives half a round trip later. By then the
/// loop with the shorter round trip has delivered, or can deliver, as much at any time, so that the other one decides, and the
/// split saves n - 1 times the shorter round trip. If the shorter loop is the second, each burst that reaches the relay fills its
/// window exactly. A window grows only while it is full, so that the rest of the last burst may leave a short round trip later.
/// What 10 Gbit/s need for all packets, 0.8 ms at each link, is left out.
#[test]
fn two_loops_start_by_the_longer_of_their_round_trips_instead_of_by_the_sum() {
    const ROUNDS: u32 = 6;
    const SERVICE: f64 = 2.0 * 8e-4;
    let rounds = f64::from(ROUNDS - 1);
    for rtts_ms in [[20, 200], [200, 20], [80, 140]] {
        let [first, second] = rtts_ms.map(|rtt| f64::from(rtt) / 1e3);
        let (sum, longer, shorter) = (first + second, first.max(second), first.min(second));
        let end_to_end = completion(rtts_ms, ROUNDS, "");
        let relays = "relays = [\"R\"]\nrelay_buffer = \"unlimited\"\nloops = { R = \"next\" }";
        let split = completion(rtts_ms, ROUNDS, relays);
        let rest = if first > second { second } else { 0.0 };
        for (found, least, rest) in
            [(end_to_end, rounds * sum + sum / 2.0, 0.0), (split, rounds * longer + sum / 2.0, rest)]
        {
            assert!((least..=least + SERVICE + rest).contains(&found), "{rtts_ms:?}: {found}, not {least}");
        }
        let saved = end_to_end - split;
        assert!(saved >= rounds * shorter - rest - SERVICE, "{rtts_ms:?}: {end_to_end} and {split}");
    }
}

#[test]
fn routers_and_default_queues_are_those_of_the_loop_that_crosses_the_link() {
    let run = results(&split("lgcc", "xcp"), &[]);
    let has_router =
        |link: &str| run.series.iter().any(|one| one.entity == link && one.quantity.contains("feedback"));
    assert!(!has_router("first ->") && has_router("second ->"), "XCP has a router at its own link alone");
    // The default queue of DCTCP marks, that of CUBIC is drop-tail.
    let marks = |first: &str, next: &str| {
        // A buffer above the threshold of DCTCP.
        let run = results(&split(first, next), &["links.second.buffer=4bdp"]);
        ["first", "second"].map(|name| link(&run, name).marks > 0)
    };
    assert_eq!(marks("cubic", "dctcp"), [false, true]);
    assert_eq!(marks("dctcp", "cubic"), [false, false]);
    // Where loops of both cross a link, no queue is the default.
    let other = "[[flows]]\nname = \"g\"\nprotocol = \"lgcc\"\npath = [\"R\", \"B\"]\n";
    let text = split("lgcc", "cubic").replace("[protocols.split]", &format!("{other}[protocols.split]"));
    let error = plan(&scenario(&text, &[]), &Registry::builtin()).err().expect("a conflict").to_string();
    for words in
        ["link \"second\" carries", "cubic (queue droptail)", "lgcc (queue red)", "links.second.queue"]
    {
        assert!(error.contains(words), "{words} is missing in:\n{error}");
    }
}

fn error_of(loops: &str, entries: &str) -> String {
    let text = split("lgcc", "xcp")
        .replace("loops = { R = \"xcp\" }", &format!("loops = {{ R = \"{loops}\" }}\n{entries}"));
    plan(&scenario(&text, &[]), &Registry::builtin()).err().expect("it is refused").to_string()
}

#[test]
fn a_protocol_of_a_loop_that_is_unknown_or_has_relays_is_refused_at_its_line() {
    let unknown = error_of("pledg", "");
    let nested = error_of("chain", "[protocols.chain]\nprotocol = \"lgcc\"\nrelays = [\"R\"]\n");
    for (error, words) in [
        (&unknown, ["unknown protocol \"pledg\"", "did you mean \"pledge\"?", "test.toml:23"]),
        (&nested, ["\"chain\" has relays", "[protocols.OTHER] with protocol = \"lgcc\"", "test.toml:23"]),
    ] {
        assert!(words.iter().all(|words| error.contains(words)), "{error}");
    }
    let setting = error_of("own", "[protocols.own]\nprotocol = \"pledge\"\nparams = { targt = \"5ms\" }\n");
    assert!(setting.contains("targt") && setting.contains("did you mean \"target\"?"), "{setting}");
}

#[test]
fn a_law_for_relays_that_runs_in_a_loop_is_not_said_to_run_end_to_end() {
    let warnings =
        |text: &str| plan(&scenario(text, &[]), &Registry::builtin()).unwrap().warnings().join("\n");
    assert_eq!(warnings(&split("cubic", "lgcc")), "");
    let alone = split("cubic", "lgcc").replace("protocol = \"split\"", "protocol = \"lgcc\"");
    assert!(warnings(&alone).contains("lgcc runs end to end"));
}

#[test]
fn results_name_the_protocol_of_a_loop_where_it_is_not_that_of_the_flow() {
    for run in [results, fluid].map(|run| run(&split("lgcc", "xcp"), &["duration=1s", "measure.from=0s"])) {
        let flow = flow(&run, "f");
        let protocols = flow.loops.iter().map(|one| one.protocol.as_deref());
        assert_eq!((flow.protocol.as_str(), protocols.collect()), ("split", vec![None, Some("xcp")]));
    }
}

/// Two entries whose first loops differ, and a second loop of one protocol from a relay where both share their loops.
#[test]
fn flows_of_different_entries_share_a_loop_of_one_protocol() {
    let second = "[[flows]]\nname = \"g\"\nprotocol = \"other\"\npath = [\"A\", \"R\", \"B\"]\n[protocols.other]\n\
                  protocol = \"newreno\"\nrelays = [\"R\"]\naggregate = [\"R\"]\nloops = { R = \"lgcc\" }\n[protocols.split]";
    let text = split("cubic", "lgcc")
        .replace("[protocols.split]", second)
        .replace("relay_buffer", "aggregate = [\"R\"]\nrelay_buffer");
    let run = results(&text, &[]);
    let (f, g) = (flow(&run, "f"), flow(&run, "g"));
    assert_eq!(f.loops[1].rtt_ms, g.loops[1].rtt_ms, "one loop");
    // A fair scheduler divides what the loop sends; the difference is a packet of each in five seconds.
    assert!(near(f.goodput_bps, g.goodput_bps, 0.01), "{} and {}", f.goodput_bps, g.goodput_bps);
    assert_eq!([f.protocol.as_str(), g.protocol.as_str()], ["split", "other"]);
    let apart = results(
        &text.replace(
            "loops = { R = \"lgcc\" }\n[protocols.split]",
            "loops = { R = \"cubic\" }\n[protocols.split]",
        ),
        &["links.second.queue=droptail"],
    );
    assert_ne!(
        flow(&apart, "f").loops[1].rtt_ms,
        flow(&apart, "g").loops[1].rtt_ms,
        "loops of two protocols"
    );
}

#[test]
fn transfers_run_the_protocols_of_their_loops() {
    let workload = "flows.f.workload={ transfers = \"30KB\", every = \"200ms\" }";
    let run = results(&split("cubic", "pledge"), &[workload]);
    assert!(run.summary.groups[0].completed > 20, "{:?}", run.summary.groups[0]);
    let router = series(&run, "second ->", "late factor");
    assert!(!router.values.is_empty(), "the router of Pledge");
}

#[test]
fn a_comparison_assigns_entries_with_loops_and_their_variants() {
    let text = split("cubic", "lgcc");
    let names = ["cubic", "split", "split:beta=0.5"];
    let choice = Choice { protocols: names.map(str::to_owned).to_vec(), ..Choice::of(World::Packets) };
    let cases = cases(&scenario(&text, &[]), &Registry::builtin(), &choice).unwrap();
    let loops = |case: &millpond_lab::ComparisonCase| {
        let plan = plan(&case.scenario, &Registry::builtin()).unwrap();
        plan.network.flow(plan.flows[0].id).loops().len()
    };
    assert_eq!(cases.iter().map(loops).collect::<Vec<_>>(), [1, 2, 2]);
    assert_eq!(cases[2].scenario.protocols["split:beta=0.5"].loops["R"].value, "lgcc");
}

#[test]
fn a_run_with_several_laws_is_a_function_of_scenario_and_seed() {
    let text = split("lgcc", "pledge").replace("delay = \"15ms\"", "delay = \"15ms\"\njitter = \"1ms\"");
    let run = |seed: &str| results(&text, &[seed]).summary;
    assert!(run("seed=1") == run("seed=1"));
    assert!(run("seed=1") != run("seed=2"));
}

/// LGCC before other laws: it slows down to the rate of the next loop, whose law has its own equilibrium on its own link.
/// In the fluid world it is that of the next loop alone. Packets have a few percent less, because a router sees the load of an
/// interval after it and hosts have jitter, as on a single link.
#[test]
fn behind_lgcc_both_worlds_have_the_rate_of_the_last_loop() {
    for next in ["rcp", "xcp", "acp", "pledge"] {
        let text = split("lgcc", next);
        let (packets, equations) = (results(&text, &[]), fluid(&text, &[]));
        let [packets, equations] = [&packets, &equations].map(|run| {
            let flow = flow(run, "f");
            assert_eq!(flow.loops.len(), 2, "{next}");
            flow.goodput_bps
        });
        // The payload of a packet is 1440 of 1500 bytes.
        assert!(equations <= 10e6 && equations > 8e6, "{next}: {equations}");
        assert!(near(packets, equations, 0.03), "{next}: {packets} and {equations}");
    }
}

/// A chain of two LGCC loops before a last hop with a generated LTE capacity, on which Pledge has a target of 50 ms, and the mean
/// of that capacity over its peak.
fn chain_before_pledge(seed: u64) -> (f64, Run) {
    let recipe = TraceRecipe::new(preset("lte-fading").unwrap(), Span::from_secs(60.0), seed);
    let trace = recipe.generate().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hop.csv");
    std::fs::write(&file, trace.to_csv()).unwrap();
    let text = format!(
        "title = \"chain\"\nduration = \"60s\"\n[[flows]]\nname = \"f\"\nprotocol = \"chain\"\n\
         path = [\"server\", \"R\", \"base\", \"phone\"]\n\
         [[links]]\nname = \"core\"\nbetween = [\"server\", \"R\"]\nrate = \"500Mbps\"\ndelay = \"10ms\"\n\
         [[links]]\nname = \"backhaul\"\nbetween = [\"R\", \"base\"]\nrate = \"500Mbps\"\ndelay = \"10ms\"\n\
         [[links]]\nname = \"hop\"\nbetween = [\"base\", \"phone\"]\nrate = {{ trace = {:?} }}\ndelay = \"5ms\"\n\
         buffer = \"unlimited\"\n\
         [protocols.chain]\nprotocol = \"lgcc\"\nrelays = [\"R\", \"base\"]\nrelay_buffer = \"200KB\"\n\
         loops = {{ base = \"pledge\" }}\n[protocols.pledge]\nparams = {{ target = \"50ms\" }}\n",
        file.display().to_string()
    );
    let rates = || trace.steps.iter().map(|(_, rate)| rate.as_f64());
    let mean_over_peak = rates().sum::<f64>() / trace.steps.len() as f64 / rates().fold(0.0, f64::max);
    (mean_over_peak, results(&text, &[]))
}

/// The guarantee of Pledge holds for every arrival process (docs/extensions/pledge.md): off the floor of the late factor at most 5 %
/// of the bytes and ln 5 windows over the step of 0.02 are late. A window of the peak is that of a round trip of 10 ms and the
/// service of a packet, below 5 ms at 2.4 Mbit/s. The relays hold at most their buffer, also while the capacity falls, and lose nothing.
#[test]
fn behind_a_chain_of_lgcc_pledge_keeps_its_target_and_the_relays_their_bound() {
    for seed in 1..=3 {
        let (mean_over_peak, run) = chain_before_pledge(seed);
        assert!(
            least(series(&run, "hop ->", "late factor"), (0.0, 60.0)) > 0.2,
            "the factor is off its floor"
        );
        let waits = run.distributions.iter().find(|found| found.entity == "hop ->").unwrap();
        let in_time = waits.points.iter().filter(|(_, ms)| *ms <= 50.0).map(|(share, _)| *share);
        let late = 1.0 - in_time.fold(0.0, f64::max);
        let bound = 0.05 + f64::ln(5.0) / 0.02 * 0.015 / (mean_over_peak * 60.0);
        assert!(late <= bound, "{late} of {bound}");
        for relay in ["f@R", "f@base"] {
            let held = greatest(series(&run, relay, quantity::BACKLOG), (0.0, 60.0));
            assert!(held * 1440.0 <= 200e3, "{relay}: {held} packets");
        }
        assert!(run.summary.relays.iter().all(|relay| relay.dropped == 0));
        assert!(link(&run, "hop").drops == 0 && flow(&run, "f").lost == 0);
    }
}

/// The buffer limits the first loop, whatever its law is. 300 KB are above what is under way to the relay: it has the rest of them,
/// 200 packets less 10 Mbit/s times 10 ms. 25 KB are below 40 Mbit/s times 10 ms and above 10 Mbit/s times 10 ms: also full. 10 KB
/// permit one buffer per round trip, 8 Mbit/s; of packets, 6 of 6.7, and their round trip has 1.5 ms of service and 1 ms of hosts.
#[test]
fn the_buffer_of_a_relay_limits_the_loop_before_it_alike_in_packets_and_equations() {
    for first in ["newreno", "xcp", "rcp", "abc"] {
        let backlogs = |buffer: &str| {
            let set = format!("protocols.split.relay_buffer={buffer}");
            [results(&split(first, "xcp"), &[&set]), fluid(&split(first, "xcp"), &[&set])].map(|run| {
                assert!(run.summary.warnings.is_empty(), "{:?}", run.summary.warnings);
                let backlog = mean(series(&run, "f@R", quantity::BACKLOG), (5.0, 10.0));
                (backlog, flow(&run, "f").goodput_bps)
            })
        };
        for (buffer, theory) in [("300KB", 300e3), ("25KB", 25e3)] {
            let theory = (theory - 10e6 / 8.0 * 0.01) / 1500.0;
            let [packets, fluid] = backlogs(buffer);
            assert!(
                (0.0..5.0).contains(&(theory - packets.0)),
                "{first}, {buffer}: {} packets, not {theory}",
                packets.0
            );
            // One packet is in service before the relay, one waits for an acknowledgement with its credit, and a part of one has no
            // credit; hosts take a millisecond at most. In the equations, a 64th of what is under way remains for tau.
            assert!((fluid.0 - theory).abs() < 0.2, "{first}, {buffer}: {} packets, not {theory}", fluid.0);
            assert!(near(fluid.1, 10e6, 1e-3), "{first}: {fluid:?}");
        }
        let [packets, fluid] = backlogs("10KB");
        assert!(near(fluid.1, 8e6 * 64.0 / 65.0, 1e-3), "{first}: {fluid:?}");
        assert!((0.7..1.0).contains(&(packets.1 / 8e6)), "{first}: {packets:?}");
    }
}

/// Two flows share the loop in the middle, and the loops after it have 5 and 100 Mbit/s. The relay before the slow one limits its
/// flow alone: the other one has the rest of 50 Mbit/s. Each relay before a slower loop has 300 KB less what is under way to it.
/// Packets differ by as much as above, and XCP's window in the slow loop is four packets, of which a part waits.
#[test]
fn a_relay_limits_its_own_flow_of_a_shared_loop_alike_in_packets_and_equations() {
    let link = |name: &str, ends: [&str; 2], mbps: u32, ms: u32| {
        format!(
            "[[links]]\nname = \"{name}\"\nbetween = [\"{}\", \"{}\"]\nrate = \"{mbps}Mbps\"\ndelay = \"{ms}ms\"\n",
            ends[0], ends[1]
        )
    };
    let flow_of = |name: &str, ends: [&str; 2]| {
        let path = format!("[\"{}\", \"R1\", \"R2\", \"{}\"]", ends[0], ends[1]);
        format!("[[flows]]\nname = \"{name}\"\nprotocol = \"chain\"\npath = {path}\n")
    };
    let text = [
        "title = \"shared\"\nduration = \"20s\"\nmeasure = { from = \"10s\" }\n".to_owned(),
        link("A1", ["S1", "R1"], 100, 5),
        link("A2", ["S2", "R1"], 100, 5),
        link("M", ["R1", "R2"], 50, 10),
        link("B1", ["R2", "T1"], 5, 5),
        link("B2", ["R2", "T2"], 100, 5),
        flow_of("slow", ["S1", "T1"]),
        flow_of("fast", ["S2", "T2"]),
        "[protocols.chain]\nprotocol = \"newreno\"\nrelays = [\"R1\", \"R2\"]\naggregate = [\"R1\"]\nrelay_buffer = \"300KB\"\n\
         loops = { R1 = \"xcp\", R2 = \"xcp\" }\n"
            .to_owned(),
    ];
    let text = text.concat();
    for (run, goodput, packets) in [(results(&text, &[]), 0.02, 5.0), (fluid(&text, &[]), 1e-3, 1.0)] {
        for (name, mbps) in [("slow", 5.0), ("fast", 45.0)] {
            assert!(near(flow(&run, name).goodput_bps, mbps * 1e6, goodput), "{name}");
        }
        let waiting = |relay: &str| mean(series(&run, relay, quantity::BACKLOG), (10.0, 20.0));
        for (relay, mbps, rtt) in [("slow@R1", 5.0, 0.01), ("fast@R1", 45.0, 0.01), ("slow@R2", 5.0, 0.02)] {
            let theory = (300e3 - mbps * 1e6 / 8.0 * rtt) / 1500.0;
            assert!(
                (0.0..packets).contains(&(theory - waiting(relay))),
                "{relay}: {}, not {theory}",
                waiting(relay)
            );
        }
        assert!(waiting("fast@R2") < packets, "the loop after it is faster");
    }
}

/// The first link has 2 Mbit/s for five seconds, then 40: more than the 10 of the second one. A law that waited for data has not
/// raised its rate meanwhile, or no further than its router permits, and loses nothing when they come. CLTCP raises it, in packets
/// as in the equations, and loses what its buffer does not hold. Goodputs of both worlds differ by the
/// rounding of windows, which are 5 to 25 packets here.
#[test]
fn a_law_that_waited_for_data_does_alike_when_they_come_in_packets_and_equations() {
    let steps = r#"{ steps = [["0s", "2Mbps"], ["5s", "40Mbps"]] }"#;
    let both = |law: &str| {
        let text = split("cubic", law).replacen("\"40Mbps\"", steps, 1);
        let bounded = "links.second.buffer=1bdp";
        [results(&text, &[bounded]), fluid(&text, &[bounded])].map(|run| {
            assert!(run.summary.warnings.is_empty(), "{law}: {:?}", run.summary.warnings);
            (flow(&run, "f").goodput_bps, link(&run, "second").drops)
        })
    };
    for law in ["xcp", "rcp", "abc", "vcp", "mcp", "acp", "lgcc", "pledge"] {
        let [packets, equations] = both(law);
        assert_eq!((packets.1, equations.1), (0, 0), "{law}");
        assert!(near(packets.0, equations.0, 0.1), "{law}: {packets:?} {equations:?}");
    }
    let [packets, equations] = both("cltcp");
    assert!(packets.1 > 500 && near(packets.1 as f64, equations.1 as f64, 0.05), "{packets:?} {equations:?}");
}

/// XCP fills 40 Mbit/s, and the next loop sends 10.
#[test]
fn in_the_fluid_world_a_relay_without_bound_that_receives_more_than_it_sends_is_named() {
    let unlimited = &["protocols.split.relay_buffer=unlimited"];
    let warned = fluid(&split("xcp", "rcp"), unlimited).summary.warnings;
    assert!(warned[0].starts_with("the relay f@R received 30.0") && warned.len() == 1, "{warned:?}");
    let signalled = fluid(&split("lgcc", "rcp"), unlimited).summary.warnings;
    assert!(signalled.is_empty(), "{signalled:?}");
}

/// Loops that relay buffers of 30, 30 and 60 packets limit at one queue, which they begin to use one after the other.
const LIMITED: &str = r#"
duration = "40s"
measure = { from = "20s", every = "1s" }
links = [
    { name = "first", between = ["A", "R"], rate = "10Mbps", delay = "10ms", buffer = "unlimited" },
    { name = "second", between = ["R", "B"], rate = "40Mbps", delay = "10ms" },
]
flows = [
    { name = "early", protocol = "small", path = ["A", "R", "B"] },
    { name = "late", protocol = "small", path = ["A", "R", "B"], start = "1s" },
    { name = "large", protocol = "large", path = ["A", "R", "B"], start = "2s" },
]
[protocols.small]
protocol = "newreno"
relays = ["R"]
relay_buffer = "30packets"
[protocols.large]
protocol = "newreno"
relays = ["R"]
relay_buffer = "60packets"
"#;

/// Each loop has its buffer under way, and all packets take the same time. 120 packets at 10 Mbit/s take 144 ms, of which 20 ms are
/// propagation.
#[test]
fn loops_that_relay_buffers_limit_share_a_queue_in_proportion_to_their_buffers() {
    for run in [results(LIMITED, &[]), fluid(LIMITED, &[])] {
        let world = &run.summary.world;
        for (name, mbps) in [("early", 2.5), ("late", 2.5), ("large", 5.0)] {
            let found = flow(&run, name).goodput_bps / 1e6;
            assert!(near(found, mbps, 0.02), "{world}, {name}: {found} Mbit/s, not {mbps}");
        }
        let waited = link(&run, "first").queueing_ms.mean;
        assert!((118.0..=124.5).contains(&waited), "{world}: {waited} ms");
    }
}

/// CLTCP has a queue of its own on the first link, which oscillates. The limited loop has its buffer of 30 packets under way: its rate
/// times the round-trip time of each tenth of a second. In packets, a packet is in service and hosts take a millisecond at most.
#[test]
fn a_loop_that_a_relay_buffer_limits_has_its_buffer_under_way_beside_flows_without_relays() {
    let beside = LIMITED
        .replace(
            "protocol = \"small\", path = [\"A\", \"R\", \"B\"], start",
            "protocol = \"cltcp\", path = [\"A\", \"R\"], start",
        )
        .replace("every = \"1s\"", "every = \"100ms\"")
        .replace(
            "    { name = \"large\", protocol = \"large\", path = [\"A\", \"R\", \"B\"], start = \"2s\" },\n",
            "",
        );
    for run in [results(&beside, &[]), fluid(&beside, &[])] {
        let world = &run.summary.world;
        let samples = |entity: &str, quantity: &str| samples_of(series(&run, entity, quantity), (20.0, 40.0));
        let rates = samples("early", quantity::GOODPUT).into_iter().map(|(_, rate)| rate / 12e3);
        let delays =
            samples("first ->", quantity::QUEUEING).into_iter().map(|(_, delay)| (20.0 + delay) / 1e3);
        let under_way: f64 = rates.zip(delays).map(|(rate, delay)| rate * delay).sum::<f64>() / 200.0;
        assert!((28.0..=30.1).contains(&under_way), "{world}: {under_way} packets");
    }
}

/// Three links before a relay, of which two are busy at the start: the product of their departing shares is more than the capacity of
/// either while a sender waits for credit. The relay has a buffer of 8 packets, and the slowest link 257 kbit/s.
#[test]
fn a_relay_behind_several_busy_links_holds_no_more_than_its_buffer() {
    let text = r#"
        duration = "3s"
        measure.every = "300ms"
        links = [
            { name = "hop1", between = ["A", "B"], rate = "515kbps", delay = "10ms", buffer = "4bdp" },
            { name = "hop2", between = ["B", "C"], rate = "257kbps", delay = "18ms", buffer = "4bdp" },
            { name = "hop3", between = ["C", "R"], rate = "772kbps", delay = "1ms", buffer = "0.1bdp" },
            { name = "hop4", between = ["R", "D"], rate = "772kbps", delay = "1ms", buffer = "15KB" },
        ]
        flows = [{ name = "f", protocol = "chain", path = ["A", "B", "C", "R", "D"], packet = "1000B" }]
        [protocols.chain]
        protocol = "abc"
        relays = ["R"]
        relay_buffer = "8packets"
    "#;
    for run in [results(text, &[]), fluid(text, &[])] {
        let world = &run.summary.world;
        let backlog = greatest(series(&run, "f@R", quantity::BACKLOG), (0.0, 3.0));
        assert!(backlog <= 8.0, "{world}: {backlog} packets");
        let found = flow(&run, "f").goodput_bps / 1e3;
        assert!(found > 0.0 && found <= 257.1, "{world}: {found} kbit/s");
    }
}

/// Losses of a link after a relay are those of the loop that its flows share. Each has a part of them, as packets carry it: the sums
/// are the same as without sharing.
#[test]
fn the_flows_of_a_shared_loop_divide_its_losses_among_them() {
    let lossy = split("cubic", "bbr3").replacen("[[flows]]", "loss = \"1%\"\n[[flows]]\ncount = 3", 1);
    for text in [lossy.replace("loops =", "aggregate = [\"R\"]\nloops ="), lossy] {
        let run = results(&text, &[]);
        let lost: u64 = run.summary.flows.iter().map(|flow| flow.lost).sum();
        let drops = link(&run, "second").drops;
        // A loss at the begin or the end of the measured time is declared a round trip later.
        assert!(drops > 30 && lost.abs_diff(drops) <= 5, "{lost} packets lost, {drops} dropped");
        assert!(run.summary.flows.iter().all(|flow| flow.lost > 0));
    }
}

/// A buffer in time is what the next loop may send of the flow: data wait for that time, whatever the number of flows that share the
/// loop is. The time includes what is under way to the relay, 10 ms.
#[test]
fn a_buffer_in_time_delays_the_flows_of_a_shared_loop_by_that_time_whatever_their_number() {
    let text = split("cubic", "lgcc").replace("loops =", "aggregate = [\"R\"]\nloops =");
    for count in ["flows.f.count=1", "flows.f.count=4"] {
        let set = ["protocols.split.relay_buffer=200ms", count, "measure.from=6s"];
        for run in [results(&text, &set), fluid(&text, &set)] {
            let waited = run.summary.queueing_ms.mean;
            assert!((170.0..=200.0).contains(&waited), "{count}, {}: {waited} ms", run.summary.world);
        }
    }
}

/// The first loop has a base RTT of 10 ms.
#[test]
fn a_buffer_in_time_below_the_round_trip_before_the_relay_is_warned_about() {
    let warnings = |buffer: &str| {
        let set = format!("protocols.split.relay_buffer={buffer}");
        plan(&scenario(&split("cubic", "xcp"), &[&set]), &Registry::builtin()).unwrap().warnings
    };
    let found = warnings("4ms");
    assert!(
        found.len() == 1 && found[0].contains("a base RTT of 10ms") && found[0].contains("at most 40 %"),
        "{found:?}"
    );
    assert!(warnings("10ms").is_empty() && warnings("2packets").is_empty());
}
