//! Laws that read the queueing delay at a lag of their own.

use crate::laws::{P, Steady, scalar_exactly};
use millpond_fluid::stability::{Linearized, rightmost};
use millpond_fluid::{Accuracy, Assembly, Entity, FluidNetwork, Frozen, Loop};
use millpond_law::fluid::{FluidSender, InputSet, Number, SenderInput, State, sender_law};

const CAPACITY: f64 = 1e6;

/// The queueing delay in equilibrium, in seconds.
const TARGET: f64 = 0.2;

/// Sends `C (1 - a (d - TARGET))`, where d is the queueing delay of a lag earlier than the one that it observes.
struct Static {
    a: f64,
    lag: f64,
}

impl FluidSender for Static {
    const INPUTS: InputSet = InputSet { earlier_queueing: true, ..InputSet::NONE };

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        ((input.earlier_queueing - TARGET) * -self.a + 1.0) * CAPACITY
    }

    fn lag(&self, _x: &[f64], _base_rtt: f64) -> f64 {
        self.lag
    }

    fn longest_lag(&self, _base_rtt: f64) -> f64 {
        self.lag
    }
}

/// A round-trip time of 1 s and a lag of .5 s: `d' = -a (d(t - 1.5) - TARGET)`.
fn delayed(a: f64) -> Assembly {
    let mut network = FluidNetwork::new();
    let link = network.link("L", CAPACITY, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Static { a, lag: 0.5 }), 1.0).over(link, 0.3).always());
    Assembly::new(network).unwrap()
}

/// The distance of the queueing delay from its exact value at the end.
fn error(a: f64, until: f64, accuracy: Accuracy) -> f64 {
    let solution = delayed(a).run(until, until, accuracy).unwrap();
    let found = solution.of(Entity::Link(0), "queueing delay");
    let exact = TARGET * (1.0 - scalar_exactly(1.5 * a, until / 1.5));
    (found.last().unwrap() - exact).abs()
}

#[test]
fn a_constant_lag_adds_to_the_delay_of_the_loop() {
    // A queue would be empty at larger gains, with which the oscillation grows.
    for a in [0.3, 0.6, 0.9] {
        for until in [0.4, 1.7, 4.0, 13.0] {
            let accuracy = Accuracy { tolerance: 1e-10, ..Accuracy::default() };
            let error = error(a, until, accuracy);
            assert!(error < 1e-8, "a = {a}, t = {until}: {error}");
        }
    }
}

#[test]
fn discontinuities_are_tracked_through_a_constant_lag() {
    let steps_of = |h: f64| Accuracy { tolerance: 1e12, longest_step: h, ..Accuracy::default() };
    let order = (error(0.9, 9.7, steps_of(0.23)) / error(0.9, 9.7, steps_of(0.23 / 4.0))).log2() / 2.0;
    assert!((4.5..6.5).contains(&order), "{order}");
}

/// `s + a exp(-1.5 s) = 0`: `1.5 s = W_0(-1.5 a)`. Stable below `1.5 a = pi/2`.
#[test]
fn a_constant_lag_delays_the_characteristic_function() {
    for a in [0.3, 0.9, 1.0, 1.1] {
        let assembly = delayed(a);
        let frozen = Frozen::new(&assembly, 0.0);
        let point = frozen.at(&[TARGET * CAPACITY]).unwrap();
        let spectrum = rightmost(&Linearized::of(&frozen, &point).system).unwrap();
        let root = spectrum.roots[0].s;
        assert!((root + (root * -1.5).exp() * a).norm() < 1e-9, "{a}: {root}");
        assert_eq!(root.re < 0.0, 1.5 * a < std::f64::consts::FRAC_PI_2, "{a}: {root}");
        // W_0 is the only root with an imaginary part of 1.5 s between zero and pi (a principal root, if it is not real).
        assert!((0.0..std::f64::consts::PI).contains(&(1.5 * root.im.abs())), "{a}: {root}");
    }
}

/// `x' = d` at a lag that grows: `z = .1 + .05 t`.
struct Reader;

impl FluidSender for Reader {
    const INPUTS: InputSet = InputSet { earlier_queueing: true, ..InputSet::NONE };

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "s", 0.0), State::new("lag", "s", 0.1)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        (dx[0], dx[1]) = (input.earlier_queueing, T::from(0.05));
    }

    fn rate<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>) -> T {
        T::zero()
    }

    fn lag(&self, x: &[f64], _base_rtt: f64) -> f64 {
        x[1]
    }

    fn longest_lag(&self, _base_rtt: f64) -> f64 {
        1.0
    }
}

/// The queueing delay is `.2 t`, and it is read at `t - .7 - z`.
#[test]
fn a_lag_may_depend_on_the_states_of_the_law() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", CAPACITY, f64::INFINITY);
    network.add(Loop::new("traffic", P, sender_law(Steady(1.2 * CAPACITY)), 1.0).over(link, 0.3).always());
    network.add(Loop::new("reader", P, sender_law(Reader), 1.0).over(link, 0.3).always());
    let accuracy = Accuracy { tolerance: 1e-9, ..Accuracy::default() };
    let solution = Assembly::new(network).unwrap().run(6.0, 0.1, accuracy).unwrap();
    for (t, x) in solution.times.iter().zip(solution.of(Entity::Loop(1), "x")) {
        let since = (t - 0.8 / 0.95).max(0.0);
        let exact = 0.2 * 0.95 / 2.0 * since * since;
        assert!((x - exact).abs() < 1e-7, "{t}: {x} {exact}");
    }
}
