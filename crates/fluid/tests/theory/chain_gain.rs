//! How a loop amplifies the oscillation of the loop after its relay, against the resonance of a second-order system.

use crate::laws::{BASE, P};
use millpond_fluid::stability::{Linearized, chain_gain};
use millpond_fluid::{Assembly, FluidNetwork, Frozen, Loop, LoopId, Relay, RelayBuffer};
use millpond_law::fluid::{FluidSender, Number, SenderInput, State, sender_law};
use std::f64::consts::PI;

/// Damping of the first loop, whose natural frequency is 1 rad/s.
const DAMPING: f64 = 0.3;

/// `x'' + 2 z x' + x = r`, with the rate r that the next loop permits.
struct Resonant;

impl FluidSender for Resonant {
    fn states(&self) -> Vec<State> {
        vec![State::new("x", "bit/s", BASE), State::new("slope", "bit/s^2", 0.0)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let next = input.downstream.map_or(T::zero(), |next| next.rate);
        dx[0] = x[1];
        dx[1] = next - x[0] - x[1] * (2.0 * DAMPING);
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// `x' = BASE - x`.
struct Lagging;

impl FluidSender for Lagging {
    fn states(&self) -> Vec<State> {
        vec![State::new("x", "bit/s", BASE)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = -x[0] + BASE;
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// A chain whose last loop lags, with data in all relays.
fn chain(resonant: usize) -> Assembly {
    let mut network = FluidNetwork::new();
    let mut loops: Vec<LoopId> = Vec::new();
    for number in 0..=resonant {
        let link = network.link("", 10.0 * BASE, f64::INFINITY);
        let law = if number < resonant { sender_law(Resonant) } else { sender_law(Lagging) };
        loops.push(network.add(Loop::new(&format!("{number}"), P, law, 0.3).over(link, 0.05)));
    }
    for pair in loops.windows(2) {
        let (upstream, downstream) = (pair[0], pair[1]);
        network.add_relay(Relay { upstream, downstream, forward: 0.1, buffer: RelayBuffer::UNLIMITED });
    }
    Assembly::new(network).unwrap()
}

/// Each resonant loop amplifies the rate after its relay by at most `1 / (2 z (1 - z^2)^(1/2))`, at `(1 - 2 z^2)^(1/2)` rad/s;
/// two of them by its square.
#[test]
fn a_loop_amplifies_the_oscillations_of_the_next_one_by_its_resonance() {
    let peak = 1.0 / (2.0 * DAMPING * (1.0 - DAMPING * DAMPING).sqrt());
    let hertz = (1.0 - 2.0 * DAMPING * DAMPING).sqrt() / (2.0 * PI);
    for (resonant, total) in [(1, peak), (2, peak * peak)] {
        let asm = chain(resonant);
        let frozen = Frozen::new(&asm, 1.0);
        let mut states = asm.initial();
        for (state, column) in states.iter_mut().zip(asm.state_columns()) {
            if column.quantity == "backlog" {
                *state = 100.0;
            }
        }
        let point = frozen.at(&states).unwrap();
        let loops: Vec<usize> = (0..=resonant).collect();
        let found = chain_gain(&frozen, &point, &Linearized::of(&frozen, &point), &loops).unwrap();
        assert_eq!(found.hops.len(), resonant);
        // Sixty frequencies per decade: the nearest is within two per cent.
        assert!((found.gain / total - 1.0).abs() < 5e-3, "{found:?}");
        assert!((found.frequency / hertz - 1.0).abs() < 0.02, "{found:?}");
        for hop in &found.hops {
            assert!(
                (hop.gain / peak - 1.0).abs() < 5e-3 && (hop.frequency / hertz - 1.0).abs() < 0.02,
                "{hop:?}"
            );
        }
    }
}
