//! Whole runs of Paganini, Wang, Doyle and Low's laws against their closed forms.

use crate::common::{flow, fluid, link, mean, near, results, scenario, series};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};

/// Fig. 5 with fewer flows: the price in its second stage is K N / c_0 = 8 * 4 / 2375 s = 13.47 ms.
const MARKS: &str = r#"
title = "Four flows, two round-trip times, one price"
duration = "60s"
measure = { from = "20s", every = "100ms" }
hosts = { jitter = "0s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
buffer = "1000packets"
[[flows]]
name = "short"
count = 2
protocol = "paganini-ecn"
path = ["A", "B"]
packet = "1000B"
rtt = "40ms"
[[flows]]
name = "long"
count = 2
protocol = "paganini-ecn"
path = ["A", "B"]
packet = "1000B"
rtt = "80ms"
[protocols.paganini-ecn.params]
utility_weight = 8
"#;

/// Expected value of `f` of the share of marks among 31 packets, each marked with this probability; all marked count
/// as half a packet less.
fn expected(probability: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut weight, mut sum) = ((1.0 - probability).powi(31), 0.0);
    for marked in 0..=31_u32 {
        let share = f64::from(marked) / 31.0;
        sum += weight * f(share.min(1.0 - 0.5 / 31.0));
        weight *= f64::from(31 - marked) / f64::from(marked + 1) * probability / (1.0 - probability);
    }
    sum
}

/// The price in seconds for a fraction of marked packets P: -log_phi(1 - P) with phi = 1e6.
fn price(share: f64) -> f64 {
    -(1.0 - share).ln() / 1e6_f64.ln()
}

/// The marking probability at which the rising `f` of it is `value`, by bisection.
fn solve(value: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if f(middle) < value { low = middle } else { high = middle }
    }
    low
}

/// The share of marked packets among the acknowledged ones of all flows.
fn marked(run: &Run) -> f64 {
    let sums = run.summary.flows.iter().fold((0, 0), |(m, s), flow| (m + flow.marked, s + flow.sent));
    sums.0 as f64 / sums.1 as f64
}

/// The minimum round-trip time divided by the mean, d / tau.
fn stretch(run: &Run) -> f64 {
    let ratios = run.summary.flows.iter().map(|flow| flow.rtt_ms.unwrap().min / flow.rtt_ms.unwrap().mean);
    ratios.sum::<f64>() / run.summary.flows.len() as f64
}

#[test]
fn marks_give_equal_rates_at_the_virtual_capacity_for_all_round_trip_times() {
    let run = results(MARKS, &[]);
    let link = link(&run, "L");
    assert!((link.utilization - 0.95).abs() < 0.001, "{}", link.utilization);
    assert!(link.queue_packets.p99 < 20.0, "a queue of packet noise alone: {:?}", link.queue_packets);
    // x = c_0 / 4; the noise of marks leaves a few percent over 40 s.
    for flow in &run.summary.flows {
        assert!((flow.goodput_bps / 4.75e6 - 1.0).abs() < 0.04, "{}: {}", flow.name, flow.goodput_bps);
    }
}

#[test]
fn the_equilibrium_price_as_senders_estimate_it_is_k_over_x() {
    let run = results(MARKS, &[]);
    // K / w = q / d, and w = x tau: q = K d / (x tau). The estimate is too high, because the logarithm is convex.
    let read = 8.0 * 4.0 / 2375.0 * stretch(&run);
    let theory = solve(read, |probability| expected(probability, price));
    assert!(theory < 1.0 - 1e6_f64.powf(-read), "the bias lowers the price");
    assert!((marked(&run) / theory - 1.0).abs() < 0.02, "{} {theory}", marked(&run));
}

#[test]
fn the_static_law_has_its_fair_share_at_equilibrium() {
    let params = ["law=dual", "max_rate=6.175Mbps"].map(|set| format!("protocols.paganini-ecn.params.{set}"));
    let rtt = ["flows.short.rtt=100ms", "flows.long.rtt=100ms"];
    let sets: Vec<&str> = params.iter().map(String::as_str).chain(rtt).collect();
    let run = results(MARKS, &sets);
    assert!((link(&run, "L").utilization - 0.95).abs() < 0.002);
    assert!(run.summary.fairness.jain > Some(0.999), "{:?}", run.summary.fairness);
    // Four flows of up to 1.3 c_0 / 4 = 77.5 packets in 100.4 ms: exp(-.37 q / d) averages 1 / 1.3, and what it takes to
    // fill the real queue and the half packet by which a window is more than the whole packets in flight.
    let lost = |probability| 1.0 - expected(probability, |share| (-0.37 * price(share) / 0.1004).exp());
    let theory = solve(1.0 - (1.0 / 1.3 / stretch(&run) + 0.5 / 77.5), lost);
    assert!((marked(&run) / theory - 1.0).abs() < 0.03, "{} {theory}", marked(&run));
}

const DELAY: &str = r#"
title = "Two flows, and two late joiners"
duration = "160s"
measure = { from = "100s", every = "100ms" }
hosts = { jitter = "0s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
buffer = "1000packets"
[[flows]]
name = "old"
count = 2
protocol = "paganini-delay"
path = ["A", "B"]
packet = "1000B"
rtt = "40ms"
[[flows]]
name = "new"
count = 2
protocol = "paganini-delay"
path = ["A", "B"]
packet = "1000B"
rtt = "80ms"
start = "40s"
[protocols.paganini-delay.params]
utility_weight = 8
"#;

fn rate(run: &Run, name: &str) -> f64 {
    flow(run, name).goodput_bps / 8000.0
}

#[test]
fn each_flow_of_the_delay_form_keeps_k_packets_in_the_queue() {
    let run = results(DELAY, &["flows.new.start=0s", "duration=60s", "measure.from=30s"]);
    let link = link(&run, "L");
    assert!(link.utilization > 0.999, "{}", link.utilization);
    // q = K N / c = 12.8 ms, 32 packets; the difference is the packet in service and the link's rounding.
    assert!((link.queue_packets.mean / 32.0 - 1.0).abs() < 0.05, "{:?}", link.queue_packets);
    for name in ["old.0", "old.1", "new.0", "new.1"] {
        assert!((rate(&run, name) / 625.0 - 1.0).abs() < 0.05, "{name}: {}", rate(&run, name));
    }
}

/// Late joiners, whose base RTT includes the standing queue of 6.4 ms, have K / (q - 6.4 ms), the others K / q. With equal
/// numbers of both, the ratio is the golden ratio, 1.618, or less if the queue decreases while they join. Here 16 packets
/// are queued, one of them in service, and a decrease by two makes it 1.5. In the paper's network with 1600 packets it is
/// 1.617 (`papers/paganini/fig6.toml`).
#[test]
fn late_joiners_of_the_delay_form_have_larger_shares_unless_the_queue_empties_regularly() {
    let ratio =
        |run: &Run| (rate(run, "new.0") + rate(run, "new.1")) / (rate(run, "old.0") + rate(run, "old.1"));
    let run = results(DELAY, &[]);
    assert!((1.45..1.65).contains(&ratio(&run)), "{}", ratio(&run));
    let price = link(&run, "L").queueing_ms.mean / 1e3;
    assert!((rate(&run, "old.0") * price / 8.0 - 1.0).abs() < 0.02, "x q = K: {price}");
    let cured = results(DELAY, &["protocols.paganini-delay.params.drain_every=10s"]);
    assert!((ratio(&cured) - 1.0).abs() < 0.03, "{}", ratio(&cured));
    assert!(link(&cured, "L").utilization > 0.97);
}

/// The same as differential equations, without packet granularity: 2 K / q + 2 K / (q - 6.4 ms) = c at q = 16.755 ms, with
/// shares in the golden ratio. With the true base RTTs, the queue is 12.8 ms and the shares are equal.
#[test]
fn late_joiners_have_the_golden_ratio_in_the_fluid_world_too() {
    let fluid = |sets: &[&str]| {
        let about = About { world: World::Fluid, ..About::default() };
        let finished = run(&scenario(DELAY, sets), &Registry::builtin(), about, &Unwatched);
        finished.unwrap_or_else(|error| panic!("{error}")).run
    };
    for control in ["window", "rate"] {
        let control = format!("protocols.paganini-delay.params.control={control}");
        let run = fluid(&[&control]);
        assert!(
            near(link(&run, "L").queueing_ms.mean, 16.755, 0.005),
            "{}",
            link(&run, "L").queueing_ms.mean
        );
        assert!(near(rate(&run, "new.0") / rate(&run, "old.0"), 1.618, 0.01), "{}", rate(&run, "new.0"));
        let cured = fluid(&[&control, "protocols.paganini-delay.params.drain_every=10s"]);
        assert!(near(link(&cured, "L").queueing_ms.mean, 12.8, 0.001));
        assert!(near(rate(&cured, "new.0"), 625.0, 0.001));
    }
}

/// A late joiner subtracts its estimate of the base round-trip time, which has the queue that it found. When the others leave,
/// the queue falls below that estimate, which then follows it: the price is zero from there on and does not change. Up to
/// there (40) reduces the window or the rate by the power alpha of the round-trip time.
#[test]
fn in_both_worlds_a_late_joiner_that_finds_a_shorter_base_round_trip_time_does_not_jump() {
    const WEIGHT: &str = "protocols.paganini-delay.params.utility_weight=20";
    let others = [
        WEIGHT,
        "flows.old.count=6",
        "flows.old.stop=100s",
        "flows.new.count=1",
        "duration=101s",
        "measure.from=0s",
    ];
    for (control, is_window) in [("window", true), ("rate", false)] {
        let control = format!("protocols.paganini-delay.params.control={control}");
        let sets: Vec<&str> = others.into_iter().chain([control.as_str()]).collect();
        for run in [results(DELAY, &sets), fluid(DELAY, &sets)] {
            let delay = |interval| mean(series(&run, "L ->", "queueing delay"), interval) / 1e3;
            let rate = |interval| mean(series(&run, "new", "send rate"), interval) / 8000.0;
            let (found, before) = (0.08 + delay((38.0, 40.0)), 0.08 + delay((95.0, 100.0)));
            let reduced = rate((95.0, 100.0)) * (before / found).powf(0.37);
            // Half a second later, of which a tenth passes until the queue is empty: beta K per second.
            let grown = 0.4 * 1.18 * 20.0 / 0.08;
            let theory = reduced * if is_window { before / 0.08 } else { 1.0 } + grown;
            let measured = rate((100.4, 100.6));
            assert!((measured / theory - 1.0).abs() < 0.05, "{control}: {measured} {theory}");
        }
    }
}
