//! Points of time in rows and stages.

use millpond_units::{Span, Time};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::fmt;

/// A point of time in seconds, or the number of a step of a recurrence.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct TimeOrStep(pub f64);

impl<'de> Deserialize<'de> for TimeOrStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let time = |text: &str| match text.parse::<Span>() {
            Ok(span) => Ok(Self((Time::ZERO + span).secs())),
            Err(fault) => Err(fault.to_string()),
        };
        deserializer.deserialize_any(NumberOr("a time such as \"2s\", or a step", time, Self))
    }
}

/// Deserializes a number or a text: the expected form, and a constructor for each.
pub(super) struct NumberOr<T>(
    pub(super) &'static str,
    pub(super) fn(&str) -> Result<T, String>,
    pub(super) fn(f64) -> T,
);

impl<T> Visitor<'_> for NumberOr<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
    fn visit_f64<E: de::Error>(self, x: f64) -> Result<T, E> {
        Ok((self.2)(x))
    }
    fn visit_i64<E: de::Error>(self, x: i64) -> Result<T, E> {
        Ok((self.2)(x as f64))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.1)(text).map_err(E::custom)
    }
}
