//! Tests of every registered protocol and queue: extreme events, extreme settings, arbitrary bytes, and a complete
//! card.

// Tests and their helper functions only.
#![allow(clippy::unwrap_used, clippy::panic)]

mod any;
mod cards;
mod fluid;
mod links;
mod queues;
mod receivers;
mod senders;

use millpond_law::key::Keys;
use millpond_law::{Bounds, Domain, SettingError, Settings, Value};
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

/// The values at the ends of a range; the lower end itself may be excluded.
fn ends_of(bounds: Bounds) -> Vec<Value> {
    let low = if bounds.exclusive { bounds.low + 1e-9 } else { bounds.low };
    vec![Value::Number(low), Value::Number(bounds.high.min(1e9))]
}

/// The values at the ends of a parameter's domain.
fn ends(domain: Domain) -> Vec<Value> {
    let texts =
        |texts: &[&'static str]| -> Vec<Value> { texts.iter().map(|text| Value::text(text)).collect() };
    match domain {
        Domain::Number(bounds) | Domain::Whole(bounds) => ends_of(bounds),
        Domain::Span { positive } => texts(&[if positive { "1ps" } else { "0s" }, "1h"]),
        Domain::Bytes { positive } => texts(&[if positive { "1B" } else { "0B" }, "1TB"]),
        Domain::Rate => texts(&["1bps", "1Tbps"]),
        Domain::Flag => vec![Value::Flag(false), Value::Flag(true)],
        Domain::Word(words) => texts(words),
        Domain::WordOrNumber(word, bounds) => [vec![Value::text(word)], ends_of(bounds)].concat(),
        Domain::WordOrSpan(word) => texts(&[word, "1ps", "1h"]),
        Domain::Interval(words) => {
            let counts = [1.0, 1e6].map(|n| Value::Count(Domain::ACKS.into(), n));
            [texts(words), counts.to_vec(), texts(&["1ps", "1h"])].concat()
        }
    }
}

/// The defaults, and the defaults with one parameter at one end of its domain, for each parameter and end.
fn corners(keys: Keys) -> Vec<Settings> {
    let one = |written: Vec<(&'static str, Value)>| Settings::check(keys, written).unwrap();
    let mut all = vec![one(Vec::new())];
    for parameter in keys.iter().map(|key| key.parameter()) {
        all.extend(ends(parameter.domain).into_iter().map(|value| one(vec![(parameter.name, value)])));
    }
    all
}

/// Asserts that an error names a declared parameter.
fn assert_names_a_parameter(fault: &SettingError, keys: Keys) {
    assert!(keys.iter().any(|key| key.parameter().name == fault.name), "{fault} names no parameter");
}
