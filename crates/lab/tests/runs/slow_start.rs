//! The end of slow start and the first recovery, with and without HyStart++ and proportional rate reduction.

use crate::common::{flow, results, samples_of, series};

/// One flow on a link of 50 Mbit/s and 40 ms with a buffer of one bandwidth-delay product, 167 packets.
const ONE: &str = r#"
title = "one flow"
duration = "20s"
measure = { every = "5ms" }
links = [{ name = "L", between = ["A", "B"], rate = "50Mbps", delay = "20ms", buffer = "1bdp" }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"] }]
"#;

#[test]
fn hystart_overshoots_a_deep_buffer_by_a_quarter_of_the_window_at_most() {
    // Link and buffer hold nine products, 1503 packets. While the first loss is noticed, standard slow start doubles the
    // window; conservative slow start, which the growing RTT has begun long before, adds a quarter.
    for protocol in ["newreno", "cubic"] {
        let sets = [
            format!("flows.f.protocol={protocol}"),
            "links.L.buffer=8bdp".to_owned(),
            "duration=4s".to_owned(),
        ];
        let standard = results(ONE, &sets.each_ref().map(String::as_str));
        let hystart = format!("protocols.{protocol}.params.slow_start=hystart++");
        let early = results(ONE, &[&sets[0], &sets[1], &sets[2], &hystart]);
        let lost = [&standard, &early].map(|run| flow(run, "f").lost as f64 / 1503.0);
        assert!(lost[0] > 0.5 && lost[1] <= 0.25, "{protocol}: {lost:?}");
        let growth = |run| samples_of(series(run, "f", "window"), (0.0, 0.7)).last().unwrap().1;
        assert!(growth(&early) < 0.8 * growth(&standard), "{protocol}");
    }
}

#[test]
fn with_proportional_reduction_packets_leave_during_the_whole_recovery() {
    // In congestion avoidance 334 packets are in flight before a loss and 167 after it. Without proportional reduction none
    // leaves until 167 are delivered, 40 ms at 50 Mbit/s; with it one for every second delivered.
    let longest_pause = |sets: &[&str]| {
        let run = results(ONE, sets);
        let rate = samples_of(series(&run, "f", "send rate"), (6.0, 20.0));
        let mut pause = 0;
        rate.iter().fold(0, |silent, (_, rate)| {
            let silent = if *rate == 0.0 { silent + 1 } else { 0 };
            pause = pause.max(silent);
            silent
        });
        pause
    };
    let without = longest_pause(&["hosts.jitter=0s"]);
    assert!((6..=9).contains(&without), "{without} intervals of 5 ms");
    let with = longest_pause(&["hosts.jitter=0s", "protocols.newreno.params.proportional_reduction=true"]);
    assert!(with <= 1, "{with} intervals of 5 ms");
}
