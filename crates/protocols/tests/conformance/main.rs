//! What every registered protocol and queue has to stand, by being listed: absurd events, absurd settings, bytes
//! of any kind, and a complete card.

// Everything here is a test, the helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod any;
mod cards;
mod fluid;
mod links;
mod queues;
mod receivers;
mod senders;

use millpond_law::{Domain, Parameter, SettingError, Settings, Value};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Runs `test` on `cases` values of `strategy`, the same ones each time.
fn for_all<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value)) {
    let config =
        Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..Config::default() };
    let outcome = TestRunner::new(config).run(strategy, |value| {
        test(value);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// The values at the ends of a parameter's domain.
fn ends(domain: Domain) -> Vec<Value> {
    let texts = |texts: &[&'static str]| texts.iter().map(|text| Value::text(text)).collect();
    match domain {
        Domain::Number(low, high) => vec![Value::Number(low), Value::Number(high.min(1e9))],
        Domain::Above(low, high) => vec![Value::Number(low + 1e-9), Value::Number(high.min(1e9))],
        Domain::Whole(low, high) => vec![Value::Number(low as f64), Value::Number(high.min(1 << 50) as f64)],
        Domain::Span(positive) => texts(&[if positive { "1ps" } else { "0s" }, "1h"]),
        Domain::Bytes(positive) => texts(&[if positive { "1B" } else { "0B" }, "1TB"]),
        Domain::Rate => texts(&["1bps", "1Tbps"]),
        Domain::Flag => vec![Value::Flag(false), Value::Flag(true)],
        Domain::Word(words) => texts(words),
        Domain::WordOrNumber(word, low, high) => {
            vec![Value::text(word), Value::Number(low), Value::Number(high)]
        }
        Domain::Interval(words, counts) => {
            let counts = counts.iter().flat_map(|key| [1.0, 1e6].map(|n| Value::Count((*key).into(), n)));
            words.iter().map(|word| Value::text(word)).chain(counts).chain(texts_of_spans()).collect()
        }
    }
}

fn texts_of_spans() -> [Value; 2] {
    [Value::text("1ps"), Value::text("1h")]
}

/// The defaults, and the defaults with one parameter at one end of its domain, for each parameter and end.
fn corners(parameters: &'static [Parameter]) -> Vec<Settings> {
    let one = |written: Vec<(&'static str, Value)>| Settings::check(parameters, written).unwrap();
    let mut all = vec![one(Vec::new())];
    for parameter in parameters {
        all.extend(ends(parameter.domain).into_iter().map(|value| one(vec![(parameter.name, value)])));
    }
    all
}

/// Asserts that a refusal speaks of a parameter that exists.
fn assert_names_a_parameter(fault: &SettingError, parameters: &[Parameter]) {
    assert!(parameters.iter().any(|p| p.name == fault.name), "{fault} names no parameter");
}
