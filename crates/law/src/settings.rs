//! Parameters: declared once with unit, default and origin; checked in one place for every protocol and queue.

use millpond_units::{Bytes, Rate, Span};
use std::collections::BTreeMap;
use std::fmt;

/// A value as written in a scenario, before its meaning is checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `0.3`
    Number(f64),
    /// `"75KB"`, `"window"`: a quantity with its unit, or a word
    Text(std::borrow::Cow<'static, str>),
    /// `true`
    Flag(bool),
    /// `{ acks = 4 }`: a word with a number
    Count(std::borrow::Cow<'static, str>, f64),
}

impl Value {
    /// A constant text.
    pub const fn text(text: &'static str) -> Self {
        Self::Text(std::borrow::Cow::Borrowed(text))
    }

    /// The value that a card writes as `0.3`, `true`, `75KB` or `window`.
    pub fn read(text: &'static str) -> Self {
        match text {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            _ => text.parse().map_or(Self::text(text), Self::Number),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Count(word, n) => write!(f, "{{ {word} = {n} }}"),
        }
    }
}

/// What values a parameter can take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// A number in this closed range.
    Number(f64, f64),
    /// A number strictly above the first and at most the second.
    Above(f64, f64),
    /// A whole number in this closed range.
    Whole(u64, u64),
    /// A time, longer than zero if `true`.
    Span(bool),
    /// A size, more than zero if `true`.
    Bytes(bool),
    /// A rate above zero.
    Rate,
    /// True or false.
    Flag,
    /// One of these words: a reading or a variant.
    Word(&'static [&'static str]),
    /// This word, or a number in this closed range.
    WordOrNumber(&'static str, f64, f64),
    /// One of these words, a time, or one of these keys with a whole number of at least 1 (`{ acks = 4 }`).
    Interval(&'static [&'static str], &'static [&'static str]),
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted =
            |words: &[&str]| words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" or ");
        match *self {
            Self::Number(low, high) if high.is_finite() => write!(f, "a number from {low} to {high}"),
            Self::Number(low, _) => write!(f, "a number of at least {low}"),
            Self::Above(low, high) if high.is_finite() => write!(f, "a number above {low}, at most {high}"),
            Self::Above(low, _) => write!(f, "a number above {low}"),
            Self::Whole(low, u64::MAX) => write!(f, "a whole number of at least {low}"),
            Self::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Span(true) => write!(f, "a time above zero, such as \"50ms\""),
            Self::Span(false) => write!(f, "a time such as \"50ms\""),
            Self::Bytes(true) => write!(f, "a size above zero, such as \"75KB\""),
            Self::Bytes(false) => write!(f, "a size such as \"75KB\""),
            Self::Rate => write!(f, "a rate above zero, such as \"155Mbps\""),
            Self::Flag => write!(f, "true or false"),
            Self::Word(words) => write!(f, "{}", quoted(words)),
            Self::WordOrNumber(word, low, high) => write!(f, "\"{word}\" or {}", Self::Number(low, high)),
            Self::Interval(words, counts) => {
                let counts: String = counts.iter().map(|c| format!(", {{ {c} = n }}")).collect();
                write!(f, "{}{counts} or a time such as \"10ms\"", quoted(words))
            }
        }
    }
}

/// A parameter of a protocol or a queue.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// As the scenario file spells it.
    pub name: &'static str,
    /// As printed; "1" for a pure number.
    pub unit: &'static str,
    /// What it can be.
    pub domain: Domain,
    /// What it is unless the scenario says otherwise, as a scenario would write it (`0.3`, `"75KB"`, `"window"`).
    pub default: &'static str,
    /// Which equation, table or section it comes from.
    pub source: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// Which parameter.
    pub name: String,
    /// What is wrong, and what was expected.
    pub message: String,
    /// The nearest right spelling, if the name or the word is unknown.
    pub nearest: Option<String>,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)?;
        self.nearest.as_ref().map_or(Ok(()), |nearest| write!(f, " (did you mean \"{nearest}\"?)"))
    }
}

impl std::error::Error for SettingError {}

impl SettingError {
    /// A setting with this name is wrong in this way.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into(), nearest: None }
    }
}

/// The candidate nearest to `text` in spelling, if any is near at all.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |name: &&'a str| strsim::damerau_levenshtein(text, name);
    candidates.into_iter().min_by_key(near).filter(|name| near(name) <= 1 + text.chars().count() / 3)
}

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
enum Checked {
    Number(f64),
    Span(Span),
    Bytes(Bytes),
    Rate(Rate),
    Flag(bool),
    Word(&'static str),
    Count(&'static str, u64),
}

/// Every parameter of a protocol or a queue with its checked value.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, Checked>,
    written: BTreeMap<&'static str, Value>,
}

impl Settings {
    /// Checks what a scenario wrote against the declared parameters and fills in the defaults.
    pub fn check<'a>(
        parameters: &'static [Parameter],
        written: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Result<Self, SettingError> {
        let mut settings = Self::default();
        for parameter in parameters {
            let value = Value::read(parameter.default);
            settings.values.insert(parameter.name, check(parameter, &value)?);
            settings.written.insert(parameter.name, value);
        }
        for (name, value) in written {
            let Some(parameter) = parameters.iter().find(|p| p.name == name) else {
                let known: Vec<_> = parameters.iter().map(|p| p.name).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                return Err(SettingError {
                    nearest: nearest(name, parameters.iter().map(|p| p.name)).map(str::to_owned),
                    ..SettingError::new(name, format!("no such parameter; there are: {known}"))
                });
            };
            settings.values.insert(parameter.name, check(parameter, &value)?);
            settings.written.insert(parameter.name, value);
        }
        Ok(settings)
    }

    /// Every parameter by name, with its value as a scenario would write it.
    pub fn written(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.written.iter().map(|(name, value)| (*name, value))
    }

    /// A number. An undeclared name is a mistake of the protocol's author and reads as zero, in tests as a panic.
    pub fn number(&self, name: &str) -> f64 {
        match self.values.get(name) {
            Some(Checked::Number(x)) => *x,
            other => absent(name, other, 0.0),
        }
    }

    /// A whole number.
    pub fn whole(&self, name: &str) -> u64 {
        self.number(name) as u64
    }

    /// A time.
    pub fn span(&self, name: &str) -> Span {
        match self.values.get(name) {
            Some(Checked::Span(x)) => *x,
            other => absent(name, other, Span::ZERO),
        }
    }

    /// A size.
    pub fn bytes(&self, name: &str) -> Bytes {
        match self.values.get(name) {
            Some(Checked::Bytes(x)) => *x,
            other => absent(name, other, Bytes::ZERO),
        }
    }

    /// A rate.
    pub fn rate(&self, name: &str) -> Rate {
        match self.values.get(name) {
            Some(Checked::Rate(x)) => *x,
            other => absent(name, other, Rate::ZERO),
        }
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> bool {
        match self.values.get(name) {
            Some(Checked::Flag(x)) => *x,
            other => absent(name, other, false),
        }
    }

    /// The number of a [`Domain::WordOrNumber`], if it was given as one.
    pub fn number_if_given(&self, name: &str) -> Option<f64> {
        match self.values.get(name) {
            Some(Checked::Number(x)) => Some(*x),
            Some(Checked::Word(_)) => None,
            other => absent(name, other, None),
        }
    }

    /// A word of [`Domain::Word`], or of [`Domain::Interval`] if it holds one ("" if it holds something else).
    pub fn word(&self, name: &str) -> &'static str {
        match self.values.get(name) {
            Some(Checked::Word(x)) => x,
            Some(Checked::Count(..) | Checked::Span(_)) => "",
            other => absent(name, other, ""),
        }
    }

    /// The number of a [`Domain::Interval`] that was given as `{ key = n }`.
    pub fn count(&self, name: &str, key: &str) -> Option<u64> {
        match self.values.get(name) {
            Some(Checked::Count(k, n)) if *k == key => Some(*n),
            _ => None,
        }
    }

    /// The time of a [`Domain::Interval`] that was given as a time.
    pub fn interval_span(&self, name: &str) -> Option<Span> {
        match self.values.get(name) {
            Some(Checked::Span(span)) => Some(*span),
            _ => None,
        }
    }
}

fn absent<T>(name: &str, found: Option<&Checked>, zero: T) -> T {
    debug_assert!(false, "parameter {name} is not declared with this kind: {found:?}");
    zero
}

fn check(parameter: &Parameter, value: &Value) -> Result<Checked, SettingError> {
    let expected = || {
        let message = format!("expected {}, found {value}", parameter.domain);
        SettingError::new(parameter.name, message)
    };
    let unit = |fault: millpond_units::ParseError| SettingError::new(parameter.name, fault.to_string());
    match (parameter.domain, value) {
        (_, Value::Number(x) | Value::Count(_, x)) if !x.is_finite() => Err(expected()),
        (Domain::Number(low, high), Value::Number(x)) if (low..=high).contains(x) => Ok(Checked::Number(*x)),
        (Domain::Above(low, high), Value::Number(x)) if *x > low && *x <= high => Ok(Checked::Number(*x)),
        (Domain::Whole(low, high), Value::Number(x))
            if x.fract() == 0.0 && *x >= low as f64 && *x <= high as f64 =>
        {
            Ok(Checked::Number(*x))
        }
        (Domain::Span(positive), Value::Text(text)) => {
            let span: Span = text.parse().map_err(unit)?;
            if positive && span.is_zero() { Err(expected()) } else { Ok(Checked::Span(span)) }
        }
        (Domain::Bytes(positive), Value::Text(text)) => {
            let bytes: Bytes = text.parse().map_err(unit)?;
            if positive && bytes == Bytes::ZERO { Err(expected()) } else { Ok(Checked::Bytes(bytes)) }
        }
        (Domain::Rate, Value::Text(text)) => {
            let rate: Rate = text.parse().map_err(unit)?;
            if rate.is_zero() { Err(expected()) } else { Ok(Checked::Rate(rate)) }
        }
        (Domain::Flag, Value::Flag(flag)) => Ok(Checked::Flag(*flag)),
        (Domain::Word(words), Value::Text(text)) => match words.iter().find(|w| *w == text) {
            Some(word) => Ok(Checked::Word(word)),
            None => Err(SettingError {
                nearest: nearest(text, words.iter().copied()).map(str::to_owned),
                ..expected()
            }),
        },
        (Domain::WordOrNumber(word, _, _), Value::Text(text)) if text == word => Ok(Checked::Word(word)),
        (Domain::WordOrNumber(_, low, high), Value::Number(x)) if (low..=high).contains(x) => {
            Ok(Checked::Number(*x))
        }
        (Domain::Interval(words, _), Value::Text(text)) => match words.iter().find(|w| *w == text) {
            Some(word) => Ok(Checked::Word(word)),
            None => match text.parse::<Span>() {
                Ok(span) if !span.is_zero() => Ok(Checked::Span(span)),
                _ => Err(expected()),
            },
        },
        (Domain::Interval(_, counts), Value::Count(key, n)) if *n >= 1.0 && n.fract() == 0.0 => {
            counts.iter().find(|c| *c == key).map(|key| Checked::Count(key, *n as u64)).ok_or_else(expected)
        }
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter {
            name: "phi1",
            unit: "1",
            domain: Domain::Above(1.0, f64::INFINITY),
            default: "10",
            source: "",
            meaning: "",
        },
        Parameter {
            name: "max_th",
            unit: "B",
            domain: Domain::Bytes(true),
            default: "75KB",
            source: "",
            meaning: "",
        },
        Parameter {
            name: "control",
            unit: "",
            domain: Domain::Word(&["window", "rate"]),
            default: "window",
            source: "",
            meaning: "",
        },
        Parameter {
            name: "interval",
            unit: "",
            domain: Domain::Interval(&["base-rtt"], &["acks"]),
            default: "base-rtt",
            source: "",
            meaning: "",
        },
        Parameter {
            name: "initial",
            unit: "packets",
            domain: Domain::WordOrNumber("rfc", 1.0, 100.0),
            default: "rfc",
            source: "",
            meaning: "",
        },
    ];

    fn read(name: &'static str, value: Value) -> Result<Settings, SettingError> {
        Settings::check(PARAMETERS, [(name, value)])
    }

    #[test]
    fn defaults_hold_until_the_scenario_says_otherwise() {
        let settings = read("phi1", Value::Number(5.0)).unwrap();
        assert_eq!(settings.number("phi1"), 5.0);
        assert_eq!(settings.bytes("max_th"), Bytes::new(75_000));
        assert_eq!(settings.word("control"), "window");
        assert_eq!(settings.word("interval"), "base-rtt");
        let settings = read("interval", Value::Count("acks".into(), 4.0)).unwrap();
        assert_eq!(settings.count("interval", "acks"), Some(4));
        let settings = read("interval", Value::text("10ms")).unwrap();
        assert_eq!(settings.interval_span("interval"), Some(Span::from_millis(10)));
        assert_eq!(settings.number_if_given("initial"), None);
        assert_eq!(read("initial", Value::Number(2.0)).unwrap().number_if_given("initial"), Some(2.0));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason_and_the_nearest_name() {
        let fault = |name, value| read(name, value).unwrap_err().to_string();
        assert_eq!(fault("phi1", Value::Number(1.0)), "phi1: expected a number above 1, found 1");
        assert_eq!(fault("phi1", Value::Number(f64::NAN)), "phi1: expected a number above 1, found NaN");
        assert_eq!(fault("phi1", Value::Number(f64::INFINITY)), "phi1: expected a number above 1, found inf");
        assert!(fault("ph1", Value::Number(5.0)).ends_with("(did you mean \"phi1\"?)"));
        assert!(fault("control", Value::text("windwo")).ends_with("(did you mean \"window\"?)"));
        assert!(fault("max_th", Value::text("75")).contains("no unit"));
        assert!(fault("interval", Value::Count("packets".into(), 4.0)).contains("{ acks = n }"));
        assert!(fault("initial", Value::Number(0.0)).contains("\"rfc\" or a number from 1 to 100"));
    }
}
