//! ABC in equilibrium: the queue on one link, and the windows of flows that cross two.

use crate::common::{link, near, scenario};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};

const ONE: &str = r#"
title = "Ten flows on one link"
duration = "60s"
measure = { from = "40s", every = "100ms" }
hosts = { jitter = "0s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "10ms"
buffer = "1000packets"
[[flows]]
name = "f"
count = 10
protocol = "abc"
path = ["A", "B"]
rtt = "40ms"
"#;

fn in_world(world: World, text: &str) -> Run {
    let about = About { world, ..About::default() };
    let finished = run(&scenario(text, &[]), &Registry::builtin(), about, &Unwatched);
    finished.unwrap_or_else(|error| panic!("{error}")).run
}

/// `w' = 0` of Eq. (3) gives `W = n / (1 - 2 f)`, of which 333 packets are on the path. `2 f` is `eta` less half a packet
/// in the window of the dequeue rate (15.5 of 16 slots of 20 ms, in which 161.5 packets of 1500 B leave). Packets wait
/// half a service time longer than a fluid, because they are not evenly spaced.
#[test]
fn the_queue_of_ten_flows_is_that_of_the_brake_fraction_in_both_worlds() {
    let packets_in_window: f64 = 100e6 * 0.02 * 15.5 / 16.0 / 12e3;
    let f = 0.98 / 2.0 * packets_in_window / (packets_in_window + 0.5);
    let theory: f64 = 10.0 / (1.0 - 2.0 * f) - 100e6 * 0.04 / 12e3;
    assert!((theory - 100.9).abs() < 0.1, "{theory}");
    let queue = |world| link(&in_world(world, ONE), "L").queue_packets.mean;
    let (fluid, packets) = (queue(World::Fluid), queue(World::Packets));
    assert!(near(fluid, theory, 1e-4), "{fluid} {theory}");
    assert!(near(packets, theory, 0.02), "{packets} {theory}");
}

/// Twenty flows over one of two links each, and one over both. Half of its packets carry a brake when they reach the
/// second router, which has tokens for half of all packets and uses them for accelerates as they arrive. Nearly all
/// accelerates belong to other flows, so that half of its own pass: `f = .49^2`, and `1 / (1 - 2 f)` is 1.9 packets. With
/// the minimum of the two fractions, .49, it would be 45 packets.
#[test]
fn a_flow_over_two_bottlenecks_has_a_window_of_two_packets() {
    let text = r#"
title = "Two links"
duration = "60s"
measure = { from = "30s", every = "100ms" }
[parking-lot]
hops = 2
link = { rate = "100Mbps", delay = "10ms", buffer = "1000packets" }
access = { rate = "10Gbps", delay = "1ms" }
[[flows]]
name = "long"
protocol = "abc"
path = "long"
[[flows]]
name = "cross"
count = 10
protocol = "abc"
path = "cross"
"#;
    let run = in_world(World::Packets, text);
    let long = run.summary.flows.iter().find(|flow| flow.name == "long").unwrap();
    let window = long.goodput_bps * long.rtt_ms.unwrap().mean * 1e-3 / 12e3;
    assert!((1.0..4.0).contains(&window), "{window}");
}
