//! Chains of loops whose flow stops: relays send what they hold, and then the loops after them stop.

use crate::laws::{EXACT, P, Ramp, Steady};
use millpond_fluid::{
    Assembly, Entity, Error, FluidNetwork, LinkId, Loop, LoopId, Relay, RelayBuffer, Solution,
};
use millpond_law::fluid::{SenderLaws, sender_law};

/// A network with links of these capacities and without limits of their buffers.
fn links(capacities: &[f64]) -> FluidNetwork {
    let mut network = FluidNetwork::new();
    for capacity in capacities {
        network.link("", *capacity, f64::INFINITY);
    }
    network
}

/// A loop with a base round-trip time of 0.4 s over one link.
fn flow(law: Box<dyn SenderLaws>, link: usize) -> Loop {
    Loop::new("", P, law, 0.4).over(LinkId(link), 0.05)
}

/// A relay in the middle of the upstream loop's round trip.
fn relay(network: &mut FluidNetwork, upstream: LoopId, downstream: LoopId, buffer: RelayBuffer) {
    network.add_relay(Relay { upstream, downstream, forward: 0.2, buffer });
}

/// The integral of a channel of a loop until each sample.
fn bits(solution: &Solution, LoopId(l): LoopId, quantity: &str) -> Vec<f64> {
    solution.integral(solution.column(Entity::Loop(l), quantity).unwrap()).unwrap().collect()
}

/// The first loop sends 100 bits; the second sends them at 60 bit/s, and the third at a rate of (30 + t) bit/s.
#[test]
fn relays_send_what_they_hold_when_their_flow_has_stopped_and_then_their_loops_stop() {
    let mut network = links(&[1e5, 1e5, 1e5]);
    let first = network.add(flow(sender_law(Steady(100.0)), 0).until(1.0));
    let second = network.add(flow(sender_law(Steady(60.0)), 1));
    let third = network.add(flow(sender_law(Ramp::<true> { initial: 30.0, slope: 1.0 }), 2));
    relay(&mut network, first, second, RelayBuffer::UNLIMITED);
    relay(&mut network, second, third, RelayBuffer::UNLIMITED);
    let solution = Assembly::new(network).unwrap().run(6.0, 0.1, EXACT).unwrap();
    // From 0.4 s until `end` it sends all: 30 (end - 0.4) + (end^2 - 0.4^2) / 2 = 100.
    let end = (900.0_f64 + 2.0 * (100.0 + 12.0 + 0.08)).sqrt() - 30.0;
    let sent = bits(&solution, third, "sending rate");
    for (t, sent) in solution.times.iter().zip(&sent) {
        let until = t.clamp(0.4, end);
        let theory = 30.0 * (until - 0.4) + (until * until - 0.16) / 2.0;
        assert!((sent - theory).abs() < 1e-5, "{t}: {sent}, not {theory}");
    }
    for (loop_id, all) in [(second, 100.0), (third, 100.0)] {
        let delivered = bits(&solution, loop_id, "delivered rate");
        assert!((delivered[delivered.len() - 1] - all).abs() < 1e-5, "{delivered:?}");
    }
    let state = solution.of(Entity::Loop(third.0), "x");
    assert!((state[state.len() - 1] - 30.0 - end).abs() < 1e-5, "its law ends with it: {state:?}");
}

/// The second loop sends what arrives, and its relay is empty while the last data are on their way to it.
#[test]
fn a_loop_after_an_empty_relay_does_not_stop_before_the_last_data_have_arrived() {
    let mut network = links(&[1e5, 1e5]);
    let first = network.add(flow(sender_law(Steady(60.0)), 0).until(1.0));
    let second = network.add(flow(sender_law(Steady(100.0)), 1));
    relay(&mut network, first, second, RelayBuffer::UNLIMITED);
    let solution = Assembly::new(network).unwrap().run(3.0, 0.1, EXACT).unwrap();
    let delivered = bits(&solution, second, "delivered rate");
    assert!((delivered[delivered.len() - 1] - 60.0).abs() < 1e-5, "{delivered:?}");
}

/// The first loop has its buffer of 500 bits in the queue of a link of 400 bit/s when it stops.
#[test]
fn what_a_loop_limited_by_credit_has_in_queues_arrives_after_its_stop() {
    let mut network = links(&[400.0, 1e5]);
    let first = network.add(flow(sender_law(Steady(3000.0)), 0).until(2.0));
    let second = network.add(flow(sender_law(Ramp::<true> { initial: 5000.0, slope: 1.0 }), 1));
    relay(&mut network, first, second, RelayBuffer::of_size(500.0));
    let solution = Assembly::new(network).unwrap().run(6.0, 0.1, EXACT).unwrap();
    let sent = bits(&solution, first, "sending rate");
    let delivered = bits(&solution, second, "delivered rate");
    // Sample 20 is that of the stop. A bit takes 0.2 s to the relay, and 0.2 s more to the end.
    let under_way = sent[20] - delivered[24];
    assert!(under_way > 200.0, "{under_way}");
    let last = delivered.len() - 1;
    assert!((delivered[last] - sent[20]).abs() < 1e-3, "{} of {}", delivered[last], sent[20]);
    // Most departs within the delay of the queue, and the rest exponentially.
    let state = solution.of(Entity::Loop(second.0), "x");
    let stopped = state[last] - 5000.0;
    assert!((2.0..5.0).contains(&stopped), "{stopped}");
}

/// Two flows of 100 bit/s share a loop of 100 bit/s. The second one has sent 100 bits, of which its relay has half when it stops.
#[test]
fn a_flow_of_a_shared_loop_has_its_share_until_its_relay_is_empty() {
    let mut network = links(&[1e5, 1e5, 1e5]);
    let upstream = [
        network.add(flow(sender_law(Steady(100.0)), 0)),
        network.add(flow(sender_law(Steady(100.0)), 1).until(1.0)),
    ];
    let shared = network.add(flow(sender_law(Steady(100.0)), 2));
    let parts = ["", ""].map(|name| {
        let part = network.shared_flow(shared, name, 1.0).from(0.2);
        network.add(part)
    });
    for (before, after) in upstream.into_iter().zip(parts) {
        relay(&mut network, before, after, RelayBuffer::UNLIMITED);
    }
    let solution = Assembly::new(network).unwrap().run(4.0, 0.1, EXACT).unwrap();
    // It sends 50 bit/s from 0.2 s until 2.2 s, and the first flow has all of the loop then.
    let [first, second] = parts.map(|part| bits(&solution, part, "sending rate"));
    for ((t, first), second) in solution.times.iter().zip(first).zip(second) {
        let theory = 50.0 * (t.clamp(0.2, 2.2) - 0.2);
        assert!((second - theory).abs() < 1e-5, "{t}: {second}, not {theory}");
        let theory = theory + 100.0 * (t - 2.2).max(0.0);
        assert!((first - theory).abs() < 1e-5, "{t}: {first}, not {theory}");
    }
}

#[test]
fn a_loop_that_begins_at_a_relay_has_no_stop_time_of_its_own() {
    let mut network = links(&[1e5, 1e5]);
    let first = network.add(flow(sender_law(Steady(1.0)), 0));
    let second = network
        .add(Loop { name: "after the relay".to_owned(), ..flow(sender_law(Steady(1.0)), 1).until(1.0) });
    relay(&mut network, first, second, RelayBuffer::UNLIMITED);
    match Assembly::new(network).err() {
        Some(Error::InvalidNetwork { name, reason }) => {
            assert_eq!(name, "after the relay");
            assert!(reason.contains("stops with the loop before it"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}
