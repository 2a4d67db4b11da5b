//! Trajectories from given states, and step responses, against closed forms.

use crate::laws::{BASE, P, scalar, scalar_exactly};
use millpond_fluid::motion::{Component, LongTermBehavior, StepResponse, long_term_behavior, record};
use millpond_fluid::{Accuracy, Assembly, FluidNetwork, Frozen, LinkId, Loop, Solver};
use millpond_law::fluid::{
    Feedback, FluidLink, FluidSender, LinkInput, Number, PathAggregation, Quantity, SenderInput, State,
    link_law, sender_law,
};

fn exact() -> Accuracy {
    Accuracy { tolerance: 1e-9, ..Accuracy::default() }
}

/// `x' = -a x(t - 1)` is linear: from any constant history its solution is that from 1, times the initial value.
#[test]
fn a_delay_equation_agrees_with_its_known_solution_from_any_start() {
    for (a, from) in [(0.3, 5.0), (1.2, -40.0), (1.6, 300.0)] {
        let asm = scalar(a);
        let mut solver = Solver::at(&Frozen::new(&asm, 0.0), &[from, 0.0], exact()).unwrap();
        let found = record(&mut solver, 8.0, 16, &[Component::State(0)], &|| true);
        for (t, x) in found.times.iter().zip(&found.values[0]) {
            let theory = from * scalar_exactly(a, *t);
            assert!((x - theory).abs() < 1e-6 * from.abs(), "a = {a}, t = {t}: {x} {theory}");
        }
    }
}

/// Stable below pi / 2, a cycle there, unstable above.
#[test]
fn its_long_term_behavior_changes_at_half_pi() {
    let of = |a: f64| {
        let asm = scalar(a);
        let mut solver = Solver::at(&Frozen::new(&asm, 0.0), &[1.0, 0.0], exact()).unwrap();
        long_term_behavior(
            &record(&mut solver, 120.0, 4000, &[Component::State(0)], &|| true),
            &[0.0],
            &[1.0],
            0.02,
        )
    };
    // W(-1/2) = -0.794 + 0.770i: 2 % remain after about ln(50) / 0.794 = 4.9.
    assert!(matches!(of(0.5), LongTermBehavior::Settles { after } if after < 6.0), "{:?}", of(0.5));
    assert_eq!(of(std::f64::consts::FRAC_PI_2), LongTermBehavior::Cycles);
    assert_eq!(of(1.56), LongTermBehavior::Approaches);
    assert_eq!(of(1.6), LongTermBehavior::Diverges);
}

/// The derivative of the rate is the price: `x' = p`.
struct Glider;

impl FluidSender for Glider {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "push", unit: "1", over_path: PathAggregation::Sum }];

    fn states(&self) -> Vec<State> {
        vec![State::new("rate", "bit/s", BASE)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = input.feedback[0];
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// `p' = C - y - 2 z p`: with [`Glider`] and no delay, `x'' + 2 z x' + x = C`.
struct Damper(f64);

impl FluidLink for Damper {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "push", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("push", "1", 0.0)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        dx[0] = -input.arriving + input.capacity - x[0] * (2.0 * self.0);
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0];
    }
}

/// A network with almost no delay.
fn second_order(damping: f64) -> Assembly {
    const DELAY: f64 = 1e-3;
    let mut network = FluidNetwork::new();
    let link = network.link("L", BASE, f64::INFINITY);
    network.add_router(link, P, link_law(Damper(damping)));
    network.add(Loop::new("f", P, sender_law(Glider), DELAY).over(link, 0.0).always());
    Assembly::new(network).unwrap()
}

/// A delay of one thousandth reduces the damping to z - 0.0005, and changes the overshoot by at most 0.0016.
#[test]
fn a_capacity_step_has_the_overshoot_of_a_second_order_system() {
    for z in [0.2_f64, 0.5] {
        let asm = second_order(z);
        let frozen = Frozen::new(&asm, 0.0);
        let mut solver = Solver::at(&frozen, &frozen.at(&asm.initial()).unwrap().x, exact()).unwrap();
        solver.set_capacity(LinkId(0), 1.25 * BASE).unwrap();
        let found = record(&mut solver, 40.0, 8000, &[Component::State(0)], &|| true);
        let StepResponse::Step { overshoot, .. } =
            StepResponse::of(&found.times, &found.values[0], 1.25 * BASE, 1.0)
        else {
            panic!("a step")
        };
        let theory = (-std::f64::consts::PI * z / (1.0 - z * z).sqrt()).exp();
        assert!((overshoot - theory).abs() < 0.002, "{z}: {overshoot} {theory}");
    }
}

#[test]
fn a_trajectory_from_the_equilibrium_is_constant() {
    let asm = second_order(0.5);
    let mut solver = Solver::at(&Frozen::new(&asm, 0.0), &asm.initial(), exact()).unwrap();
    let found = record(&mut solver, 40.0, 100, &[Component::State(0), Component::State(1)], &|| true);
    assert!(found.values[0].iter().all(|x| (x - BASE).abs() < 1e-9), "{:?}", found.values[0]);
}
