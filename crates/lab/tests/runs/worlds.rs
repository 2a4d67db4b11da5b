//! Closed form, fluid and packets agree on one network, and the difference decreases with the window.

use crate::common::{near, results, scenario};
use millpond_fluid::equilibrium::{AllocationProblem, FlowClass, FlowLimit, water_filling};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};
use rayon::prelude::*;

/// Two bottlenecks, flows over the first, over both and over the second. With 1000-byte packets at the rates below the
/// windows of the max-min shares (20, 10 and 10 Mbit/s) are 50 packets each, and four times that at four times the rate.
const NET: &str = r#"
title = "Two links in a row"
duration = "60s"
measure = { from = "40s", every = "100ms" }
[[links]]
name = "L1"
between = ["A", "B"]
rate = "60Mbps"
delay = "10ms"
buffer = "2000packets"
[[links]]
name = "L2"
between = ["B", "C"]
rate = "40Mbps"
delay = "10ms"
buffer = "2000packets"
[[flows]]
name = "one"
count = 2
protocol = "cltcp"
packet = "1000B"
path = ["A", "B"]
[[flows]]
name = "two"
count = 2
protocol = "cltcp"
packet = "1000B"
path = ["A", "B", "C"]
[[flows]]
name = "three"
count = 2
protocol = "cltcp"
packet = "1000B"
path = ["B", "C"]
"#;

const WINDOW: f64 = 50.0;

fn sets(protocol: &str, times: u32) -> Vec<String> {
    let rates =
        [("L1", 60), ("L2", 40)].map(|(link, rate)| format!("links.{link}.rate={}Mbps", rate * times));
    let groups = ["one", "two", "three"].map(|group| format!("flows.{group}.protocol={protocol}"));
    rates.into_iter().chain(groups).collect()
}

fn goodputs(run: &Run) -> Vec<f64> {
    run.summary.groups.iter().map(|group| group.goodput_bps.mean).collect()
}

/// Random marks move the goodput of a group by half a percent from seed to seed.
const SEEDS: [&str; 4] = ["seed=1", "seed=2", "seed=3", "seed=4"];

/// Goodput of each group in packets, mean of several seeds.
fn mean_goodputs(sets: &[&str]) -> Vec<f64> {
    let runs: Vec<Vec<f64>> =
        SEEDS.par_iter().map(|seed| goodputs(&results(NET, &[sets, &[*seed]].concat()))).collect();
    let mean = |group: usize| runs.iter().map(|run| run[group]).sum::<f64>() / SEEDS.len() as f64;
    (0..runs[0].len()).map(mean).collect()
}

/// Goodput of each group in packets and as fluid.
fn both(protocol: &str, times: u32) -> [Vec<f64>; 2] {
    let sets = sets(protocol, times);
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let about = About { world: World::Fluid, ..About::default() };
    let fluid = run(&scenario(NET, &sets), &Registry::builtin(), about, &Unwatched);
    let fluid = fluid.unwrap_or_else(|error| panic!("{error}"));
    [mean_goodputs(&sets), goodputs(&fluid.run)]
}

/// Checks that the goodputs of both worlds differ by at most half a packet divided by the window.
fn agree(protocol: &str, times: u32) -> Vec<f64> {
    let [packets, fluid] = both(protocol, times);
    let tolerance = 0.5 / (WINDOW * f64::from(times));
    for (p, f) in packets.iter().zip(&fluid) {
        assert!(near(*p, *f, tolerance), "{protocol} at {times} times the rates: {packets:?}, {fluid:?}");
    }
    fluid
}

#[test]
fn laws_of_one_fair_rate_agree_with_each_other_and_with_water_filling() {
    for times in [1, 4] {
        let scale = f64::from(times) * 1e6;
        let flow = |path: &[usize]| FlowClass { path: path.to_vec(), count: 2.0 };
        let network = AllocationProblem {
            capacities: vec![60.0 * scale, 40.0 * scale],
            flows: vec![flow(&[0]), flow(&[0, 1]), flow(&[1])],
        };
        let closed = water_filling(&network, &[FlowLimit::default(); 3]).unwrap().rates;
        for protocol in ["cltcp", "rcp"] {
            let fluid = agree(protocol, times);
            assert!(fluid.iter().zip(&closed).all(|(f, c)| near(*f, *c, 1e-3)), "{fluid:?}, {closed:?}");
        }
    }
}

#[test]
fn the_difference_between_packets_and_fluid_decreases_with_the_window() {
    for times in [1, 4] {
        agree("lgc", times);
        agree("mcp", times);
    }
}

/// Three flows share the loop from R1 to R2; two of them share the next loop, and the third has another.
const SHARED_LOOP: &str = r#"
title = "A shared loop before two loops"
duration = "6s"
measure = { from = "3s", every = "20ms" }
[[links]]
name = "L0"
between = ["S", "R1"]
rate = "500Mbps"
delay = "1ms"
[[links]]
name = "L1"
between = ["R1", "R2"]
rate = "500Mbps"
delay = "1ms"
[[links]]
name = "L2"
between = ["R2", "D1"]
rate = "60Mbps"
delay = "1ms"
[[links]]
name = "L3"
between = ["R2", "D2"]
rate = "60Mbps"
delay = "1ms"
[[flows]]
name = "together"
count = 2
protocol = "lgcc"
path = ["S", "R1", "R2", "D1"]
[[flows]]
name = "alone"
protocol = "lgcc"
path = ["S", "R1", "R2", "D2"]
[protocols.lgcc]
relays = ["R1", "R2"]
aggregate = ["R1", "R2"]
relay_buffer = "3000packets"
"#;

/// The feedback of the shared loop is the sum of the next loops' rates, 60 Mbit/s each, less the relay's queue divided by
/// `drain`, 8 round trips of at least 2 ms. If the first of them were counted once for each of its two flows, the feedback
/// would be 60 Mbit/s too large until the queue compensates for it: 16 ms at that loop's rate, beside the usual queue.
#[test]
fn a_loop_before_a_shared_loop_receives_its_feedback_once() {
    let worlds = [World::Packets, World::Fluid];
    let delays_ms = worlds.map(|world| {
        let about = About { world, ..About::default() };
        let run = run(&scenario(SHARED_LOOP, &[]), &Registry::builtin(), about, &Unwatched).unwrap().run;
        let flow = |name| crate::common::flow(&run, name);
        // Fair scheduling gives the third flow the rate of the two slower ones.
        for name in ["together.0", "together.1", "alone"] {
            assert!(near(flow(name).goodput_bps, 30e6, 0.01), "{name}: {}", flow(name).goodput_bps);
        }
        flow("together.0").queueing_ms.mean
    });
    assert!(delays_ms.iter().all(|delay| *delay < 16.0), "{delays_ms:?} ms");
}
