//! A law that is driven back from both sides of a threshold: `x' = 2` below `c = 1 + t/2` and `-1` above. From zero it
//! meets `c` at 2/3 s and slides along it (Filippov: `x' = c'`, at half of the jump of three).

use crate::laws::P;
use millpond_fluid::{Accuracy, Assembly, Entity, Error, FluidNetwork, Loop, Solution};
use millpond_law::fluid::{FluidSender, Number, SenderInput, State, sender_law};

/// Distance below the threshold at which the slope begins; zero for a jump.
struct Driven {
    ramp: f64,
}

impl FluidSender for Driven {
    const GUARDS: &'static [&'static str] = &["x less c", "x less c and the ramp"];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", 0.0), State::new("c", "1", 1.0)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        let below = x[1] - x[0];
        dx[0] = match below.re() {
            re if re < 0.0 => T::from(-1.0),
            re if re >= self.ramp => T::from(2.0),
            _ => below / self.ramp * 3.0 - 1.0,
        };
        dx[1] = T::from(0.5);
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[1]
    }

    fn guards<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = x[0] - x[1];
        guards[1] = if self.ramp > 0.0 { x[0] - x[1] + self.ramp } else { T::one() };
    }
}

fn run(ramp: f64) -> Result<Solution, Error> {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Driven { ramp }), 1.0).over(link, 0.3));
    Assembly::new(network)?.run(3.0, 0.01, Accuracy { tolerance: 1e-8, ..Accuracy::default() })
}

#[test]
fn with_a_slope_it_follows_filippovs_solution_within_the_width_of_the_slope() {
    for ramp in [0.1, 0.01, 0.001] {
        let solution = run(ramp).unwrap();
        for (t, x) in solution.times.iter().zip(solution.of(Entity::Loop(0), "x")) {
            let filippov = (2.0 * t).min(1.0 + 0.5 * t);
            assert!(x <= filippov + 1e-6 && x >= filippov - ramp - 1e-6, "{ramp} at {t}: {x}, {filippov}");
        }
        // It keeps the distance from c at which 3 (c - x) / ramp - 1 is one half.
        let last = solution.of(Entity::Loop(0), "x")[300];
        assert!((last - (2.5 - ramp / 2.0)).abs() < 1e-6, "{ramp}: {last}");
    }
}

#[test]
fn with_a_jump_it_is_rejected_with_the_name_of_its_guard() {
    let said = run(0.0).unwrap_err().to_string();
    assert!(said.contains("at 0.66") && said.contains("x less c of f") && said.contains("slope"), "{said}");
}
