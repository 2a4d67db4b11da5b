//! Networks in which every state is held at a bound.

use crate::laws::{BASE, P};
use millpond_fluid::equilibrium::{SearchMethod, search};
use millpond_fluid::{Accuracy, Assembly, Entity, FluidNetwork, Frozen, Loop};
use millpond_law::fluid::{FluidSender, Number, SenderInput, State, sender_law};

/// `x' = -x` with half of the link's capacity as lower bound of x; sends x.
struct Sinking;

impl FluidSender for Sinking {
    fn states(&self) -> Vec<State> {
        vec![State::new("rate", "bit/s", BASE).within(BASE / 2.0, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = -x[0];
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// The rate is held at its lower bound and the queue, of a link with twice the capacity, at zero: there is no free
/// component for a step or an eigenvalue.
#[test]
fn a_search_ends_if_all_states_are_held_and_the_point_is_not_repelling() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", BASE, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Sinking), 1.0).over(link, 0.5).always());
    let asm = Assembly::new(network).unwrap();
    let frozen = Frozen::new(&asm, 0.0);
    for start in [[BASE / 2.0, 0.0], [BASE, 0.0]] {
        for manner in [SearchMethod::Fast, SearchMethod::Cautious] {
            let Ok(found) = search(&frozen, &start, manner) else { panic!("no rest from {start:?}") };
            assert_eq!(found.point.x, [BASE / 2.0, 0.0]);
            assert!((0..2).all(|state| found.point.is_held(state)) && !found.is_repelling);
        }
    }
}

/// `x' = -10 x` with x >= 0; sends a rate that does not depend on x.
struct Fading;

impl FluidSender for Fading {
    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", 1.0).within(0.0, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = -x[0] * 10.0;
    }

    fn rate<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>) -> T {
        T::from(BASE / 2.0)
    }
}

/// After 3 s it is above its bound by less than rounding errors; the next event holds it there once.
#[test]
fn a_state_within_rounding_errors_of_its_bound_is_held_there_once() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", BASE, f64::INFINITY);
    (1..50).for_each(|tenth| network.set_capacity_at(f64::from(tenth) / 10.0, link, BASE + f64::from(tenth)));
    network.add(Loop::new("f", P, sender_law(Fading), 1.0).over(link, 0.0));
    let found =
        Assembly::new(network).unwrap().run(5.0, 0.5, Accuracy { max_steps: 20_000, ..Accuracy::default() });
    let x = found.unwrap().of(Entity::Loop(0), "x").to_vec();
    assert!((x[2] - (-10.0_f64).exp()).abs() < 1e-6 && x[10] == 0.0, "{x:?}");
}
