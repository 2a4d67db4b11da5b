//! The exact Jacobian of two loops connected by a relay, where the first loop uses feedback from the second.

use crate::laws::{BASE, P, Price, Spring};
use millpond_fluid::{Assembly, FluidNetwork, Frozen, LinkId, Loop, Relay, RelayBuffer};
use millpond_law::fluid::{FluidSender, Number, SenderInput, State, link_law, sender_law};

/// `x' = downstream.rate - x - (backlog - 30) / downstream.rtt`.
struct Follower;

impl FluidSender for Follower {
    fn states(&self) -> Vec<State> {
        vec![State::new("x", "bit/s", BASE)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] =
            input.downstream.map_or(T::zero(), |next| next.rate - x[0] - (next.backlog - 30.0) / next.rtt);
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

fn chain(buffer: RelayBuffer) -> Assembly {
    let mut network = FluidNetwork::new();
    let links = [network.link("A", 900.0, f64::INFINITY), network.link("B", 1e4, f64::INFINITY)];
    network.add_router(links[1], P, link_law(Price { target: 800.0, gain: 1e-4 }));
    let upstream = network.add(
        Loop::new("first", millpond_fluid::ProtocolId(1), sender_law(Follower), 0.2).over(LinkId(0), 0.01),
    );
    let second = sender_law(Spring { rate: 500.0, demand: BASE });
    let downstream = network.add(Loop::new("second", P, second, 0.1).over(links[1], 0.02));
    network.add_relay(Relay { upstream, downstream, forward: 0.1, buffer });
    Assembly::new(network).unwrap()
}

/// States in the order: x of the first and second loop, price, queues of A and B, backlog. With a limited buffer also the credit, and
/// what the first loop has in queues.
fn agrees_with_differences(x: &[f64], buffer: RelayBuffer) {
    let asm = chain(buffer);
    assert_eq!(asm.states(), x.len());
    let frozen = Frozen::new(&asm, 1.0);
    let point = frozen.at(x).unwrap();
    let jacobian = frozen.jacobian(&point).unwrap();
    for j in (0..x.len()).filter(|j| !point.is_held(*j)) {
        let step = 1e-6 * x[j].abs().max(1e-3);
        let beside = |sign: f64| {
            let mut x = x.to_vec();
            x[j] += sign * step;
            frozen.at(&x).unwrap().derivatives()
        };
        let (above, below) = (beside(1.0), beside(-1.0));
        for i in 0..x.len() {
            let slope = (above[i] - below[i]) / (2.0 * step);
            assert!(
                (jacobian[(i, j)] - slope).abs() < 1e-4 * (1.0 + slope.abs()),
                "{i} {j}: {} {slope}",
                jacobian[(i, j)]
            );
        }
    }
}

#[test]
fn the_jacobian_of_a_chain_agrees_with_differences_with_and_without_a_backlog() {
    // With a backlog, and with a queue at A that passes 900 of 950.
    agrees_with_differences(&[950.0, 980.0, 0.3, 20.0, 0.0, 50.0], RelayBuffer::UNLIMITED);
    // Without a queue at A.
    agrees_with_differences(&[850.0, 980.0, 0.3, 0.0, 0.0, 50.0], RelayBuffer::UNLIMITED);
    // With an empty backlog: the second loop sends at the inflow.
    agrees_with_differences(&[850.0, 980.0, 0.3, 0.0, 0.0, 0.0], RelayBuffer::UNLIMITED);
    // Analyses are those of a buffer without limit; its states tend to constants.
    agrees_with_differences(&[950.0, 980.0, 0.3, 20.0, 0.0, 50.0, 300.0, 7.0], RelayBuffer::of_size(500.0));
}
