//! Values are finite, and exact derivatives agree with difference quotients.

use super::pieces::{Piece, RouterPiece, SenderPiece, is_fixed};
use super::{law, model};
use crate::{Laws, corners, for_all};
use millpond_law::fluid::State;
use millpond_law::key::Keys;
use millpond_law::{Domain, Settings, Value};
use proptest::prelude::*;

/// The defaults, and the defaults with one option or flag changed; numbers keep their defaults.
fn readings(keys: Keys) -> Vec<Settings> {
    let one = |written: Vec<(&'static str, Value)>| Settings::check(keys, written).unwrap();
    let mut all = vec![one(Vec::new())];
    for parameter in keys.iter().map(|key| key.parameter()) {
        let values = match parameter.domain {
            Domain::Word(words) => words.iter().map(|word| Value::text(word)).collect(),
            Domain::Flag => vec![Value::Flag(true), Value::Flag(false)],
            _ => Vec::new(),
        };
        all.extend(values.into_iter().map(|value| one(vec![(parameter.name, value)])));
    }
    all
}

/// Every sender and link of every protocol and queue, with its name.
fn pieces(laws: &Laws, settings: fn(Keys) -> Vec<Settings>) -> Vec<(String, Box<dyn Piece>)> {
    let mut all: Vec<(String, Box<dyn Piece>)> = Vec::new();
    for protocol in laws.protocols() {
        for (number, settings) in settings(protocol.card().parameters).iter().enumerate() {
            let Some(model) = model(protocol, settings) else { continue };
            let name = format!("{}, settings {number}", protocol.card().name);
            all.push((name.clone(), Box::new(SenderPiece::of(&*model))));
            all.extend(RouterPiece::of(&*model).map(|router| (name, Box::new(router) as Box<dyn Piece>)));
        }
    }
    for queue in laws.queues() {
        for (number, settings) in settings(queue.card().parameters).iter().enumerate() {
            let router = law(queue, settings).map(|links| RouterPiece { links, carried: Vec::new() });
            let name = format!("{}, settings {number}", queue.card().name);
            all.extend(router.map(|router| (name, Box::new(router) as Box<dyn Piece>)));
        }
    }
    all
}

/// The point of evaluation: a share of the range of each argument.
fn point(piece: &dyn Piece, shares: &[f64]) -> Vec<f64> {
    let shares = shares.iter().cycle();
    piece.ranges().iter().zip(shares).map(|((low, high), share)| low + (high - low) * share).collect()
}

fn shares() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..1.0_f64, 13)
}

/// Derivatives, rates and signals are finite within the bounds of the states.
///
/// # Panics
/// It is not so.
pub fn equations_are_finite_for_all_inputs(laws: &Laws) {
    let all = pieces(laws, corners);
    for (name, piece) in &all {
        for_all(24, &shares(), |shares| {
            let z = point(&**piece, &shares);
            let value = piece.value(&z);
            assert!(value.iter().all(|value| value.is_finite()), "{name}: {value:?} at {z:?}");
            for (z, state) in z.iter().zip(piece.states()) {
                let State { lower, upper, .. } = state;
                assert!((lower..=upper).contains(z), "{name}: {} is {z}, not {lower} to {upper}", state.name);
            }
        });
    }
}

/// The difference quotients on both sides if they agree; otherwise there is a discontinuity.
fn quotient(piece: &dyn Piece, z: &[f64], by: usize, step: f64, output: usize) -> Option<f64> {
    let at = |step: f64| {
        let mut z = z.to_vec();
        z[by] += step;
        piece.value(&z)[output]
    };
    let (below, here, above) = (at(-step), at(0.0), at(step));
    let (left, right) = ((here - below) / step, (above - here) / step);
    let rough = (left - right).abs() > 1e-3 * (left.abs() + right.abs()) + 1e-9 * here.abs() / step;
    (!rough).then_some((left + right) / 2.0)
}

/// Compares the exact derivatives at a point with difference quotients. Returns the number of arguments that it has compared
/// with. An argument without width has no difference quotient, and the engine uses no derivative by a state that cannot
/// vary: only its value must be finite.
fn compare_derivatives(name: &str, piece: &dyn Piece, z: &[f64]) -> usize {
    let here = piece.value(z);
    let mut compared = 0;
    for (by, range) in piece.ranges().into_iter().enumerate() {
        let slopes = piece.slope(z, by);
        if is_fixed(range) {
            assert!(slopes.iter().all(|slope| slope.is_finite()), "{name}: {slopes:?} by {by}");
            continue;
        }
        compared += 1;
        let step = 1e-6 * (range.1 - range.0);
        for (output, exact) in slopes.into_iter().enumerate() {
            let Some(quotient) = quotient(piece, z, by, step, output) else { continue };
            // Rounding error of a difference of two numbers of this size.
            let noise = 1e-13 * here[output].abs() / step;
            let off = (exact - quotient).abs();
            let bound = 1e-4 * (exact.abs() + quotient.abs()) + 10.0 * noise;
            assert!(off <= bound, "{name}: output {output} by {by}: {exact} {quotient} at {z:?}");
        }
    }
    compared
}

/// Derivatives by dual numbers agree with difference quotients.
///
/// # Panics
/// It is not so.
pub fn exact_derivatives_are_the_limits_of_difference_quotients(laws: &Laws) {
    for (name, piece) in &pieces(laws, readings) {
        for_all(16, &shares(), |shares| {
            let z = point(&**piece, &shares);
            let compared = compare_derivatives(name, &**piece, &z);
            assert_eq!(compared, z.len(), "{name}: a state without width");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::range;
    use super::*;
    use millpond_law::fluid::{FluidSender, Number, SenderInput, sender_law};

    #[test]
    fn the_range_of_a_state_is_within_its_bounds() {
        let of = |lower, upper| range(&State::new("window", "bit", 0.0).within(lower, upper));
        assert_eq!(of(f64::NEG_INFINITY, f64::INFINITY), (8e3, 8e5));
        assert_eq!(of(1e5, 2e5), (1e5, 2e5));
        assert_eq!(of(1e6, f64::INFINITY), (1e6, 1e6 + 792e3));
        assert_eq!(of(1e6, 1.1e6), (1e6, 1.1e6));
        assert_eq!(of(0.0, 5e3), (0.0, 5e3));
        assert_eq!(of(1e6, 1e6), (1e6, 1e6));
        assert!(is_fixed(of(1e6, 1e6)) && is_fixed(of(1e5, 1e5)) && !is_fixed(of(0.0, 5e3)));
    }

    /// A law with one state whose bounds coincide, and one that varies.
    struct Constant;

    impl FluidSender for Constant {
        fn states(&self) -> Vec<State> {
            let gain = State::new("gain", "1", 2.0).within(2.0, 2.0);
            vec![gain, State::new("rate", "bit/s", 1e6).within(0.0, f64::INFINITY)]
        }

        fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
            dx[0] = T::zero();
            dx[1] = x[0] * (input.acked - x[1]);
        }

        fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
            x[1]
        }
    }

    #[test]
    fn a_state_without_width_is_evaluated_at_its_value_and_not_varied() {
        let flow = SenderPiece(sender_law(Constant));
        for share in [0.0, 0.3, 1.0] {
            let z = point(&flow, &[share]);
            assert_eq!(z[0], 2.0, "{z:?}");
            assert_eq!(compare_derivatives("constant", &flow, &z), z.len() - 1);
        }
    }
}
