//! What flows receive over paths whose links are closer to their end than the solver's steps are long.

use crate::network::{Lab, PACKET};
use millpond_fluid::{Accuracy, Assembly, Entity, LinkId, Loop, LoopId, Relay, RelayBuffer, Solver};

/// Delays before three links of a path, and behind the last of them, in seconds.
const FORWARD: [f64; 4] = [0.0, 0.028, 0.030, 0.031];
const BASE_RTT: f64 = 0.062;

/// A path over three links. The second one overflows soon, 2 ms before the last one; the first one has a long queue.
fn overflowing_path() -> (Lab, Loop) {
    let mut lab = Lab::new("timely-patched", &[]);
    let links =
        [("A", 90.0, 10_000.0), ("B", 60.0, 30.0), ("C", 120.0, 10_000.0)].map(|(n, c, b)| lab.link(n, c, b));
    let path: Vec<(LinkId, f64)> = links.into_iter().zip(FORWARD).collect();
    let flow = lab.flow("f", BASE_RTT, &path);
    (lab, flow)
}

/// The integral of the rate that a loop delivers in a fifth of a second, in bits, with steps of at most this length in seconds.
fn delivered(asm: &Assembly, loop_index: usize, longest_step: f64) -> f64 {
    let mut solver = Solver::new(asm, Accuracy { longest_step, ..Accuracy::default() }).unwrap();
    solver.advance(0.2).unwrap();
    let is_it = |column: &millpond_fluid::SolutionColumn| {
        column.entity == Entity::Loop(loop_index) && column.quantity == "delivered rate"
    };
    solver.integrals()[asm.channel_columns().iter().position(is_it).unwrap()]
}

fn assert_equal_for_all_steps(asm: &Assembly, loop_index: usize) {
    let [long, short] = [f64::INFINITY, 1e-4].map(|step| delivered(asm, loop_index, step));
    println!("{} and {} packets", long / PACKET, short / PACKET);
    assert!(short > 100.0 * PACKET);
    assert!((long / short - 1.0).abs() < 1e-3, "{long} bits, with short steps {short}");
}

#[test]
fn deliveries_do_not_depend_on_the_length_of_steps() {
    let (mut lab, flow) = overflowing_path();
    let LoopId(index) = lab.network.add(flow);
    assert_equal_for_all_steps(&Assembly::new(lab.network).unwrap(), index);
}

#[test]
fn the_inflow_of_a_relay_does_not_depend_on_the_length_of_steps() {
    let (mut lab, flow) = overflowing_path();
    let next = lab.link("D", 120.0, 10_000.0);
    let upstream = lab.network.add(flow);
    let second = lab.flow("f/loop2", BASE_RTT, &[(next, 0.0)]);
    let downstream = lab.network.add(second);
    let buffer = RelayBuffer::UNLIMITED;
    lab.network.add_relay(Relay { upstream, downstream, forward: FORWARD[3], buffer });
    let asm = Assembly::new(lab.network).unwrap();
    for LoopId(index) in [upstream, downstream] {
        assert_equal_for_all_steps(&asm, index);
    }
}
