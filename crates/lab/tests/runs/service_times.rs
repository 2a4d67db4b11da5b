//! Service times in the base RTT of the fluid world, where propagation takes microseconds.

use crate::common::{flow, near, scenario};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};

/// Two links of 10 Gbit/s and 1 us. 1500 bytes are served in 1.2 us.
const MICROSECONDS: &str = r#"
title = "Two links of a data centre"
duration = "20ms"
measure = { from = "10ms", every = "1ms" }
hosts = { jitter = "0s" }
routers = { jitter = "0s" }
links = [
  { name = "L1", between = ["A", "B"], rate = "10Gbps", delay = "1us", buffer = "100packets" },
  { name = "L2", between = ["B", "C"], rate = "10Gbps", delay = "1us", buffer = "100packets" },
]
flows = [{ name = "f", protocol = "vegas", path = ["A", "B", "C"] }]
[protocols.vegas]
params = { alpha = 4, beta = 4 }
"#;

fn simulate(world: World, sets: &[&str]) -> Run {
    let about = About { world, ..About::default() };
    let finished = run(&scenario(MICROSECONDS, sets), &Registry::builtin(), about, &Unwatched);
    finished.unwrap_or_else(|error| panic!("{error}")).run
}

/// By hand: 4 us of propagation, 4 packets of 1.2 us in the queue; with service times 2.4 us more, and .06 us of
/// acknowledgements: 11.26 us. That is a window of 9.38 packets. In packets it is 9, with 3.6 packets in the queue, or 10, with
/// 4.6, one after the other; the mean over packets of round trips of 9 and of 10 times 1.2 us is 11.43 us.
#[test]
fn at_microseconds_service_times_are_a_large_part_of_the_round_trip_time() {
    let rtt = |run: &Run| flow(run, "f").rtt_ms.unwrap().mean * 1e3;
    let packets = rtt(&simulate(World::Packets, &[]));
    let fluid = rtt(&simulate(World::Fluid, &[]));
    let served = rtt(&simulate(World::Fluid, &["fluid.base_rtt=service"]));
    assert!(near(fluid, 8.8, 0.02) && near(served, 11.26, 0.02), "{fluid} {served}");
    assert!(near(packets, 11.43, 0.01), "{packets} {fluid} {served}");
}
