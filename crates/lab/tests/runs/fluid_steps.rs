//! Fixed steps: against the adaptive method, against theory, and unsupported features.

use crate::common::{link, mean, near, scenario, series};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};

fn try_fluid(text: &str, sets: &[&str]) -> Result<Run, String> {
    let about = About { world: World::Fluid, ..About::default() };
    let finished = run(&scenario(text, sets), &Registry::builtin(), about, &Unwatched);
    finished.map(|finished| finished.run).map_err(|error| error.to_string())
}

fn fluid(text: &str, sets: &[&str]) -> Run {
    try_fluid(text, sets).unwrap_or_else(|error| panic!("{error}"))
}

fn in_steps(text: &str, step: &str) -> Run {
    fluid(text, &["fluid.method=fixed-step", &format!("fluid.step={step}")])
}

/// Two flows of different round-trip times over two links; the second joins, and the capacity decreases. No jump occurs at
/// an empty queue.
const TWO: &str = r#"
title = "Two flows, two links"
duration = "40s"
measure = { from = "10s", every = "1s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = { steps = [["0s", "60Mbps"], ["30.44s", "50Mbps"]] }
delay = "10ms"
buffer = "unlimited"
[[links]]
name = "M"
between = ["C", "A"]
rate = "200Mbps"
delay = "7ms"
buffer = "unlimited"
[[flows]]
name = "one"
protocol = "cltcp"
packet = "1000B"
path = ["A", "B"]
rtt = "90ms"
[[flows]]
name = "two"
protocol = "cltcp"
packet = "1000B"
path = ["C", "A", "B"]
rtt = "120ms"
start = "15.52s"
[protocols.cltcp]
params = { initial_rate = 100, initial_factor = 100 }
"#;

/// The greatest differences of series, relative to the greatest value of each, and of means of flows and links.
fn differences(a: &Run, b: &Run) -> (f64, f64) {
    let worst = |pairs: &mut dyn Iterator<Item = (f64, f64)>, size: f64| {
        pairs.map(|(a, b)| (a - b).abs() / size.max(1e-9)).fold(0.0, f64::max)
    };
    assert_eq!(a.series.len(), b.series.len());
    let of_series =
        a.series.iter().zip(&b.series).filter(|(a, _)| a.quantity != "Jain index").map(|(a, b)| {
            assert_eq!(
                (&a.entity, &a.quantity, &a.unit, &a.times),
                (&b.entity, &b.quantity, &b.unit, &b.times)
            );
            let size = a.values.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
            worst(&mut a.values.iter().copied().zip(b.values.iter().copied()), size)
        });
    let flows = a.summary.flows.iter().zip(&b.summary.flows);
    let means = flows.flat_map(|(a, b)| {
        [
            (a.goodput_bps, b.goodput_bps),
            (a.send_rate_bps, b.send_rate_bps),
            (a.rtt_ms.unwrap().mean, b.rtt_ms.unwrap().mean),
        ]
    });
    let links = a.summary.links.iter().zip(&b.summary.links);
    let means = means.chain(
        links.flat_map(|(a, b)| [(a.utilization, b.utilization), (a.queueing_ms.mean, b.queueing_ms.mean)]),
    );
    let of_means = means.map(|(a, b)| worst(&mut std::iter::once((a, b)), a.abs()));
    (of_series.fold(0.0, f64::max), of_means.fold(0.0, f64::max))
}

#[test]
fn results_converge_to_those_of_the_adaptive_method_with_the_square_of_the_step() {
    let adaptive = fluid(TWO, &[]);
    let [coarse, fine] = ["20ms", "5ms"].map(|step| differences(&adaptive, &in_steps(TWO, step)));
    println!("off by {coarse:?} and {fine:?}");
    let order = |coarse: f64, fine: f64| (coarse / fine).log2() / 2.0;
    assert!(order(coarse.0, fine.0) > 1.8 && order(coarse.1, fine.1) > 1.8, "{coarse:?} {fine:?}");
    assert!(fine.0 < 2e-4 && fine.1 < 1e-4, "{fine:?}");
}

/// A thousand flows, each with a round-trip time of its own, in the form that a user writes.
const THOUSAND: &str = r#"
title = "A thousand flows"
duration = "60s"
measure = { from = "50s", every = "1s" }
fluid = { method = "fixed-step", step = "5ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "10Gbps"
delay = "5ms"
buffer = "unlimited"
[[links]]
name = "M"
between = ["B", "C"]
rate = "6Gbps"
delay = "5ms"
buffer = "unlimited"
[[flows]]
name = "short"
count = 500
protocol = "cltcp"
path = ["A", "B"]
rtt = { uniform = ["30ms", "100ms"] }
start = { uniform = ["0s", "5s"] }
[[flows]]
name = "long"
count = 500
protocol = "cltcp"
path = ["A", "B", "C"]
rtt = { uniform = ["30ms", "100ms"] }
start = { uniform = ["0s", "5s"] }
[protocols.cltcp]
params = { initial_rate = 100, initial_factor = 100 }
"#;

/// CLTCP is max-min fair: each of 1000 flows has a thousandth of the 10 Gbit/s. The second link, which 500 of them use to
/// 5/6, has no queue. Arrivals at the full link are departures and queue; where it is the only link, all departures are
/// delivered.
#[test]
fn a_thousand_flows_converge_to_their_max_min_shares_and_bits_are_conserved() {
    let run = fluid(THOUSAND, &[]);
    assert_eq!(run.summary.flows.len(), 1000);
    for f in &run.summary.flows {
        assert!(near(f.goodput_bps, 10e6, 1e-3), "{}: {}", f.name, f.goodput_bps);
    }
    let (l, m) = (link(&run, "L"), link(&run, "M"));
    assert!(
        l.utilization > 0.9999 && near(m.utilization, 5.0 / 6.0, 1e-3),
        "{} {}",
        l.utilization,
        m.utilization
    );
    assert!(m.queue_packets.max < 1e-6, "{:?}", m.queue_packets);
    assert_eq!((l.drops, m.drops), (0, 0));
    let whole = fluid(THOUSAND, &["measure.from=0s", "duration=20s", "flows.long.path=[\"A\", \"B\"]"]);
    let l = link(&whole, "L");
    let waits = series(&whole, "L ->", "queue").values.last().copied().unwrap();
    let served = mean(series(&whole, "L ->", "throughput"), (0.0, 20.0)) * 20.0 / 12000.0;
    assert!(
        (l.arrivals as f64 - served - waits).abs() < 1.0 + 1e-6 * served,
        "{} {served} {waits}",
        l.arrivals
    );
    let delivered: f64 = whole.transfers.iter().map(|t| t.delivered_bytes as f64 / 1500.0).sum();
    // Rounded to bytes, flow by flow.
    assert!((served - delivered).abs() < 1.0 + 1e-9 * served, "{served} {delivered}");
}

/// Steps of 10 000 loops are shared among the threads of the pool.
#[test]
fn ten_thousand_flows_have_the_same_bytes_with_one_thread_and_with_two_and_conserve_bits() {
    let many = [
        "duration=2s",
        "measure.from=0s",
        "measure.every=500ms",
        "links.L.rate=100Gbps",
        "flows.short.count=5000",
        "flows.long.count=5000",
        "flows.long.path=[\"A\", \"B\"]",
    ];
    let [one, two] = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fluid(THOUSAND, &many))
    });
    let bits = |run: &Run| -> Vec<Vec<u64>> {
        run.series.iter().map(|series| series.values.iter().map(|value| value.to_bits()).collect()).collect()
    };
    assert!(bits(&one) == bits(&two));
    assert!(one.summary == two.summary);
    assert_eq!(one.summary.flows.len(), 10_000);
    let (l, waits) = (link(&one, "L"), series(&one, "L ->", "queue").values.last().copied().unwrap());
    let served = mean(series(&one, "L ->", "throughput"), (0.0, 2.0)) * 2.0 / 12000.0;
    assert!(
        served > 0.0 && (l.arrivals as f64 - served - waits).abs() < 1.0 + 1e-6 * served,
        "{served} {waits}"
    );
    let delivered: f64 = one.transfers.iter().map(|t| t.delivered_bytes as f64 / 1500.0).sum();
    // Each flow is rounded to bytes.
    assert!((served - delivered).abs() < 10.0 + 1e-9 * served, "{served} {delivered}");
}

#[test]
fn a_step_longer_than_a_return_delay_is_refused_with_the_longest_step() {
    let said = try_fluid(THOUSAND, &["fluid.step=50ms", "measure.every=1s"]).unwrap_err();
    assert!(said.contains("which is less than a step") && said.contains("set a step of at most"), "{said}");
    assert!(said.contains("--set") && said.contains("fluid.step=50ms"), "{said}");
}

#[test]
fn a_run_of_more_fixed_steps_than_the_limit_is_refused_with_their_number() {
    let sets = ["fluid.method=fixed-step", "fluid.step=5us", "duration=200s", "measure.every=10s"];
    let refused = try_fluid(TWO, &sets).unwrap_err();
    assert!(refused.contains("4.0e7 steps") && refused.contains("try a longer step"), "{refused}");
}

#[test]
fn features_without_fixed_steps_are_refused_with_name_and_alternative() {
    let steps = ["fluid.method=fixed-step", "fluid.step=5ms"];
    let relays = ["flows.one.protocol=lgcc", "flows.two.protocol=lgcc", "protocols.lgcc.relays=[\"A\"]"];
    for (sets, name, what) in [
        (&relays[..], "two", "do not support relays"),
        (
            &["flows.one.protocol=mcp", "flows.two.protocol=mcp"],
            "L ->",
            "do not support laws that act at times of their own",
        ),
        // Its only tick is that of a sender that joins at a queue.
        (
            &["flows.one.protocol=paganini-delay", "flows.two.protocol=paganini-delay"],
            "one",
            "do not support laws that act at times of their own",
        ),
    ] {
        let said = try_fluid(TWO, &[sets, &steps[..]].concat()).unwrap_err();
        assert!(said.contains(name) && said.contains(what) && said.contains("test.toml:"), "{said}");
        assert!(said.contains("fluid.method = \"adaptive\"") && said.contains("--world packets"), "{said}");
    }
}

/// RCP's router limits its rate to the capacity when that falls. Without the limit it would offer the earlier capacity for some
/// round trips longer, and the queue would be several times as long.
#[test]
fn a_law_acts_on_a_drop_of_the_capacity_in_fixed_steps_as_well() {
    const DROP: &str = r#"
title = "RCP, 10 Mbit/s, then 6"
duration = "12s"
measure = { from = "10s", every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = { steps = [["0s", "10Mbps"], ["10s", "6Mbps"]] }
delay = "20ms"
buffer = "100packets"
queue = "droptail"
[[flows]]
name = "f"
protocol = "rcp"
path = ["A", "B"]
"#;
    let [adaptive, fixed] = [fluid(DROP, &[]), in_steps(DROP, "1ms")]
        .map(|run| mean(series(&run, "L ->", "queue"), (10.0, 11.0)));
    assert!(adaptive > 0.0, "{adaptive}");
    assert!(near(fixed, adaptive, 0.05), "{fixed} {adaptive}");
}
