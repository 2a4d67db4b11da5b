//! What every protocol and queue must do: process extreme events and arbitrary bytes, with extreme settings, reproducibly;
//! have a complete card; have equations that are finite, with derivatives that agree with differences, and with the declared
//! equilibrium. `bench` has what tests of single laws need.
//!
//! A crate with a protocol of its own tests it with one line:
//!
//! ```
//! use millpond_conformance::{Laws, check};
//! use millpond_law::Protocol;
//!
//! fn conforms(protocol: &'static dyn Protocol) {
//!     check(&Laws::new([protocol], []));
//! }
//! ```

// A check fails by panicking, as a test does.
#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc)]

mod any;
pub mod bench;
pub mod cards;
pub mod fluid;
pub mod links;
pub mod queues;
pub mod receivers;
pub mod senders;
mod several;

use millpond_law::key::Keys;
use millpond_law::{Bounds, Domain, Protocol, Queue, SettingError, Settings, Value};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// The protocols and queues that are tested.
#[derive(Default)]
pub struct Laws {
    protocols: Vec<&'static dyn Protocol>,
    queues: Vec<&'static dyn Queue>,
}

impl Laws {
    /// These protocols and queues.
    pub fn new(
        protocols: impl IntoIterator<Item = &'static dyn Protocol>,
        queues: impl IntoIterator<Item = &'static dyn Queue>,
    ) -> Self {
        Self { protocols: protocols.into_iter().collect(), queues: queues.into_iter().collect() }
    }

    fn protocols(&self) -> impl Iterator<Item = &'static dyn Protocol> {
        self.protocols.iter().copied()
    }

    fn queues(&self) -> impl Iterator<Item = &'static dyn Queue> {
        self.queues.iter().copied()
    }
}

/// Checks everything: the card, the sender, the receiver, the router and the equations of each protocol; the card, the law and
/// the equations of each queue.
///
/// # Panics
/// A law does not conform. The message names the law, its settings and its inputs.
pub fn check(laws: &Laws) {
    cards::check(laws);
    senders::check(laws);
    receivers::for_any_bytes_the_echo_has_the_receivers_header_or_is_unchanged(laws);
    links::a_protocols_router_writes_only_its_own_header(laws);
    queues::check(laws);
    fluid::check(laws);
}

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
        Domain::Span { least } => vec![Value::Text(least.to_string().into()), Value::text("1h")],
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
