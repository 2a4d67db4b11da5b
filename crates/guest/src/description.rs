//! What a guest declares about its law, as the card of a built-in protocol.

use crate::intern;
use millpond_law::key::{AnyKey, Keys};
use millpond_law::{
    Bounds, Card, Domain, HeaderId, Knowledge, Needs, Parameter, QueueChoice, SettingError, Settings, Value,
};
use millpond_units::{Bytes, Rate, Span};
use std::sync::atomic::{AtomicU8, Ordering};

/// The kind of a parameter's values.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterKind {
    /// A number of this unit, "1" for a pure number.
    Number(String, Bounds),
    /// A whole number of this unit.
    Whole(String, Bounds),
    /// A time above zero; guests receive seconds.
    Time,
    /// A size above zero; guests receive bytes.
    Size,
    /// A rate above zero; guests receive bit/s.
    Rate,
    /// True or false; guests receive 1 or 0.
    Flag,
    /// One of these words; guests receive the position of the word.
    Words(Vec<String>),
}

/// A parameter that a guest declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// As scenarios spell it.
    pub name: String,
    /// The kind of its values.
    pub kind: ParameterKind,
    /// As a scenario would write it.
    pub default: Value,
    /// The equation or section that it comes from.
    pub source: String,
    /// What it does.
    pub meaning: String,
}

/// What a guest declares about its law.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// As scenarios spell it.
    pub name: String,
    /// The name in full.
    pub title: String,
    /// One sentence.
    pub summary: String,
    /// Where it is defined.
    pub source: String,
    /// Whether its packets carry a header of its own.
    pub has_header: bool,
    /// Whether its packets are ECN-capable, and if so whether they are sent as ECT(1).
    pub ecn: Option<bool>,
    /// Which capacities are signalled to its senders.
    pub capacity: Knowledge,
    /// Whether its senders receive an event for each packet that they send.
    pub sent: bool,
    /// Whether acknowledgements have samples of the delivery rate.
    pub samples: bool,
    /// Its queue at links for which the scenario sets none.
    pub queue: String,
    /// The parameters of that queue which differ from their defaults.
    pub queue_settings: Vec<(String, String)>,
    /// Its parameters.
    pub parameters: Vec<Declared>,
}

/// The first number of the headers of guests. Built-in protocols have smaller ones.
const FIRST_HEADER: u8 = 128;

/// The number of headers that guests have been given.
static HEADERS: AtomicU8 = AtomicU8::new(0);

/// A header number of its own, unless more than a hundred laws with headers were described in this process.
fn header_number() -> HeaderId {
    HeaderId(FIRST_HEADER | HEADERS.fetch_add(1, Ordering::Relaxed))
}

#[derive(Debug)]
struct GuestKey(Parameter);

impl AnyKey for GuestKey {
    fn parameter(&self) -> Parameter {
        self.0.clone()
    }
}

impl Declared {
    fn key(&self) -> GuestKey {
        let (unit, domain) = match &self.kind {
            ParameterKind::Number(unit, bounds) => (unit.as_str(), Domain::Number(*bounds)),
            ParameterKind::Whole(unit, bounds) => (unit.as_str(), Domain::Whole(*bounds)),
            ParameterKind::Time => ("s", Domain::Span { least: Domain::ABOVE_ZERO }),
            ParameterKind::Size => ("B", Domain::Bytes { positive: true }),
            ParameterKind::Rate => ("bit/s", Domain::Rate),
            ParameterKind::Flag => ("", Domain::Flag),
            ParameterKind::Words(words) => {
                let words: Vec<&'static str> = words.iter().map(|word| intern(word)).collect();
                ("", Domain::Word(words.leak()))
            }
        };
        GuestKey(Parameter {
            name: intern(&self.name),
            unit: intern(unit),
            domain,
            default: self.default.clone(),
            source: intern(&self.source),
            meaning: intern(&self.meaning),
            presets: &[],
        })
    }
}

impl Description {
    /// The card of the law. It lives as long as the process, as those of built-in protocols do.
    ///
    /// # Errors
    /// The default of a parameter is outside of its domain.
    pub fn card(&self) -> Result<&'static Card, SettingError> {
        let keys: Vec<&'static dyn AnyKey> =
            self.parameters.iter().map(|one| Box::leak(Box::new(one.key())) as &dyn AnyKey).collect();
        let parameters: Keys = keys.leak();
        Settings::check(parameters, [])?;
        let settings = self.queue_settings.iter().map(|(name, value)| (intern(name), intern(value)));
        let settings: Vec<(&'static str, &'static str)> = settings.collect();
        let needs = Needs {
            header: if self.has_header { header_number() } else { HeaderId::NONE },
            ecn: self.ecn,
            capacity: self.capacity,
            sent: self.sent,
            samples: self.samples,
            ..Needs::NONE
        };
        Ok(Box::leak(Box::new(Card {
            name: intern(&self.name),
            title: intern(&self.title),
            summary: intern(&self.summary),
            source: intern(&self.source),
            needs,
            queue: QueueChoice { name: intern(&self.queue), settings: settings.leak() },
            parameters,
        })))
    }
}

/// The value of a parameter as guests receive it: in seconds, bytes or bit/s; a flag as 0 or 1; a word as its position.
pub fn value_in_si(domain: Domain, value: &Value) -> Option<f64> {
    match (domain, value) {
        (_, Value::Number(number)) => Some(*number),
        (_, Value::Flag(flag)) => Some(f64::from(u8::from(*flag))),
        (Domain::Span { .. }, Value::Text(text)) => text.parse().ok().map(Span::secs),
        (Domain::Bytes { .. }, Value::Text(text)) => text.parse().ok().map(Bytes::as_f64),
        (Domain::Rate, Value::Text(text)) => text.parse().ok().map(Rate::as_f64),
        (Domain::Word(words), Value::Text(text)) => {
            words.iter().position(|word| word == text).map(|position| position as f64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::key::from;

    fn declared(name: &str, kind: ParameterKind, default: Value) -> Declared {
        Declared { name: name.into(), kind, default, source: "a test".into(), meaning: "a gain".into() }
    }

    fn described(parameters: Vec<Declared>) -> Description {
        Description {
            name: "tortoise".into(),
            queue: "droptail".into(),
            parameters,
            ..Description::default()
        }
    }

    #[test]
    fn parameters_are_checked_as_those_of_built_in_laws_and_arrive_in_si_units() {
        let words = ParameterKind::Words(vec!["window".into(), "rate".into()]);
        let description = described(vec![
            declared("gain", ParameterKind::Number("1".into(), from(0.0).to(1.0)), Value::Number(0.5)),
            declared("target", ParameterKind::Time, Value::text("5ms")),
            declared("control", words, Value::text("window")),
            declared("paced", ParameterKind::Flag, Value::Flag(true)),
        ]);
        let card = description.card().unwrap();
        let written = [("target", Value::text("20ms")), ("control", Value::text("rate"))];
        let settings = Settings::check(card.parameters, written).unwrap();
        let values: Vec<f64> = card
            .parameters
            .iter()
            .map(|key| key.parameter())
            .filter_map(|one| {
                let (_, value) = settings.written().find(|(name, _)| *name == one.name)?;
                value_in_si(one.domain, value)
            })
            .collect();
        assert_eq!(values, [0.5, 0.02, 1.0, 1.0]);
        let error = Settings::check(card.parameters, [("gain", Value::Number(2.0))]).unwrap_err();
        assert_eq!(error.to_string(), "gain: expected a number from 0 to 1, found 2");
    }

    #[test]
    fn a_default_outside_of_its_range_is_refused() {
        let gain = declared("gain", ParameterKind::Number("1".into(), from(0.0).to(1.0)), Value::Number(3.0));
        assert!(described(vec![gain]).card().is_err());
    }

    #[test]
    fn laws_with_headers_have_numbers_of_their_own() {
        let with_header = || Description { has_header: true, ..described(Vec::new()) };
        let (one, other) = (with_header().card().unwrap(), with_header().card().unwrap());
        assert_ne!(one.needs.header, other.needs.header);
        assert_eq!(described(Vec::new()).card().unwrap().needs.header, HeaderId::NONE);
    }
}
