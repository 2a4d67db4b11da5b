//! What late calls change in the results of a law.

use super::{VirtualRun, ideal};
use millpond_units::{Span, Time};

/// Two Vegas flows over a link of 20 Mbit/s with an RTT of 20 ms; the second one starts later.
fn two_downloads(seed: u32) -> String {
    format!(
        r#"
        title = "two downloads"
        duration = "20s"
        seed = {seed}
        links = [{{ name = "L", between = ["S", "D"], rate = "20Mbps", delay = "10ms", buffer = "1bdp" }}]
        flows = [
            {{ name = "first", protocol = "vegas", path = ["S", "D"], start = "576ms" }},
            {{ name = "second", protocol = "vegas", path = ["S", "D"], start = "1449ms" }},
        ]
        "#
    )
}

/// The share of the first flow in what both deliver from 8 s to 20 s, and that in the capacity.
fn share_and_utilization(seed: u32, late: Span) -> (f64, f64) {
    let mut run = VirtualRun::new(&two_downloads(seed));
    let delivered =
        |run: &VirtualRun| run.plan.network.flows().map(|flow| flow.delivered().as_f64()).collect::<Vec<_>>();
    run.run_to(Time::from_secs(8.0), late, &mut ideal);
    let before = delivered(&run);
    run.run_to(Time::from_secs(20.0), late, &mut ideal);
    let rates: Vec<f64> = delivered(&run).iter().zip(before).map(|(after, before)| after - before).collect();
    let all = rates[0] + rates[1];
    (rates[0] / all, all * 8.0 / (20e6 * 12.0))
}

#[test]
fn late_calls_move_vegas_only_among_its_equilibria() {
    // In equilibrium each flow has between alpha = 2 and beta = 4 packets in the queue. Flows with equal base RTTs have shares in
    // proportion to them: 2/6 to 4/6 (Low, Peterson and Wang 2002). Two per cent for the approach.
    for seed in 1..=6 {
        for late in [Span::ZERO, Span::from_micros(200)] {
            let (share, utilization) = share_and_utilization(seed, late);
            assert!((2.0 / 6.0 - 0.02..=4.0 / 6.0 + 0.02).contains(&share), "{seed}, {late} late: {share}");
            assert!(utilization > 0.99, "{seed}, {late} late: {utilization}");
        }
    }
}
