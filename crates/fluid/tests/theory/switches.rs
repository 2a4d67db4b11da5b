//! Where the selected hop of a path changes, a sender's input has a discontinuous derivative: `x' = min(a, b)` with
//! known a and b.

use crate::laws::P;
use millpond_fluid::{Accuracy, Assembly, Entity, FluidNetwork, Loop};
use millpond_law::fluid::{
    Feedback, FluidLink, FluidSender, LinkInput, Number, PathAggregation, Quantity, SenderInput, State,
    link_law, sender_law,
};

/// Emits `sign c exp(-rate t)`.
struct Fading {
    from: f64,
    rate: f64,
    sign: f64,
}

impl FluidLink for Fading {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "word", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("level", "1", self.from)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, dx: &mut [T]) {
        dx[0] = -x[0] * self.rate;
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0] * self.sign;
    }
}

/// `x' = min(a, b)`, or `-max(-a, -b)`, which is the same.
struct Choosy<const MAX: bool>;

impl<const MAX: bool> FluidSender for Choosy<MAX> {
    const FEEDBACK: &'static [Feedback] = &[Feedback {
        name: "word",
        unit: "1",
        over_path: if MAX { PathAggregation::Max } else { PathAggregation::Min },
    }];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", 1.0)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = input.feedback[0] * if MAX { -1.0 } else { 1.0 };
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// Over A, B and C with the signals exp(-4 t), 0.4 exp(-t/4) and 1. The signal of A has a delay of 1.4 s, that of B 1
/// s.
fn x_at<const MAX: bool>(until: f64, accuracy: Accuracy) -> f64 {
    let mut network = FluidNetwork::new();
    let mut flow = Loop::new("f", P, sender_law(Choosy::<MAX>), 2.0).always();
    for (name, from, rate, forward) in [("C", 1.0, 0.0, 0.0), ("A", 1.0, 4.0, 0.6), ("B", 0.4, 0.25, 1.0)] {
        let link = network.link(name, 1e9, f64::INFINITY);
        let sign = if MAX { -1.0 } else { 1.0 };
        network.add_router(link, P, link_law(Fading { from, rate, sign }));
        flow = flow.over(link, forward);
    }
    network.add(flow);
    let solution = Assembly::new(network).unwrap().run(until, until, accuracy).unwrap();
    *solution.of(Entity::Loop(0), "x").last().unwrap()
}

/// B is selected from the start, A from `exp(-4 (t - 1.4)) = .4 exp(-(t - 1) / 4)` on.
fn exactly(until: f64) -> f64 {
    let switch = (5.6 - 0.25 - 0.4_f64.ln()) / 3.75;
    assert!(switch < until);
    let b = 0.4 * (1.0 + 4.0 * (1.0 - (-(switch - 1.0) / 4.0).exp()));
    1.0 + b + ((-4.0 * (switch - 1.4)).exp() - (-4.0 * (until - 1.4)).exp()) / 4.0
}

const UNTIL: f64 = 4.1;

fn error(h: f64, track_discontinuities: bool) -> f64 {
    let steps = Accuracy { tolerance: 1e12, longest_step: h, track_discontinuities, ..Accuracy::default() };
    (x_at::<false>(UNTIL, steps) - exactly(UNTIL)).abs()
}

#[test]
fn the_order_is_five_only_if_the_switch_is_located() {
    // The position of a switch within its step changes the error: several step lengths are used.
    let order = |follow| {
        let orders = [0.211, 0.317, 0.373].map(|h| (error(h, follow) / error(h / 8.0, follow)).log2() / 3.0);
        println!("{follow}: {orders:?}");
        orders.iter().sum::<f64>() / 3.0
    };
    let (located, ignored) = (order(true), order(false));
    println!("order {located} with the switch located, {ignored} without");
    assert!(located > 4.5 && ignored < 3.2, "{located} {ignored}");
}

#[test]
fn the_minimum_and_the_maximum_of_a_path_switch_at_the_computed_times() {
    let exact = Accuracy { tolerance: 1e-9, ..Accuracy::default() };
    for x in [x_at::<false>(UNTIL, exact), x_at::<true>(UNTIL, exact)] {
        assert!((x - exactly(UNTIL)).abs() < 1e-8, "{x} {}", exactly(UNTIL));
    }
}
