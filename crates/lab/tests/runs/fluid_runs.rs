//! Whole runs of the fluid world: against the papers' errata, against theory, against the packet world.

use crate::common::{flow, fluid, greatest, link, mean, near, results, scenario, series, settles};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Unwatched, World};

/// CLTCP's Fig. 6 up to its second stage: two flows with round-trip times of 50 and 100 ms.
const CLTCP: &str = r#"
title = "CLTCP, two flows"
duration = "100s"
measure = { from = "90s", every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "120Mbps"
delay = "10ms"
buffer = "10000packets"
[[flows]]
name = "one"
protocol = "cltcp"
packet = "1000B"
path = ["A", "B"]
rtt = "50ms"
[[flows]]
name = "two"
protocol = "cltcp"
packet = "1000B"
path = ["A", "B"]
rtt = "100ms"
start = "50s"
[protocols.cltcp]
params = { initial_rate = 100, initial_factor = 100 }
"#;

/// Errata, section 1: 120 then 60, 60 Mbit/s within .05; within 5 % after 6.8 and 6.2 s, within .3 s; queue peaks of
/// 795 and 8953 packets, within 3 %; a queue of 100 within .5 at the end; no loss.
#[test]
fn cltcp_converges_as_its_errata_state() {
    let run = fluid(CLTCP, &[]);
    for name in ["one", "two"] {
        assert!((flow(&run, name).goodput_bps / 1e6 - 60.0).abs() < 0.05);
    }
    let one = series(&run, "one", "send rate");
    assert!((settles(one, (0.0, 50.0), 120e6, 0.05) - 6.8).abs() < 0.3);
    let two = series(&run, "two", "send rate");
    assert!((settles(two, (50.0, 100.0), 60e6, 0.05) - 6.2).abs() < 0.3);
    let queue = series(&run, "L ->", "queue");
    assert!(near(greatest(queue, (0.0, 50.0)), 795.0, 0.03));
    assert!(near(greatest(queue, (50.0, 100.0)), 8953.0, 0.03));
    let l = link(&run, "L");
    assert!((l.queue_packets.mean - 100.0).abs() < 0.5);
    assert_eq!(l.drops, 0);
    assert!(l.utilization > 0.9999);
}

#[test]
fn the_summary_of_a_fluid_run_has_the_entries_of_a_packet_run() {
    let run = fluid(CLTCP, &[]);
    assert_eq!(run.summary.world, "fluid");
    let one = flow(&run, "one");
    // 10 s at 60 Mbit/s in packets of 8000 bits.
    assert!(one.sent.abs_diff(75_000) < 100, "{}", one.sent);
    // 100 packets of 8000 bits at 120 Mbit/s are 6.67 ms.
    assert!(near(one.rtt_ms.unwrap().mean, 50.0 + 20.0 / 3.0, 1e-3), "{:?}", one.rtt_ms);
    assert!(near(run.summary.queueing_ms.p99, 20.0 / 3.0, 1e-2));
    assert!(run.summary.fairness.jain.is_some_and(|jain| near(jain, 1.0, 1e-6)));
    assert!(run.series.iter().any(|s| s.entity == "L ->" && s.quantity == "rate factor"));
    assert!(run.distributions.iter().any(|d| d.entity == "all"));
    let packets = results(CLTCP, &["duration=1s", "measure.from=0s"]);
    for s in packets
        .series
        .iter()
        .filter(|s| ["goodput", "send rate", "queue", "capacity"].contains(&&*s.quantity))
    {
        let same =
            |other: &&millpond_results::Series| other.entity == s.entity && other.quantity == s.quantity;
        assert!(
            s.entity == "L <-" || run.series.iter().find(same).is_some_and(|o| o.unit == s.unit),
            "{s:?}"
        );
    }
}

/// Arrivals at a link are departures, queue and losses: the counters of any run add up.
#[test]
fn bits_are_conserved() {
    let text = CLTCP.replace("10000packets", "300packets");
    let run = fluid(&text, &["measure.from=0s"]);
    let l = link(&run, "L");
    assert!(l.drops > 100, "the second flow overfills the buffer: {}", l.drops);
    let served = mean(series(&run, "L ->", "throughput"), (0.0, 100.0)) * 100.0 / 8000.0;
    let waits = 100.0;
    // Losses are evaluated every 25 ms only.
    let sum = served + waits + l.drops as f64;
    assert!(near(sum, l.arrivals as f64, 2e-3), "{sum} of {}", l.arrivals);
}

#[test]
fn the_same_scenario_gives_the_same_numbers() {
    let sets = ["duration=20s", "measure.from=1s", "flows.two.start={ uniform = [\"2s\", \"8s\"] }"];
    // As text, because a window with a single flow has no Jain index.
    let shown = || format!("{:?}", fluid(CLTCP, &sets));
    assert!(shown() == shown());
}

/// A relay's queue is a series of the relay, and its delay is part of a flow's queueing delay.
#[test]
fn a_chain_of_loops_is_measured_end_to_end() {
    let text = r#"
title = "Two loops"
duration = "20s"
measure = { from = "10s" }
[[links]]
name = "L1"
between = ["A", "R"]
rate = "50Mbps"
delay = "10ms"
[[links]]
name = "L2"
between = ["R", "B"]
rate = "20Mbps"
delay = "10ms"
[[flows]]
name = "f"
protocol = "lgcc"
path = ["A", "R", "B"]
[protocols.lgcc]
relays = ["R"]
"#;
    let run = fluid(text, &[]);
    let f = flow(&run, "f");
    // A single flow has no marks: in equilibrium each loop sends at its carrying capacity, the first one at the rate of the
    // next.
    assert!(near(f.goodput_bps, 20e6, 1e-3), "{}", f.goodput_bps);
    assert!(near(f.loops[0].rtt_ms.min, 20.0, 1e-6), "of its first loop: {:?}", f.loops);
    assert_eq!(run.summary.relays[0].name, "f@R");
    assert!(run.series.iter().any(|s| s.entity == "f@R" && s.quantity == "backlog"));
    assert!(run.series.iter().any(|s| s.entity == "f/loop2" && s.quantity == "marking probability"));
}

#[test]
fn a_link_of_a_nanosecond_is_refused_at_once_with_the_limit_of_steps() {
    let scenario = scenario(CLTCP, &["links.L.delay=1ns", "flows.one.rtt=2ns", "flows.two.rtt=2ns"]);
    let about = About { world: World::Fluid, ..About::default() };
    let error = run(&scenario, &Registry::builtin(), about, &Unwatched).unwrap_err().to_string();
    assert!(error.contains("shortest delay") && error.contains("5.0e10 steps"), "{error}");
}

/// A hundred windows of at least a packet are far more than 1 Mbit/s and a buffer of ten packets hold, and the queue is above the
/// threshold at all times: what is not lost is marked.
#[test]
fn fluid_that_is_lost_is_not_marked() {
    const FULL: &str = r#"
duration = "20s"
measure.from = "10s"
links = [{ name = "L", between = ["A", "B"], rate = "1Mbps", delay = "5ms", buffer = "10packets", queue = { red = { preset = "dctcp-step", max_th = "3KB" } } }]
flows = [{ name = "f", count = 100, protocol = "dctcp", path = ["A", "B"] }]
"#;
    let run = fluid(FULL, &[]);
    let (link, f) = (link(&run, "L"), flow(&run, "f.0"));
    assert!(link.drops > link.arrivals / 2, "{link:?}");
    assert!(link.marks.abs_diff(link.arrivals - link.drops) <= 1, "{link:?}");
    assert!(f.marked > 0 && f.marked.abs_diff(f.sent - f.lost) <= 1, "{f:?}");
}
