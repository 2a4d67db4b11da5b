//! L4S: Prague beside classic flows through DualPI2.

use crate::common::{flow, link, mean, near, results, series};
use millpond_results::Run;

/// Prague and a classic protocol over DualPI2, with equal base round-trip times.
const BESIDE: &str = r#"
title = "Prague beside a classic flow"
duration = "120s"
measure = { from = "40s", every = "100ms" }
links = [{ name = "L", between = ["A", "B"], rate = "40Mbps", delay = "10ms", buffer = "250ms", queue = { dualpi2 = {} } }]
flows = [
  { name = "prague", protocol = "prague", path = ["A", "B"] },
  { name = "classic", protocol = "cubic", path = ["A", "B"] },
]
"#;

/// Goodput of the flow of Prague over that of the classic one.
fn balance(run: &Run) -> f64 {
    flow(run, "prague").goodput_bps / flow(run, "classic").goodput_bps
}

#[test]
fn prague_and_cubic_have_nearly_equal_rates_through_dualpi2() {
    // RFC 9332, section 1.2, with RFC 5348: friendly flows are within a factor of two under the same conditions; appendix C
    // derives k for equal base round-trip times.
    for (rate, delay) in
        [("10Mbps", "10ms"), ("40Mbps", "5ms"), ("40Mbps", "10ms"), ("40Mbps", "25ms"), ("120Mbps", "10ms")]
    {
        let sets = [format!("links.L.rate={rate}"), format!("links.L.delay={delay}")];
        let run = results(BESIDE, &sets.each_ref().map(String::as_str));
        let balance = balance(&run);
        assert!((0.5..2.0).contains(&balance), "{rate}, {delay}: {balance}");
        assert!(link(&run, "L").utilization > 0.9, "{rate}, {delay}");
    }
}

#[test]
fn the_low_latency_queue_has_a_delay_of_about_a_millisecond() {
    // RFC 9330, section 1 and RFC 9332, section 1: a queueing delay of about one millisecond at the 99th percentile, while the
    // classic queue has its target of 15 ms.
    let run = results(BESIDE, &["flows.prague.count=4", "flows.classic.count=4"]);
    for n in 0..4 {
        let delay = flow(&run, &format!("prague.{n}")).queueing_ms;
        assert!(delay.p99 < 2.0 && delay.mean < 1.0, "{delay:?}");
        let classic = flow(&run, &format!("classic.{n}")).queueing_ms;
        assert!(near(classic.mean, 15.0, 0.2), "{classic:?}");
    }
}

#[test]
fn the_probabilities_are_coupled_by_two_and_a_square() {
    // RFC 9332, equation (1): p_C = (p_CL / k)^2. The law reports both at the same instants.
    let run = results(BESIDE, &[]);
    let [classic, coupled] =
        ["marking probability", "coupled marking probability"].map(|name| series(&run, "L ->", name));
    assert!(mean(classic, (40.0, 120.0)) > 0.0);
    for (p_c, p_cl) in classic.values.iter().zip(&coupled.values) {
        assert!((p_c - (p_cl / 2.0) * (p_cl / 2.0)).abs() < 1e-12 || *p_cl == 1.0);
    }
}

#[test]
fn prague_alone_fills_the_link_at_the_delay_of_the_ramp() {
    // The ramp from 0.8 to 1.2 ms holds the delay of the low-latency queue below its end.
    let run = results(BESIDE, &["flows.classic.protocol=prague"]);
    assert!(link(&run, "L").utilization > 0.95, "{}", link(&run, "L").utilization);
    for name in ["prague", "classic"] {
        assert!(flow(&run, name).queueing_ms.p99 < 2.0, "{:?}", flow(&run, name).queueing_ms);
    }
    assert!((0.8..1.25).contains(&balance(&run)), "{}", balance(&run));
}

#[test]
fn flows_of_prague_share_equally_over_unequal_short_round_trips() {
    // Section 2.4.4 of the draft: below 25 ms the rate does not depend on the round-trip time, after 500 of them.
    let text = r#"
title = "Prague over 5 and 20 ms"
duration = "120s"
measure = { from = "60s", every = "100ms" }
links = [
  { name = "L", between = ["A", "B"], rate = "40Mbps", delay = "1ms", buffer = "250ms", queue = { dualpi2 = {} } },
  { name = "near", between = ["S", "A"], rate = "1Gbps", delay = "1.5ms", buffer = "1000packets", queue = "droptail" },
  { name = "far", between = ["T", "A"], rate = "1Gbps", delay = "9ms", buffer = "1000packets", queue = "droptail" },
]
flows = [
  { name = "near", protocol = "prague", path = ["S", "A", "B"] },
  { name = "far", protocol = "prague", path = ["T", "A", "B"] },
]
"#;
    let ratio = |sets: &[&str]| {
        let run = results(text, sets);
        flow(&run, "near").goodput_bps / flow(&run, "far").goodput_bps
    };
    let (reduced, full) = (ratio(&[]), ratio(&["protocols.prague.params.least_virtual_rtt=0s"]));
    assert!((0.8..1.25).contains(&reduced), "{reduced}");
    assert!(full > 2.0, "without it the rates go with the inverse of the round-trip time: {full}");
}
