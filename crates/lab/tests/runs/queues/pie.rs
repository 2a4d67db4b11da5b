//! Queues with long flows: the delay that their controllers aim at, in both worlds.

use crate::common::{fluid, link, mean, near, results, series};

/// Long flows of one protocol on 20 Mbit/s and 40 ms: a bandwidth-delay product of 67 packets.
const LONG: &str = r#"
title = "long flows"
duration = "100s"
measure = { from = "40s", every = "100ms" }
links = [{ name = "L", between = ["A", "B"], rate = "20Mbps", delay = "20ms", buffer = "500KB", queue = { pie = {} } }]
flows = [{ name = "f", count = 10, protocol = "newreno", path = ["A", "B"] }]
"#;

#[test]
fn pie_holds_its_target_whatever_the_number_of_flows_and_the_rate() {
    // The controller has an integral part, so that the mean of the delay is the target while the probability varies within
    // one decade. 5 and 50 flows; 20 and 100 Mbit/s.
    for (flows, rate) in [(5, "20Mbps"), (10, "20Mbps"), (50, "20Mbps"), (50, "100Mbps")] {
        let sets = [format!("flows.f.count={flows}"), format!("links.L.rate={rate}")];
        let run = results(LONG, &sets.each_ref().map(String::as_str));
        let delay = mean(series(&run, "L ->", "queueing delay"), (40.0, 100.0));
        assert!(near(delay, 15.0, 0.15), "{flows}, {rate}: {delay}");
        assert!(link(&run, "L").utilization > 0.95, "{flows}, {rate}");
    }
}

#[test]
fn pie_marks_capable_packets_and_drops_the_others() {
    let marked = results(LONG, &["protocols.newreno.params.ecn=true"]);
    let dropped = results(LONG, &[]);
    assert!(link(&marked, "L").marks > 100 && link(&marked, "L").drops == 0);
    assert!(link(&dropped, "L").marks == 0 && link(&dropped, "L").drops_total > 100);
}

#[test]
fn the_fluid_equilibrium_of_pie_is_its_target() {
    let run = fluid(LONG, &["duration=200s", "measure.from=150s"]);
    let delay = mean(series(&run, "L ->", "queueing delay"), (150.0, 200.0));
    assert!(near(delay, 15.0, 0.02), "{delay}");
}
