//! Shaper and policer: no more than their share of the capacity.

use crate::common::{flow, link, near, results};

/// Four long flows on 20 Mbit/s, of which the queue passes half.
const HALF: &str = r#"
title = "half of a link"
duration = "40s"
measure = { from = "10s", every = "100ms" }
links = [{ name = "L", between = ["A", "B"], rate = "20Mbps", delay = "10ms", buffer = "100packets", queue = { shaper = { share = 0.5 } } }]
flows = [{ name = "f", count = 4, protocol = "newreno", path = ["A", "B"] }]
"#;

#[test]
fn a_shaper_serves_its_share_exactly_and_delays_the_rest() {
    let run = results(HALF, &[]);
    let shaped = link(&run, "L");
    // Over 30 s, the burst of 15 kB is 0.04 %.
    assert!(near(shaped.utilization, 0.5, 0.001), "{}", shaped.utilization);
    // 100 packets at 10 Mbit/s are 120 ms.
    let delay = flow(&run, "f.0").queueing_ms;
    assert!(delay.mean > 60.0 && delay.max <= 121.0, "{delay:?}");
}

#[test]
fn a_policer_passes_no_more_than_its_share_and_delays_nothing() {
    let run = results(HALF, &["links.L.queue={ policer = { share = 0.5 } }"]);
    let policed = link(&run, "L");
    assert!(policed.utilization <= 0.5 * 1.001, "{}", policed.utilization);
    assert!(policed.drops > 0);
    // The bucket of 15 kB lets ten packets pass at once, which wait for each other at the line rate: 6 ms.
    assert!(flow(&run, "f.0").queueing_ms.max <= 6.0);
}
