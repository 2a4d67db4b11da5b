//! Deliveries over paths with several queues: at most the capacity of each link at every time, and all that was sent.

use crate::laws::{BASE, P, Steady};
use millpond_fluid::{
    Accuracy, Assembly, DenseOutput, Entity, FixedStepIntegration, FluidNetwork, Integration, Loop, LoopId,
    Relay, RelayBuffer, Solver,
};
use millpond_law::fluid::sender_law;

/// A flow of 6 kbit/s over links of 10 and 8 kbit/s. For two seconds another flow of 8 kbit/s fills the first link, and
/// one of 6 kbit/s the second: both queues grow to 8 kbit, and then they empty at 4 and 2 kbit/s. All first bits arrive at
/// the second link's end at one second.
fn two_queues() -> Assembly {
    let mut network = FluidNetwork::new();
    let [a, b] = [10.0, 8.0].map(|capacity| network.link("", capacity * BASE, f64::INFINITY));
    let flow = |name: &str, rate: f64| Loop::new(name, P, sender_law(Steady(rate * BASE)), 1.0).from(0.9);
    network.add(flow("long", 6.0).over(a, 0.05).over(b, 0.1));
    network.add(flow("on a", 8.0).over(a, 0.05).until(2.9));
    network.add(flow("on b", 6.0).over(b, 0.1).until(2.9));
    Assembly::new(network).unwrap()
}

/// The bits in kbit that each loop has delivered after each tenth of a second.
fn delivered(asm: &Assembly, run: &mut dyn Integration, loops: usize) -> Vec<Vec<f64>> {
    let columns = asm.channel_columns();
    let channel =
        |l| columns.iter().position(|c| c.entity == Entity::Loop(l) && c.quantity == "delivered rate");
    let channels: Vec<usize> = (0..loops).map(|l| channel(l).unwrap()).collect();
    (1..=90)
        .map(|sample| {
            while !run.advance_some(0.1 * f64::from(sample), 10_000).unwrap() {}
            channels.iter().map(|channel| run.integrals()[*channel] / BASE).collect()
        })
        .collect()
}

fn integrations(asm: &Assembly) -> [Box<dyn Integration + '_>; 2] {
    let solver = DenseOutput::new(Solver::new(asm, Accuracy::default()).unwrap(), 9.0);
    [Box::new(solver), Box::new(FixedStepIntegration::new(asm, 0.005).unwrap())]
}

#[test]
fn flows_over_two_queues_receive_at_most_the_capacity_of_each_link_at_every_time() {
    let asm = two_queues();
    for mut run in integrations(&asm) {
        let bits = delivered(&asm, &mut *run, 3);
        for (before, after) in bits.iter().zip(&bits[1..]) {
            let rates: Vec<f64> =
                before.iter().zip(after).map(|(before, after)| 10.0 * (after - before)).collect();
            assert!(rates[0] + rates[1] <= 10.0 * (1.0 + 1e-6), "{rates:?}");
            assert!(rates[0] + rates[2] <= 8.0 * (1.0 + 1e-6), "{rates:?}");
        }
    }
}

/// While both queues grow, the second link serves the long flow at 6 8/12 kbit/s and the first at 6 10/14. While both
/// empty, the second serves it at its capacity.
#[test]
fn a_flow_over_two_queues_receives_what_the_slower_of_them_serves() {
    let asm = two_queues();
    for mut run in integrations(&asm) {
        let bits = delivered(&asm, &mut *run, 3);
        let long = |tenth: usize| bits[tenth - 1][0];
        assert!((long(28) - long(12) - 1.6 * 4.0).abs() < 0.01, "{}", long(28) - long(12));
        assert!((long(48) - long(32) - 1.6 * 8.0).abs() < 0.01, "{}", long(48) - long(32));
        // The second queue is empty after 2 s and 4 s more: it has served all that was sent over it.
        let sent = 6.0 * (8.9 - 1.0 + 0.1) + 6.0 * 2.0;
        let all = long(90) + bits[89][2];
        assert!((all - sent).abs() < 0.05, "{all} of {sent}");
    }
}

/// The same path as the first loop of a chain: what the second loop delivers has crossed the links of the first one.
#[test]
fn flows_deliver_behind_a_relay_what_the_links_before_it_have_served() {
    let mut network = FluidNetwork::new();
    let [a, b, c] = [10.0, 8.0, 100.0].map(|capacity| network.link("", capacity * BASE, f64::INFINITY));
    let flow = |name: &str, rate: f64| Loop::new(name, P, sender_law(Steady(rate * BASE)), 1.0);
    let first = network.add(flow("first", 6.0).over(a, 0.05).over(b, 0.1).from(0.0));
    let second = network.add(flow("second", 50.0).over(c, 0.1).from(0.2));
    network.add(flow("on a", 8.0).over(a, 0.05).from(0.0).until(2.0));
    network.add(flow("on b", 6.0).over(b, 0.1).from(0.0).until(2.0));
    network.add_relay(Relay {
        upstream: first,
        downstream: second,
        forward: 0.2,
        buffer: RelayBuffer::UNLIMITED,
    });
    let asm = Assembly::new(network).unwrap();
    let mut run = DenseOutput::new(Solver::new(&asm, Accuracy::default()).unwrap(), 9.0);
    let bits = delivered(&asm, &mut run, 4);
    let at = |LoopId(l): LoopId, tenth: usize| bits[tenth - 1][l];
    for tenth in 1..=90 {
        assert!(at(second, tenth) + bits[tenth - 1][3] <= 8.0 * 0.1 * tenth as f64, "{tenth}");
    }
    assert!(at(second, 90) > 0.99 * (at(first, 90) - 6.0 * 0.2), "{} {}", at(second, 90), at(first, 90));
}

/// Loops with one hop each. For two seconds another flow fills the queue of the second link; while that queue empties, its
/// link serves at 8 kbit/s, but the flow behind the relay has sent 4.
#[test]
fn a_flow_behind_a_relay_delivers_none_of_the_data_that_other_flows_have_in_the_queue() {
    let mut network = FluidNetwork::new();
    let [a, b] = [10.0, 8.0].map(|capacity| network.link("", capacity * BASE, f64::INFINITY));
    let flow = |name: &str, rate: f64| Loop::new(name, P, sender_law(Steady(rate * BASE)), 1.0);
    let first = network.add(flow("first", 4.0).over(a, 0.05).from(0.0));
    let second = network.add(flow("second", 50.0).over(b, 0.1).from(0.1));
    network.add(flow("on b", 8.0).over(b, 0.1).from(0.0).until(2.0));
    network.add_relay(Relay {
        upstream: first,
        downstream: second,
        forward: 0.1,
        buffer: RelayBuffer::UNLIMITED,
    });
    let asm = Assembly::new(network).unwrap();
    let mut run = DenseOutput::new(Solver::new(&asm, Accuracy::default()).unwrap(), 9.0);
    let bits = delivered(&asm, &mut run, 3);
    for tenth in 1..=90 {
        let (sent, received) = (4.0 * 0.1 * tenth as f64, bits[tenth - 1][second.0]);
        assert!(received <= sent, "{received} of {sent} after {tenth} tenths");
    }
    let (sent, received) = (4.0 * 9.0, bits[89][second.0]);
    assert!(received > sent - 4.0 * 1.0, "{received} of {sent}");
}
