//! What a parameter is: its name, unit, domain, default, source and meaning.

use crate::{SettingError, Value};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use millpond_units::{Bytes, ParseError, Rate, Span, nearest};

/// A range of numbers, closed above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lower end.
    pub low: f64,
    /// The upper end, infinite for none.
    pub high: f64,
    /// Is the lower end itself outside of the range?
    pub exclusive: bool,
}

impl Bounds {
    /// The same range with this upper end.
    pub const fn to(self, high: f64) -> Self {
        Self { high, ..self }
    }

    /// Is the number finite and in the range?
    pub fn contains(&self, number: f64) -> bool {
        let above = if self.exclusive { number > self.low } else { number >= self.low };
        above && number <= self.high && number.is_finite()
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { low, high, exclusive } = self;
        match (exclusive, high.is_finite()) {
            (_, true) if !low.is_finite() => write!(f, "of at most {high}"),
            (_, false) if !low.is_finite() => write!(f, "of any size"),
            (false, true) => write!(f, "from {low} to {high}"),
            (false, false) => write!(f, "of at least {low}"),
            (true, true) => write!(f, "above {low}, at most {high}"),
            (true, false) => write!(f, "above {low}"),
        }
    }
}

/// What values a parameter can take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// A number in this range.
    Number(Bounds),
    /// A whole number in this range.
    Whole(Bounds),
    /// A time.
    Span {
        /// The least of them.
        least: Span,
    },
    /// A size.
    Bytes {
        /// Must it be more than zero?
        positive: bool,
    },
    /// A rate above zero.
    Rate,
    /// True or false.
    Flag,
    /// One of these words: a reading or a variant.
    Word(&'static [&'static str]),
    /// This word, or a number in this range.
    WordOrNumber(&'static str, Bounds),
    /// This word, or a time above zero.
    WordOrSpan(&'static str),
    /// One of these words, a time above zero, or a whole number of at least 1 (`{ acks = 4 }`).
    Interval(&'static [&'static str]),
}

/// Is the finite number whole?
fn is_whole(number: f64) -> bool {
    libm::trunc(number) == number
}

impl Domain {
    /// The least time above zero.
    pub const ABOVE_ZERO: Span = Span::from_picos(1);

    /// How a scenario counts acknowledgements.
    pub const ACKS: &'static str = "acks";

    /// Does the domain contain the value? An error if a quantity has no unit or is no number.
    pub fn contains(&self, value: &Value) -> Result<bool, ParseError> {
        Ok(match (self, value) {
            (Self::Number(bounds) | Self::WordOrNumber(_, bounds), Value::Number(x)) => bounds.contains(*x),
            (Self::Whole(bounds), Value::Number(x)) => bounds.contains(*x) && is_whole(*x),
            (Self::Span { least }, Value::Text(text)) => text.parse::<Span>()? >= *least,
            (Self::Bytes { positive }, Value::Text(text)) => {
                text.parse::<Bytes>()? > Bytes::ZERO || !positive
            }
            (Self::Rate, Value::Text(text)) => text.parse::<Rate>()? > Rate::ZERO,
            (Self::Flag, Value::Flag(_)) => true,
            (Self::Word(words), Value::Text(text)) => words.contains(&&**text),
            (Self::WordOrNumber(word, _), Value::Text(text)) => text == word,
            (Self::WordOrSpan(word), Value::Text(text)) => text == word || is_positive_span(text),
            (Self::Interval(words), Value::Text(text)) => words.contains(&&**text) || is_positive_span(text),
            (Self::Interval(_), Value::Count(key, n)) => {
                key == Self::ACKS && *n >= 1.0 && n.is_finite() && is_whole(*n)
            }
            _ => false,
        })
    }
}

fn is_positive_span(text: &str) -> bool {
    text.parse().is_ok_and(|span: Span| !span.is_zero())
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted =
            |words: &[&str]| words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" or ");
        match *self {
            Self::Number(bounds) => write!(f, "a number {bounds}"),
            Self::Whole(bounds) => write!(f, "a whole number {bounds}"),
            Self::Span { least: Span::ZERO } => write!(f, "a time such as \"50ms\""),
            Self::Span { least } if least == Self::ABOVE_ZERO => {
                write!(f, "a time above zero, such as \"50ms\"")
            }
            Self::Span { least } => write!(f, "a time of at least {least}, such as \"50ms\""),
            Self::Bytes { positive: true } => write!(f, "a size above zero, such as \"75KB\""),
            Self::Bytes { positive: false } => write!(f, "a size such as \"75KB\""),
            Self::Rate => write!(f, "a rate above zero, such as \"155Mbps\""),
            Self::Flag => write!(f, "true or false"),
            Self::Word(words) => write!(f, "{}", quoted(words)),
            Self::WordOrNumber(word, bounds) => write!(f, "\"{word}\" or a number {bounds}"),
            Self::WordOrSpan(word) => write!(f, "\"{word}\" or a time such as \"10ms\""),
            Self::Interval(words) => {
                write!(f, "{}, {{ {} = n }} or a time such as \"10ms\"", quoted(words), Self::ACKS)
            }
        }
    }
}

/// Words of a parameter, each with the values that it gives to other parameters.
pub type Presets = &'static [(&'static str, &'static [(&'static str, Value)])];

/// A parameter of a protocol or a queue, as a table or a page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As the scenario file spells it.
    pub name: &'static str,
    /// As printed; "1" for a pure number.
    pub unit: &'static str,
    /// What values it can take.
    pub domain: Domain,
    /// Its value where the scenario sets none.
    pub default: Value,
    /// Which equation, table or section it comes from.
    pub source: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Its words that set other parameters, with their values.
    pub presets: Presets,
}

impl Parameter {
    /// Returns an error that names the domain if it does not contain the value.
    pub(crate) fn check(&self, value: &Value) -> Result<(), SettingError> {
        match self.domain.contains(value) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let message = format!("expected {}, found {value}", self.domain);
                Err(SettingError {
                    nearest: self.nearest_word(value),
                    ..SettingError::new(self.name, message)
                })
            }
            Err(fault) => Err(SettingError::new(self.name, fault.to_string())),
        }
    }

    /// A percentage as the share that it is, if the values are pure numbers of at most one; otherwise the value as it is.
    pub(crate) fn share(&self, value: Value) -> Value {
        let (Domain::Number(bounds) | Domain::WordOrNumber(_, bounds)) = self.domain else { return value };
        if self.unit != "1" || bounds.high > 1.0 {
            return value;
        }
        let percent = value.as_text().and_then(|text| text.strip_suffix('%')?.trim().parse::<f64>().ok());
        percent.map_or(value, |percent| Value::Number(percent / 100.0))
    }

    /// The word of the domain that is spelt most like the value.
    fn nearest_word(&self, value: &Value) -> Option<String> {
        let (Domain::Word(words), Value::Text(text)) = (self.domain, value) else { return None };
        nearest(text, words.iter().copied()).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{above, from};

    const INFINITE: Value = Value::Number(f64::INFINITY);

    fn assert_domain(domain: Domain, accepted: &[Value], refused: &[Value]) {
        for value in accepted {
            assert_eq!(domain.contains(value), Ok(true), "{domain}: {value}");
        }
        for value in refused {
            assert_ne!(domain.contains(value), Ok(true), "{domain}: {value}");
        }
    }

    fn numbers<const N: usize>(numbers: [f64; N]) -> [Value; N] {
        numbers.map(Value::Number)
    }

    fn texts<const N: usize>(texts: [&'static str; N]) -> [Value; N] {
        texts.map(Value::text)
    }

    #[test]
    fn a_number_lies_within_its_bounds() {
        let closed = Domain::Number(from(0.0).to(10.0));
        assert_domain(closed, &numbers([0.0, 0.3, 10.0]), &numbers([-1e-9, 10.1, f64::NAN]));
        assert_domain(closed, &[], &[Value::text("1"), Value::Flag(true), Value::Count("acks".into(), 1.0)]);
        let open = Domain::Number(above(0.0));
        assert_domain(open, &numbers([1e-9, 1e300]), &[Value::Number(0.0), INFINITE]);
    }

    #[test]
    fn a_whole_number_has_no_fraction() {
        let domain = Domain::Whole(from(1.0).to(64.0));
        assert_domain(domain, &numbers([1.0, 64.0]), &numbers([0.0, 1.5, 65.0, f64::NAN]));
    }

    #[test]
    fn a_quantity_has_a_unit_and_is_zero_only_where_that_is_allowed() {
        let span = |least| Domain::Span { least };
        assert_domain(span(Domain::ABOVE_ZERO), &texts(["1ps", "50ms"]), &texts(["0s", "50", "50KB", "-1s"]));
        assert_domain(span(Span::ZERO), &texts(["0s", "50ms"]), &[Value::Number(50.0)]);
        assert_domain(span(Span::from_micros(1)), &texts(["1us", "1h"]), &texts(["0s", "999ns"]));
        let bytes = |positive| Domain::Bytes { positive };
        assert_domain(bytes(true), &texts(["1B", "75KB"]), &texts(["0B", "75", "1s"]));
        assert_domain(bytes(false), &texts(["0B"]), &[Value::Number(0.0)]);
        assert_domain(Domain::Rate, &texts(["1bps", "155Mbps"]), &texts(["0bps", "155", "1KB"]));
        assert!(Domain::Rate.contains(&Value::text("155")).is_err(), "the error names the missing unit");
    }

    #[test]
    fn a_flag_is_true_or_false_and_no_word() {
        assert_domain(Domain::Flag, &[Value::Flag(true), Value::Flag(false)], &texts(["true", "yes"]));
    }

    #[test]
    fn a_word_is_one_of_the_list() {
        let domain = Domain::Word(&["window", "rate"]);
        assert_domain(domain, &texts(["window", "rate"]), &texts(["Window", "pace", ""]));
        assert_domain(domain, &[], &[Value::Number(1.0), Value::Flag(true)]);
    }

    #[test]
    fn a_word_can_stand_for_a_number_or_a_time() {
        let number = Domain::WordOrNumber("rfc9002", from(1.0).to(100.0));
        assert_domain(number, &[Value::text("rfc9002"), Value::Number(1.0)], &texts(["rfc6928", "1"]));
        assert_domain(number, &[], &[Value::Number(0.0), INFINITE]);
        let span = Domain::WordOrSpan("mean-rtt");
        assert_domain(span, &texts(["mean-rtt", "10ms"]), &texts(["base-rtt", "0s", "10"]));
        assert_domain(span, &[], &[Value::Count("acks".into(), 4.0)]);
    }

    #[test]
    fn bounds_without_an_end_do_not_name_it() {
        let text = |low, high, exclusive| Domain::Whole(Bounds { low, high, exclusive }).to_string();
        let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(text(1.0, 2.0, false), "a whole number from 1 to 2");
        assert_eq!(text(1.0, most, true), "a whole number above 1");
        assert_eq!(text(least, 2.0, false), "a whole number of at most 2");
        assert_eq!(text(least, most, false), "a whole number of any size");
    }

    #[test]
    fn an_interval_is_a_word_a_time_or_a_number_of_acknowledgements() {
        let domain = Domain::Interval(&["base-rtt", "round"]);
        let acks = |n| Value::Count("acks".into(), n);
        assert_domain(domain, &texts(["base-rtt", "round", "10ms"]), &texts(["mean-rtt", "0s", "10"]));
        assert_domain(domain, &[acks(1.0), acks(4.0)], &[acks(0.0), acks(1.5), acks(f64::INFINITY)]);
        assert_domain(domain, &[], &[Value::Count("packets".into(), 4.0), Value::Number(4.0)]);
    }
}
