//! Where packet noise enters a linear system.

use crate::laws::{BASE, P};
use millpond_fluid::stability::{BlockInput, Linearized, NoiseKind, PacketGranularity};
use millpond_fluid::{Assembly, FluidNetwork, Frozen, Loop};
use millpond_law::fluid::{FluidSender, Number, SenderInput, State, sender_law};
use nalgebra::DMatrix;

/// `x' = c - x` with a constant state c; sends x.
struct Steered;

impl FluidSender for Steered {
    fn states(&self) -> Vec<State> {
        vec![State::new("c", "bit/s", BASE), State::new("rate", "bit/s", BASE)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = T::zero();
        dx[1] = x[0] - x[1];
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[1]
    }
}

/// Half a packet more in the window increases the rate in proportion and has no other effect: c is not a state of the
/// linear system.
#[test]
fn packet_noise_disturbs_the_rate_also_if_a_state_of_the_law_is_constant() {
    const RTT: f64 = 2.0;
    let mut network = FluidNetwork::new();
    let link = network.link("L", 2.0 * BASE, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Steered), RTT).over(link, 0.5).always());
    let asm = Assembly::new(network).unwrap();
    let frozen = Frozen::new(&asm, 0.0);
    let point = frozen.at(&asm.initial()).unwrap();
    let granularity = PacketGranularity { packet: 12.0, has_window: true };
    let noise = Linearized::of(&frozen, &point).noise(&frozen, &point, &[granularity]);
    let [source] = &noise.sources[..] else { panic!("one source: {:?}", noise.sources) };
    let (BlockInput { block, input }, cause) = (source.input, source.kind);
    let subsystem = &noise.system.blocks[block];
    assert_eq!((cause, subsystem.states()), (NoiseKind::Windows, 1));
    assert_eq!(subsystem.b.column(input), DMatrix::zeros(1, 1).column(0));
    assert_eq!(subsystem.d.column(input).iter().copied().collect::<Vec<f64>>(), [1.0, 0.0]);
    // A twelfth of a squared packet over RTT squared, constant for a round trip.
    assert!((source.density - 12.0 * 12.0 / 12.0 / RTT).abs() < 1e-12);
}
