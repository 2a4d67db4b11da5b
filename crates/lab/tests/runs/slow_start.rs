//! The end of slow start and the first recovery, with and without HyStart++ and proportional rate reduction.

use crate::common::{flow, greatest, results, samples_of, series};

/// One flow on a link of 50 Mbit/s and 40 ms with a buffer of one bandwidth-delay product, 167 packets.
const ONE: &str = r#"
title = "one flow"
duration = "20s"
measure = { every = "5ms" }
links = [{ name = "L", between = ["A", "B"], rate = "50Mbps", delay = "20ms", buffer = "1bdp" }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"] }]
"#;

#[test]
fn hystart_ends_slow_start_without_a_loss_in_a_buffer_of_four_products() {
    for protocol in ["newreno", "cubic"] {
        let flow_protocol = format!("flows.f.protocol={protocol}");
        let hystart = format!("protocols.{protocol}.params.slow_start=hystart++");
        let sets = [&flow_protocol, "links.L.buffer=4bdp", "duration=4s"];
        // Slow start overshoots by up to a window: the rate doubles in the round trip before the loss is noticed.
        let standard = results(ONE, &sets);
        assert!(flow(&standard, "f").lost > 100, "{protocol}: {}", flow(&standard, "f").lost);
        let early = results(ONE, &[sets[0], sets[1], sets[2], &hystart]);
        assert_eq!(flow(&early, "f").lost, 0, "{protocol}");
        // The RTT has grown by 5 ms, an eighth, at 188 packets at the earliest and twice as many at the latest. Five round
        // trips of a quarter more each follow.
        let window = greatest(series(&early, "f", "window"), (0.0, 2.0));
        assert!((188.0..2.0 * 188.0 * 1.25_f64.powi(5)).contains(&window), "{protocol}: {window}");
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
