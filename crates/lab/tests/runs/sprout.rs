//! Sprout: use and delay of constant links and of links that vary as its model says, outages, and its greatest window.

use crate::common::{flow, greatest, mean, range, results, series};
use millpond_results::Run;
use millpond_stats::Random;
use std::fmt::Write;

const ONE_LINK: &str = r#"
title = "Sprout on one link"
duration = "60s"
measure = { from = "10s", every = "10ms" }
links = [{ name = "L", between = ["A", "B"], rate = "10Mbps", delay = "20ms", buffer = "5s", queue = "droptail" }]
flows = [{ name = "f", protocol = "sprout", path = ["A", "B"] }]
"#;

/// The greatest window: at least 83 of an expected 100 deliveries within 100 ms at 1000 packets per second have a probability
/// of 95 % (the quantile of a Poisson distribution is 84; the motion of the rate lowers it).
const GREATEST_WINDOW: f64 = 84.0;

const PAGE: &str = include_str!("../../../protocols/src/sprout/README.md");

/// A buffer of 40 ms is shorter than what may be in flight beside the round-trip time: it overflows.
#[test]
fn the_page_has_the_losses_in_a_short_buffer() {
    let lost = |seed: u64| {
        let run = results(ONE_LINK, &[&format!("seed={seed}"), "links.L.rate=5Mbps", "links.L.buffer=1bdp"]);
        let flow = flow(&run, "f");
        flow.lost as f64 / flow.sent as f64
    };
    let (least, greatest) = range([1, 2, 3].map(lost));
    let sentence = format!("{:.0} to {:.0} % of all packets are lost", 100.0 * least, 100.0 * greatest);
    assert!(PAGE.contains(&sentence), "in crates/protocols/src/sprout/README.md it must be: {sentence}");
}

fn goodput(run: &Run) -> f64 {
    flow(run, "f").goodput_bps
}

fn queueing_p95(run: &Run) -> f64 {
    flow(run, "f").queueing_ms.p95
}

/// Steps of a rate that varies as the model of the paper says (section 3.1, NSDI 2013): a Brownian motion of 200 packets per
/// second per square root of a second, reflected at zero and at 800 packets per second, in steps of 20 ms.
fn model_link(seconds: usize, seed: u64) -> String {
    let mut random = Random::stream(seed, "model link");
    let (mut rate, mut steps) = (400.0_f64, String::from("links.L.rate={ steps = ["));
    for step in 0..50 * seconds {
        let _ = write!(steps, "[\"{}ms\", \"{}bps\"],", 20 * step, (rate * 12_000.0).round());
        rate = (rate + 200.0 * 0.02_f64.sqrt() * random.normal()).abs();
        rate = 800.0 - (800.0 - rate).abs();
    }
    steps + "]}"
}

#[test]
fn a_link_of_constant_rate_is_used_completely_and_95_percent_of_all_packets_queue_for_less_than_100_ms() {
    for mbps in [2, 4, 6, 8, 10] {
        let run = results(ONE_LINK, &[&format!("links.L.rate={mbps}Mbps")]);
        let used = goodput(&run) / (f64::from(mbps) * 1e6);
        assert!(used > 0.98, "{mbps}: {used}");
        assert!(queueing_p95(&run) < 100.0, "{mbps}: {}", queueing_p95(&run));
    }
}

#[test]
fn a_link_that_varies_as_the_model_says_delivers_95_percent_in_time_and_more_than_with_cubic_and_codel() {
    for seed in 1..=3 {
        let rate = model_link(60, seed);
        let run = results(ONE_LINK, &[&rate]);
        let codel = results(ONE_LINK, &[&rate, "links.L.queue=codel", "flows.f.protocol=cubic"]);
        assert!(queueing_p95(&run) < 100.0, "{seed}: {}", queueing_p95(&run));
        assert!(goodput(&run) > goodput(&codel), "{seed}: {} {}", goodput(&run), goodput(&codel));
    }
}

#[test]
fn less_confidence_means_more_delay() {
    let rate = model_link(60, 1);
    let delays = [0.95, 0.75, 0.5, 0.25, 0.05].map(|confidence| {
        queueing_p95(&results(
            ONE_LINK,
            &[&rate, &format!("protocols.sprout.params.confidence={confidence}")],
        ))
    });
    assert!(delays.is_sorted(), "{delays:?}");
}

#[test]
fn after_the_last_acknowledgement_no_more_is_sent_than_was_forecast_for_160_ms() {
    let steps = r#"links.L.rate={ steps = [["0s", "5Mbps"], ["20s", "0bps"], ["23s", "5Mbps"]] }"#;
    let run = results(ONE_LINK, &[steps, "measure.from=0s", "duration=40s"]);
    // 67 packets in 160 ms, and two probes after each of three timeouts.
    let queue = greatest(series(&run, "L ->", "queue"), (20.0, 23.0));
    assert!(queue < 67.0 + 6.0, "{queue}");
    let after = mean(series(&run, "f", "goodput"), (24.0, 40.0)) / 5e6;
    assert!(after > 0.98, "{after}");
}

#[test]
fn on_a_long_path_the_rate_is_the_greatest_window_per_round_trip() {
    let run = results(ONE_LINK, &["links.L.delay=100ms", "links.L.rate=100Mbps"]);
    let most = GREATEST_WINDOW * 12_000.0 / 0.2;
    assert!((0.95 * most..most).contains(&goodput(&run)), "{} {most}", goodput(&run));
}

#[test]
fn after_a_pause_of_the_application_frames_are_in_time_at_once() {
    // Frames of 6250 bytes take 5 ms at 10 Mbit/s, and 20 ms on the way. What a receiver knows of the link widens in a pause, so
    // that a frame of five packets fits the window all the same.
    let call = r#"flows.f.workload={ call = { pauses = [["20s", "30s"]] } }"#;
    let run = results(ONE_LINK, &[call, "hosts.jitter=0s"]);
    let frames = run.summary.groups[0].completion_ms.unwrap();
    assert!(frames.p99 < 40.0, "{}", frames.p99);
}
