//! Networks in which nothing can move: every component rests on its bound, pushed outwards.

use crate::laws::{BASE, P};
use millpond_fluid::equilibrium::{Manner, search};
use millpond_fluid::{Assembly, Frozen, Loop, Network};
use millpond_law::fluid::{FluidSender, Number, SenderInput, State, sender_piece};

/// `x' = -x`, x not below its half of the link; sends x.
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

/// The rate is held at its floor and the queue, of a link that serves twice as much, at zero: no free component is left
/// for a step or for an eigenvalue.
#[test]
fn where_everything_is_held_a_search_ends_and_nothing_repels() {
    let mut network = Network::new();
    let link = network.link("L", BASE, f64::INFINITY);
    network.add(Loop::new("f", P, sender_piece(Sinking), 1.0).over(link, 0.5).always());
    let asm = Assembly::new(network).unwrap();
    let frozen = Frozen::new(&asm, 0.0);
    for start in [[BASE / 2.0, 0.0], [BASE, 0.0]] {
        for manner in [Manner::Boldly, Manner::Carefully] {
            let Ok(found) = search(&frozen, &start, manner) else { panic!("no rest from {start:?}") };
            assert_eq!(found.moment.x, [BASE / 2.0, 0.0]);
            assert!((0..2).all(|state| found.moment.is_held(state)) && !found.repels);
        }
    }
}
