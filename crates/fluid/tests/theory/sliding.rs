//! Solutions that slide along a threshold, compared with Filippov's solution in closed form.

use crate::laws::P;
use millpond_fluid::{Accuracy, Assembly, Entity, Error, FluidNetwork, Loop, Solution};
use millpond_law::fluid::{FluidSender, LawState, Number, Quantity, SenderInput, State, sender_law};

fn one_sender(law: impl FluidSender) -> Assembly {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(law), 1.0).over(link, 0.3));
    Assembly::new(network).unwrap()
}

/// A law that is driven back from both sides of a threshold: `x' = 2` below `c = 1 + t/2` and `-1` above. From zero it meets
/// `c` at 2/3 s and slides along it (Filippov: `x' = c'`, at half of the jump of three).
struct Driven {
    /// Distance below the threshold at which the slope begins; zero for a jump.
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

#[test]
fn with_a_slope_it_follows_filippovs_solution_within_the_width_of_the_slope() {
    for ramp in [0.1, 0.01, 0.001] {
        let accuracy = Accuracy { tolerance: 1e-8, ..Accuracy::default() };
        let solution = one_sender(Driven { ramp }).run(3.0, 0.01, accuracy).unwrap();
        for (t, x) in solution.times.iter().zip(solution.of(Entity::Loop(0), "x")) {
            let filippov = (2.0 * t).min(1.0 + 0.5 * t);
            assert!(x <= filippov + 1e-6 && x >= filippov - ramp - 1e-6, "{ramp} at {t}: {x}, {filippov}");
        }
        // It keeps the distance from c at which 3 (c - x) / ramp - 1 is one half.
        let last = solution.of(Entity::Loop(0), "x")[300];
        assert!((last - (2.5 - ramp / 2.0)).abs() < 1e-6, "{ramp}: {last}");
    }
}

/// `x' = b - s` and `y' = s` with `b = t/2`, where s is the sign of x. From `x(0) = -1` it meets zero at `t0 = 2 (sqrt 2 - 1)`,
/// slides until `b` is one at 2 s (Filippov: s is replaced by b), and leaves upwards: `x = (t - 2)^2 / 4`.
struct Relay;

/// The time at which [`Relay`] meets its threshold.
const T0: f64 = 2.0 * (std::f64::consts::SQRT_2 - 1.0);

impl FluidSender for Relay {
    const GUARDS: &'static [&'static str] = &["x"];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", -1.0), State::new("y", "1", 0.0), State::new("b", "1", 0.0)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        let sign = if x[0] > 0.0 { 1.0 } else { -1.0 };
        (dx[0], dx[1], dx[2]) = (x[2] - sign, T::from(sign), T::from(0.5));
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0] + 3.0
    }

    fn guards<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = x[0];
    }
}

/// Filippov's solution of [`Relay`]: x and y at the time t.
fn filippov(t: f64) -> [f64; 2] {
    if t < T0 {
        return [t + t * t / 4.0 - 1.0, -t];
    }
    let slid = t.min(2.0);
    [(t - slid).powi(2) / 4.0, -T0 + (slid * slid - T0 * T0) / 4.0 + (t - slid)]
}

/// The solution with a hysteresis of this half width: the tolerance is a thousandth of it.
fn with_width(width: f64) -> Solution {
    let accuracy = Accuracy { tolerance: 1e-3 * width, ..Accuracy::default() };
    one_sender(Relay).run(3.0, 0.01, accuracy).unwrap()
}

/// The largest distance of x and y from Filippov's solution.
fn error(solution: &Solution) -> f64 {
    let columns = ["x", "y"].map(|name| solution.of(Entity::Loop(0), name));
    let at = |(i, t): (usize, &f64)| {
        let [x, y] = filippov(*t);
        (columns[0][i] - x).abs().max((columns[1][i] - y).abs())
    };
    solution.times.iter().enumerate().map(at).fold(0.0, f64::max)
}

/// By hand: while it slides, x stays within w of zero. In a cycle it rises for `2 w / (1 + b)` and falls for `2 w / (1 - b)`,
/// during which y departs from its mean by at most `2 w`.
#[test]
fn a_jump_converges_to_filippovs_solution_with_order_one_in_the_width_of_the_hysteresis() {
    let widths = [8e-3, 4e-3, 2e-3, 1e-3];
    let errors = widths.map(|width| error(&with_width(width)));
    for (error, width) in errors.iter().zip(widths) {
        assert!(*error > 0.3 * width && *error < 2.0 * width, "{width}: {errors:?}");
    }
    let order = (errors[0] / errors[3]).log2() / 3.0;
    assert!((order - 1.0).abs() < 0.25, "{order}: {errors:?}");
}

/// By hand: the mean of `(1 + b) (1 - b) / (2 w)` switches per second for 1.17 s, and a hundred before the hysteresis begins.
#[test]
fn the_number_of_steps_while_sliding_is_bounded_by_the_width() {
    for width in [4e-3, 1e-3] {
        let slid = |t: f64| t - t.powi(3) / 12.0;
        let switches = (slid(2.0) - slid(T0)) / (2.0 * width);
        let steps = with_width(width).steps;
        assert!((steps as f64) < 6.0 * (switches + 100.0), "{width}: {steps} steps, {switches} switches");
    }
}

#[test]
fn before_it_slides_the_solution_does_not_depend_on_the_hysteresis() {
    let solution = with_width(8e-3);
    let x = solution.of(Entity::Loop(0), "x");
    let before: Vec<_> = solution.times.iter().zip(x).filter(|(t, _)| **t < T0).collect();
    assert!(
        before.len() > 80 && before.iter().all(|(t, x)| (*x - filippov(**t)[0]).abs() < 1e-9),
        "{before:?}"
    );
}

/// `x' = -v` above zero and `v` below, at `v = 20000` per second from `x(0) = -1`.
struct Fast;

impl FluidSender for Fast {
    const GUARDS: &'static [&'static str] = &["x"];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", -1.0)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = T::from(if x[0] > 0.0 { -2e4 } else { 2e4 });
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0] + 3.0
    }

    fn guards<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = x[0];
    }
}

/// By hand: the half width is a thousandth, so that x switches every 0.1 us. A hundredth of the shortest delay, 3 ms, would have
/// 30000 switches.
#[test]
fn a_law_that_is_too_fast_for_the_hysteresis_ends_with_an_error_that_names_the_guard() {
    let accuracy = Accuracy { tolerance: 1e-6, ..Accuracy::default() };
    let error = one_sender(Fast).run(1.0, 0.1, accuracy).map(|solution| solution.steps).unwrap_err();
    let Error::Chattering { time, guard } = &error else { panic!("{error}") };
    assert!(*time < 2e-3 && guard == "x of f", "{error}");
}

#[test]
fn data_are_conserved_while_it_slides() {
    let solution = with_width(2e-3);
    let column = |entity, quantity: &str| solution.column(entity, quantity).unwrap();
    let last = |column| solution.integral(column).unwrap().last().unwrap();
    let arrived = last(column(Entity::Link(0), "arriving rate"));
    let departed = last(column(Entity::Link(0), "departing rate"));
    let queue = *solution.of(Entity::Link(0), "queue").last().unwrap();
    assert!((arrived - departed - queue).abs() < 1e-9 * arrived, "{arrived} {departed} {queue}");
    // What arrived was sent until 2.7 s at the rate 3 + x.
    let before_sliding = T0.powi(2) / 2.0 + T0.powi(3) / 12.0 - T0;
    let sent = 3.0 * 2.7 + before_sliding + 0.7_f64.powi(3) / 12.0;
    assert!((arrived - sent).abs() < 0.01, "{arrived} {sent}");
}

/// A mode whose switching function is beyond zero on the side of the other mode, from 1 s on.
struct Contradiction;

impl FluidSender for Contradiction {
    const GUARDS: &'static [&'static str] = &["contradiction"];
    const DISCRETE: &'static [Quantity] = &[Quantity { name: "mode", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("t", "s", 0.0)]
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = T::one();
    }

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        T::from(1.0 + input.discrete[0] as f64)
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = match x[0].re() {
            time if time < 1.0 => x[0] - 1.0,
            _ if input.discrete[0] == 0 => T::one(),
            _ => T::from(-1.0),
        };
    }

    fn crossed(
        &self,
        _guard: usize,
        is_rising: bool,
        state: &mut LawState<'_>,
        _input: &SenderInput<'_, f64>,
    ) {
        state.discrete[0] = u64::from(is_rising);
    }
}

/// The link is at the sender, so that each jump of the rate is an event at the same time.
#[test]
fn guards_that_jump_without_end_at_one_time_are_an_error_at_once() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Contradiction), 1.0).over(link, 0.0));
    let accuracy = Accuracy { max_steps: 10_000, ..Accuracy::default() };
    let Err(Error::Chattering { time, guard }) = Assembly::new(network).unwrap().run(2.0, 0.1, accuracy)
    else {
        panic!("an error that names the switching function");
    };
    assert!((time - 1.0).abs() < 1e-9 && guard == "contradiction of f", "{time} {guard}");
}
