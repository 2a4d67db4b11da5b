//! DCTCP's oscillation about its marking threshold: limit cycle of a relay controller, fluid run, and sawtooth of packets.
//! They differ, because a window decreases once per round, while the equation decreases as long as marks arrive.

use crate::common::{all_samples, greatest, least, near, scenario, series};
use millpond_lab::run;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_results::{About, Series, Unwatched, World};
use millpond_theory::classification::analyze_steady_state;
use millpond_theory::steady_state::SteadyState;

/// Flows that start together: 24 ms of base RTT, and a queue that marks above K = 65 packets.
const LINK: &str = r#"
title = "A marking threshold"
duration = "40s"
measure = { from = "20s", every = "1ms" }
hosts = { jitter = "0s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "12ms"
buffer = "1000packets"
[[flows]]
name = "f"
count = 4
protocol = "dctcp"
path = ["A", "B"]
"#;

/// The sum of bandwidth-delay product and K in packets of 1500 bytes, and the round-trip time with K packets queued, in
/// seconds.
fn packets_and_rtt(mbps: f64) -> (f64, f64) {
    let packets_per_s = mbps * 1e6 / 12000.0;
    (packets_per_s * 0.024 + 65.0, 0.024 + 65.0 / packets_per_s)
}

/// The time in seconds between upward crossings of the mean, and the amplitude from peak to peak.
fn cycle(queue: &Series) -> (f64, f64) {
    let late: Vec<(f64, f64)> = all_samples(queue).filter(|(time, _)| *time > 20.0).collect();
    let mean = late.iter().map(|(_, value)| value).sum::<f64>() / late.len() as f64;
    let rises: Vec<f64> =
        late.windows(2).filter(|pair| pair[0].1 <= mean && mean < pair[1].1).map(|pair| pair[1].0).collect();
    let period = (rises[rises.len() - 1] - rises[0]) / (rises.len() - 1) as f64;
    (period, greatest(queue, (20.0, 40.0)) - least(queue, (20.0, 40.0)))
}

fn measured(world: World, sets: &[&str]) -> (f64, f64) {
    let about = About { world, ..About::default() };
    let run = run(&scenario(LINK, sets), &Registry::builtin(), about, &Unwatched).unwrap().run;
    cycle(series(&run, "L ->", "queue"))
}

/// Period in seconds, and amplitude in packets from the sentence of `millpond stability`.
fn predicted(sets: &[&str]) -> (f64, f64) {
    let plan = fluid::plan(&scenario(LINK, sets), &Registry::builtin()).unwrap();
    let state = analyze_steady_state(&plan).unwrap().state;
    let SteadyState::LimitCycle(oscillation) = state else { panic!("expected a limit cycle: {state:?}") };
    let (_, after) = oscillation.reason.split_once("about this threshold: ").unwrap();
    (oscillation.fluid_period.unwrap(), after.split(' ').next().unwrap().parse().unwrap())
}

/// The cycle of the linear loop with a relay controller. The tolerance is the relative change of the window during a
/// cycle, W^-1/2. A describing function of the first harmonic alone would be wrong by half.
#[test]
fn the_fluid_oscillates_about_the_threshold_as_a_relay_controller_does() {
    for (flows, window) in [(4, 66.25_f64), (1, 265.0)] {
        let sets = format!("flows.f.count={flows}");
        let (theory, fluid) = (predicted(&[&sets]), measured(World::Fluid, &[&sets]));
        let tolerance = 0.5 / window.sqrt();
        assert!(near(fluid.0, theory.0, tolerance), "{flows} flows: every {} s, {}", fluid.0, theory.0);
        assert!(near(fluid.1, theory.1, tolerance), "{flows} flows: amplitude {}, {}", fluid.1, theory.1);
    }
}

/// Alizadeh and others, SIGCOMM 2010, section 3.3: a window W decreases by D = W alpha / 2 and recovers in D rounds; one
/// round in D is marked. If g is not small, alpha has decayed from its mean by g D / 2 when it is used:
/// D^2 = W / 2 (1 - g D / 2). For small g, D is (W / 2)^(1/2). Up to one round after the decrease has no growth; windows
/// are whole packets.
#[test]
fn packets_oscillate_about_the_threshold_as_dctcps_sawtooth_does() {
    for (mbps, g) in [(100.0, 0.0625), (400.0, 0.0625), (400.0, 0.004)] {
        let sets = [format!("links.L.rate={mbps}Mbps"), format!("protocols.dctcp.params.g={g}")];
        let (period, amplitude) = measured(World::Packets, &[&sets[0], &sets[1]]);
        let (window, rtt) = (packets_and_rtt(mbps).0 / 4.0, packets_and_rtt(mbps).1);
        let half = window * g / 8.0;
        let rounds = (half * half + window / 2.0).sqrt() - half;
        assert!((rounds * rtt..(rounds + 1.0) * rtt).contains(&period), "{mbps}, {g}: {period}, {rounds}");
        assert!((amplitude - 4.0 * rounds).abs() <= 4.0, "{mbps}, {g}: {amplitude}, {rounds}");
    }
}
