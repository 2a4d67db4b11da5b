//! Values are finite, and exact derivatives agree with difference quotients.

use super::pieces::{Flow, Piece, Router};
use super::{law, model};
use crate::{corners, for_all};
use millpond_law::key::Keys;
use millpond_law::{Domain, Settings, Value};
use millpond_protocols::Registry;
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
fn pieces(settings: fn(Keys) -> Vec<Settings>) -> Vec<(String, Box<dyn Piece>)> {
    let mut all: Vec<(String, Box<dyn Piece>)> = Vec::new();
    for protocol in Registry::builtin().protocols() {
        for (number, settings) in settings(protocol.card().parameters).iter().enumerate() {
            let Some(model) = model(protocol, settings) else { continue };
            let name = format!("{}, settings {number}", protocol.card().name);
            all.push((name.clone(), Box::new(Flow::of(&*model))));
            all.extend(Router::of(&*model).map(|router| (name, Box::new(router) as Box<dyn Piece>)));
        }
    }
    for queue in Registry::builtin().queues() {
        for (number, settings) in settings(queue.card().parameters).iter().enumerate() {
            let router = law(queue, settings).map(|links| Router { links, carried: Vec::new() });
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

#[test]
fn equations_are_finite_for_all_inputs() {
    let all = pieces(corners);
    assert!(all.len() > 200, "{}", all.len());
    for (name, piece) in &all {
        for_all(24, &shares(), |shares| {
            let z = point(&**piece, &shares);
            let value = piece.value(&z);
            assert!(value.iter().all(|value| value.is_finite()), "{name}: {value:?} at {z:?}");
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

#[test]
fn exact_derivatives_are_the_limits_of_difference_quotients() {
    for (name, piece) in &pieces(readings) {
        for_all(16, &shares(), |shares| {
            let z = point(&**piece, &shares);
            let here = piece.value(&z);
            for (by, (low, high)) in piece.ranges().into_iter().enumerate() {
                let step = 1e-6 * (high - low);
                for (output, exact) in piece.slope(&z, by).into_iter().enumerate() {
                    let Some(quotient) = quotient(&**piece, &z, by, step, output) else { continue };
                    // Rounding error of a difference of two numbers of this size.
                    let noise = 1e-13 * here[output].abs() / step;
                    let off = (exact - quotient).abs();
                    let bound = 1e-4 * (exact.abs() + quotient.abs()) + 10.0 * noise;
                    assert!(off <= bound, "{name}: output {output} by {by}: {exact} {quotient} at {z:?}");
                }
            }
        });
    }
}
