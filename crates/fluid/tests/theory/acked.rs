//! Laws that read the rate at which their data are acknowledged: their own rate of one base round-trip time earlier.

use crate::laws::{BASE, P, scalar_exactly};
use millpond_fluid::{Accuracy, Assembly, Entity, FluidNetwork, Frozen, Loop};
use millpond_law::fluid::{FluidSender, InputSet, Number, SenderInput, State, sender_law};

/// `x' = -a (acked - BASE)`, `x = 1` before; sends `BASE + x`.
struct Acked(f64);

impl FluidSender for Acked {
    const INPUTS: InputSet = InputSet { acked: true, ..InputSet::NONE };

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", 1.0)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = (input.acked - BASE) * -self.0;
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0] + BASE
    }
}

/// A base round-trip time of 1 s, of which .3 s lead to the only link: `x' = -a x(t - 1)`.
fn acked(a: f64) -> Assembly {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e9, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Acked(a)), 1.0).over(link, 0.3).always());
    Assembly::new(network).unwrap()
}

#[test]
fn data_are_acknowledged_one_base_round_trip_after_they_were_sent() {
    for until in [1.3, 2.5, 5.1] {
        let theory = scalar_exactly(1.5, until);
        let accuracy = Accuracy { tolerance: 1e-10, ..Accuracy::default() };
        let solution = acked(1.5).run(until, until, accuracy).unwrap();
        let found = *solution.of(Entity::Loop(0), "x").last().unwrap();
        assert!((found - theory).abs() < 2e-9 * theory.abs().max(1.0), "{until}: {found} {theory}");
        // Of second order: a sixteenth with a quarter of the step.
        let error = |steps: f64| {
            let fixed = acked(1.5).run_fixed(until, until, until / steps, |_| true).unwrap();
            (fixed.of(Entity::Loop(0), "x").last().unwrap() - theory).abs()
        };
        let (coarse, fine) = (error(256.0), error(1024.0));
        assert!(fine < 1e-3 && fine < coarse / 8.0, "{until}: {coarse} {fine}");
    }
}

/// The only input that the derivative depends on is the rate of a round-trip time earlier.
#[test]
fn the_linearization_delays_acknowledgements_by_the_base_round_trip_time() {
    let assembly = acked(1.5);
    let frozen = Frozen::new(&assembly, 0.0);
    let sender = frozen.loop_subsystem(0, &frozen.at(&[0.0, 0.0]).unwrap());
    let used: Vec<(f64, f64)> =
        sender.inputs.iter().zip(&sender.b[0]).map(|(input, gain)| (input.delay, *gain)).collect();
    let used: Vec<_> = used.into_iter().filter(|(_, gain)| *gain != 0.0).collect();
    assert_eq!((used, &sender.a[0][..]), (vec![(1.0, -1.5)], &[0.0][..]));
}
