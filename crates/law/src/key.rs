//! Parameters as typed constants: a key declares a parameter, and [`Settings::get`](crate::Settings::get) reads it.
//!
//! ```
//! use millpond_law::key::{Key, above, number, word};
//!
//! millpond_law::words! {
//!     /// What the law computes.
//!     pub enum Control { Window = "window", Rate = "rate" }
//! }
//!
//! const ALPHA: Key<f64> = number("alpha", "1", 0.3, above(0.0).to(1.0))
//!     .source("Eq. (5)")
//!     .meaning("share of the spare capacity that is allocated in a round-trip time");
//! const CONTROL: Key<Control> = word("control", Control::Window)
//!     .source("section 2")
//!     .meaning("the law computes a window, or a rate");
//!
//! let settings = millpond_law::Settings::check(&[&ALPHA, &CONTROL], []).unwrap();
//! assert_eq!(settings.get(ALPHA), 0.3);
//! assert_eq!(settings.get(CONTROL), Control::Window);
//! ```

use crate::{Bounds, Domain, Parameter, Presets, SettingError, Value};
use alloc::string::String;
use alloc::string::ToString;
use core::fmt::Debug;
use millpond_units::{Bytes, Rate, Span};

/// A parameter whose values have the type `T`.
#[derive(Clone, Copy, Debug)]
pub struct Key<T> {
    pub(crate) name: &'static str,
    unit: &'static str,
    domain: Domain,
    pub(crate) default: T,
    source: &'static str,
    meaning: &'static str,
    presets: Presets,
}

impl<T: Copy> Key<T> {
    const fn new(name: &'static str, unit: &'static str, domain: Domain, default: T) -> Self {
        Self { name, unit, domain, default, source: "", meaning: "", presets: &[] }
    }

    /// The same parameter with another default.
    pub const fn default(self, default: T) -> Self {
        Self { default, ..self }
    }

    /// States the equation, table or section that the parameter and its default come from.
    pub const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// States what the parameter does.
    pub const fn meaning(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// Lets words of this parameter set other parameters. What a scenario writes itself overrides them.
    pub const fn presets(self, presets: Presets) -> Self {
        Self { presets, ..self }
    }

    /// An error about the value of this parameter.
    pub fn error(&self, message: impl Into<String>) -> SettingError {
        SettingError::new(self.name, message)
    }
}

/// A key whose type of values is erased.
pub trait AnyKey: Debug + Sync {
    /// The parameter that the key declares.
    fn parameter(&self) -> Parameter;
}

/// The parameters of a protocol or a queue, in the order in which they are listed.
pub type Keys = &'static [&'static dyn AnyKey];

impl<T: Setting> AnyKey for Key<T> {
    fn parameter(&self) -> Parameter {
        let Self { name, unit, domain, default, source, meaning, presets } = *self;
        Parameter { name, unit, domain, default: default.to_value(domain), source, meaning, presets }
    }
}

/// A number of this unit, "1" for a pure number.
pub const fn number(name: &'static str, unit: &'static str, default: f64, bounds: Bounds) -> Key<f64> {
    Key::new(name, unit, Domain::Number(bounds), default)
}

/// A whole number of this unit.
pub const fn whole(name: &'static str, unit: &'static str, default: u64, bounds: Bounds) -> Key<u64> {
    Key::new(name, unit, Domain::Whole(bounds), default)
}

/// A number of this unit, or by default `word`, which reads as none.
pub const fn number_or(
    word: &'static str,
    name: &'static str,
    unit: &'static str,
    bounds: Bounds,
) -> Key<Option<f64>> {
    Key::new(name, unit, Domain::WordOrNumber(word, bounds), None)
}

/// A time above zero.
pub const fn span(name: &'static str, default: Span) -> Key<Span> {
    span_from(name, default, Domain::ABOVE_ZERO)
}

/// A time of at least `least`.
pub const fn span_from(name: &'static str, default: Span, least: Span) -> Key<Span> {
    Key::new(name, "s", Domain::Span { least }, default)
}

/// A time that may be zero.
pub const fn span_or_zero(name: &'static str, default: Span) -> Key<Span> {
    span_from(name, default, Span::ZERO)
}

/// A time above zero, or `word`, which reads as none.
pub const fn span_or(word: &'static str, name: &'static str, default: Option<Span>) -> Key<Option<Span>> {
    Key::new(name, "", Domain::WordOrSpan(word), default)
}

/// A size above zero.
pub const fn bytes(name: &'static str, default: Bytes) -> Key<Bytes> {
    Key::new(name, "B", Domain::Bytes { positive: true }, default)
}

/// A size that may be zero.
pub const fn bytes_or_zero(name: &'static str, default: Bytes) -> Key<Bytes> {
    Key::new(name, "B", Domain::Bytes { positive: false }, default)
}

/// A rate above zero.
pub const fn rate(name: &'static str, default: Rate) -> Key<Rate> {
    Key::new(name, "bit/s", Domain::Rate, default)
}

/// True or false.
pub const fn flag(name: &'static str, default: bool) -> Key<bool> {
    Key::new(name, "", Domain::Flag, default)
}

/// One of the words of `W`.
pub const fn word<W: Word>(name: &'static str, default: W) -> Key<W> {
    Key::new(name, "", Domain::Word(W::WORDS), default)
}

/// The length of a recurring interval: one of the words of `W`, a number of acknowledgements, or a time.
pub const fn interval<W: Word>(name: &'static str, default: Interval<W>) -> Key<Interval<W>> {
    Key::new(name, "", Domain::Interval(W::WORDS), default)
}

/// Numbers of at least `low`.
pub const fn from(low: f64) -> Bounds {
    Bounds { low, high: f64::INFINITY, exclusive: false }
}

/// Numbers above `low`.
pub const fn above(low: f64) -> Bounds {
    Bounds { low, high: f64::INFINITY, exclusive: true }
}

/// An enum whose values scenarios write as words; [`words!`](crate::words) declares one.
pub trait Word: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// Every value.
    const ALL: &'static [Self];
    /// The word of each value of [`Word::ALL`].
    const WORDS: &'static [&'static str];
}

/// Declares enums and the words by which scenarios name their values.
#[macro_export]
macro_rules! words {
    ($($(#[$about:meta])* $visibility:vis enum $name:ident {
        $($(#[$about_value:meta])* $value:ident = $word:literal),+ $(,)?
    })+) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name { $($(#[$about_value])* #[doc = concat!("`", $word, "`")] $value),+ }

        impl $crate::key::Word for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];
            const WORDS: &'static [&'static str] = &[$($word),+];
        }
    )+ };
}

/// The length of a recurring interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval<W> {
    /// As the word says.
    Word(W),
    /// A number of acknowledgements, at least one.
    Acks(u64),
    /// A time above zero.
    Span(Span),
}

/// A type that values of parameters can have.
pub trait Setting: Copy + Debug + Send + Sync + 'static {
    /// The typed value of a setting; none if the setting has another type.
    fn from_value(value: &Value) -> Option<Self>;

    /// The value as a scenario would write it for a parameter with this domain.
    fn to_value(self, domain: Domain) -> Value;
}

impl Setting for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Number(number) = value { Some(*number) } else { None }
    }

    fn to_value(self, _: Domain) -> Value {
        Value::Number(self)
    }
}

impl Setting for u64 {
    fn from_value(value: &Value) -> Option<Self> {
        f64::from_value(value).map(|number| number as Self)
    }

    fn to_value(self, _: Domain) -> Value {
        Value::Number(self as f64)
    }
}

impl Setting for bool {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Flag(flag) = value { Some(*flag) } else { None }
    }

    fn to_value(self, _: Domain) -> Value {
        Value::Flag(self)
    }
}

/// A quantity is written as a text with its unit.
macro_rules! quantity {
    ($($type:ident),+) => { $(
        impl Setting for $type {
            fn from_value(value: &Value) -> Option<Self> {
                value.as_text()?.parse().ok()
            }

            fn to_value(self, _: Domain) -> Value {
                Value::Text(self.to_string().into())
            }
        }
    )+ };
}
quantity!(Span, Bytes, Rate);

/// None stands for the word of the domain.
impl<T: Setting> Setting for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some).or_else(|| value.as_text().map(|_| None))
    }

    fn to_value(self, domain: Domain) -> Value {
        match (self, domain) {
            (Some(value), _) => value.to_value(domain),
            (None, Domain::WordOrNumber(word, _) | Domain::WordOrSpan(word)) => Value::text(word),
            (None, _) => Value::text(""),
        }
    }
}

impl<W: Word> Setting for W {
    fn from_value(value: &Value) -> Option<Self> {
        let text = value.as_text()?;
        W::ALL.iter().zip(W::WORDS).find(|(_, word)| **word == text).map(|(value, _)| *value)
    }

    fn to_value(self, _: Domain) -> Value {
        let found = W::ALL.iter().zip(W::WORDS).find(|(value, _)| **value == self);
        Value::text(found.map_or("", |(_, word)| word))
    }
}

impl<W: Word> Setting for Interval<W> {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Count(_, acks) = value {
            return Some(Self::Acks(*acks as u64));
        }
        W::from_value(value).map(Self::Word).or_else(|| Span::from_value(value).map(Self::Span))
    }

    fn to_value(self, domain: Domain) -> Value {
        match self {
            Self::Word(word) => word.to_value(domain),
            Self::Acks(acks) => Value::Count(Domain::ACKS.into(), acks as f64),
            Self::Span(span) => span.to_value(domain),
        }
    }
}
