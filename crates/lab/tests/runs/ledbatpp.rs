//! LEDBAT++: its target, equal shares, the cost of its slowdowns, and its place behind others.

use crate::common::{flow, link, near, results, series};
use millpond_results::Run;

/// A link of 20 Mbit/s and 40 ms with a buffer of 200 ms, more than the target of 60 ms.
const DEEP: &str = r#"
title = "LEDBAT++ on a deep buffer"
duration = "300s"
measure = { from = "60s", every = "100ms" }
links = [{ name = "L", between = ["A", "B"], rate = "20Mbps", delay = "20ms", buffer = "200ms", queue = "droptail" }]
flows = [{ name = "f", protocol = "ledbatpp", path = ["A", "B"] }]
"#;

const TARGET_MS: f64 = 60.0;

fn with_flows(flows: usize, sets: &[&str]) -> Run {
    let count = format!("flows.f.count={flows}");
    results(DEEP, &[&[count.as_str()], sets].concat())
}

/// Median over time of the queueing delay of the link, in milliseconds.
fn median_delay(run: &Run) -> f64 {
    let mut values = series(run, "L ->", "queueing delay").values.clone();
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn between_slowdowns_the_queueing_delay_is_the_target() {
    for flows in [1, 4] {
        let run = with_flows(flows, &["protocols.ledbatpp.params.slowdown_interval=0"]);
        let median = median_delay(&run);
        assert!(near(median, TARGET_MS, 0.05), "{flows}: {median} ms");
        assert!(link(&run, "L").utilization > 0.99);
    }
}

#[test]
fn slowdowns_empty_the_queue_and_cost_at_most_a_tenth_of_the_link() {
    let run = with_flows(1, &[]);
    let utilization = link(&run, "L").utilization;
    assert!((0.9..0.999).contains(&utilization), "{utilization}");
    assert!(near(median_delay(&run), TARGET_MS, 0.1), "{}", median_delay(&run));
    let least = crate::common::least(series(&run, "L ->", "queueing delay"), (60.0, 300.0));
    assert!(least < 1.0, "{least} ms");
}

#[test]
fn a_late_flow_learns_the_base_delay_in_a_slowdown_and_has_its_share() {
    // Section 3 of the draft: without slowdowns a late flow takes the standing queue for its base delay.
    let late = |sets: &[&str]| {
        let text = DEEP.replace(
            r#"flows = [{ name = "f", protocol = "ledbatpp", path = ["A", "B"] }]"#,
            r#"flows = [
  { name = "first", protocol = "ledbatpp", path = ["A", "B"] },
  { name = "late", protocol = "ledbatpp", path = ["A", "B"], start = "30s" },
]"#,
        );
        let run = results(&text, sets);
        flow(&run, "late").goodput_bps / flow(&run, "first").goodput_bps
    };
    let (with, without) = (late(&[]), late(&["protocols.ledbatpp.params.slowdown_interval=0"]));
    assert!((0.7..1.4).contains(&with), "{with}");
    assert!(without > 3.0, "{without}");
}

#[test]
fn cubic_takes_the_link_of_a_deep_buffer() {
    let text = DEEP.replace(
        r#"flows = [{ name = "f", protocol = "ledbatpp", path = ["A", "B"] }]"#,
        r#"flows = [
  { name = "background", protocol = "ledbatpp", path = ["A", "B"] },
  { name = "cubic", protocol = "cubic", path = ["A", "B"] },
]"#,
    );
    let run = results(&text, &[]);
    assert!(flow(&run, "background").goodput_bps < 0.05 * 20e6, "{}", flow(&run, "background").goodput_bps);
    assert!(flow(&run, "cubic").goodput_bps > 0.9 * 20e6);
}
