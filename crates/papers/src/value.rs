//! The values that rows compare with: numbers, ranges, and the order of two rows.

use millpond_units::evaluate;
use millpond_units::format::at_most_five_digits;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The least and the greatest value, both included.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(expecting = "a range [least, greatest]")]
pub struct AcceptedRange(pub f64, pub f64);

/// A number or a range that a source states, in the row's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StatedValue {
    /// A number.
    Number(f64),
    /// A range, both ends included.
    Range(AcceptedRange),
}

/// The paper's value of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum PaperValue {
    /// A number or a range.
    Stated(StatedValue),
    /// An order: the measured value is compared with that of another row.
    Order(Order),
}

/// The order of the measured values of two rows, in every seed; without `than`, of a quotient and one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// How the value of this row is ordered to the other one.
    pub order: Relation,
    /// The `name` of the other row. Without it the row's value is a quotient, which is compared with one.
    pub than: Option<String>,
    /// The least factor between both values.
    #[serde(default = "unity")]
    pub by: f64,
}

/// A relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Relation {
    /// Greater.
    #[serde(rename = ">")]
    Greater,
    /// Less.
    #[serde(rename = "<")]
    Less,
    /// At least as great.
    #[serde(rename = ">=")]
    AtLeast,
    /// At most as great.
    #[serde(rename = "<=")]
    AtMost,
}

fn unity() -> f64 {
    1.0
}

impl AcceptedRange {
    /// Whether the value is within the bounds.
    pub fn contains(self, value: f64) -> bool {
        self.0 <= value && value <= self.1
    }

    /// Whether both bounds are numbers, the least first.
    pub(super) fn is_ordered(self) -> bool {
        self.0 <= self.1
    }

    /// Whether all of a range is within the bounds.
    pub(super) fn encloses(self, inner: Self) -> bool {
        self.contains(inner.0) && self.contains(inner.1)
    }

    /// Whether both ranges have a common value.
    pub(super) fn meets(self, other: Self) -> bool {
        self.0 <= other.1 && other.0 <= self.1
    }

    /// Whether the bounds are wide: infinite, or further apart than a factor of two. AcceptedRange with different signs, or
    /// one of which is zero, are wide; equal ones are not.
    pub(super) fn are_wide(self) -> bool {
        let (near, far) = (self.0.abs().min(self.1.abs()), self.0.abs().max(self.1.abs()));
        let one_sign = self.0 * self.1 > 0.0;
        self.0 != self.1 && !(one_sign && far.is_finite() && far <= 2.0 * near * (1.0 + 1e-9))
    }
}

impl StatedValue {
    /// The value as a range; both ends of a number are the number.
    pub(super) fn bounds(self) -> AcceptedRange {
        match self {
            Self::Number(value) => AcceptedRange(value, value),
            Self::Range(bounds) => bounds,
        }
    }
}

impl Order {
    /// Whether `value` and `other` have this order.
    pub(super) fn holds(&self, value: f64, other: f64) -> bool {
        match self.order {
            Relation::Greater => value > other * self.by,
            Relation::AtLeast => value >= other * self.by,
            Relation::Less => value * self.by < other,
            Relation::AtMost => value * self.by <= other,
        }
    }
}

impl fmt::Display for AcceptedRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = [self.0, self.1].map(at_most_five_digits);
        match (self.0.is_finite(), self.1.is_finite()) {
            (true, false) => write!(f, "at least {low}"),
            (false, _) => write!(f, "at most {high}"),
            _ if self.0 == self.1 => write!(f, "{low}"),
            _ => write!(f, "{low} to {high}"),
        }
    }
}

impl fmt::Display for StatedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => f.write_str(&at_most_five_digits(*value)),
            Self::Range(bounds) => bounds.fmt(f),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Greater => ">",
            Self::Less => "<",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
        })
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factor = if self.by == 1.0 {
            String::new()
        } else {
            format!(" by a factor of {}", at_most_five_digits(self.by))
        };
        write!(f, "{} {}{factor}", self.order, self.than.as_deref().unwrap_or("1"))
    }
}

impl fmt::Display for PaperValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stated(value) => value.fmt(f),
            Self::Order(order) => order.fmt(f),
        }
    }
}

/// A number, or the value of an expression.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum NumberOrExpression {
    Number(f64),
    #[serde(deserialize_with = "expression")]
    Expression(f64),
}

fn expression<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let text = String::deserialize(deserializer)?;
    evaluate(&text).map_err(de::Error::custom)
}

/// Deserializes the value of a row.
struct PaperVisitor {
    /// Whether an order is allowed.
    order: bool,
}

impl<'de> Visitor<'de> for PaperVisitor {
    type Value = PaperValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a range [low, high], or an expression such as \"2 * ln(2)\"")?;
        if self.order { f.write_str(", or { order = \">\", than = \"NAME\" }") } else { Ok(()) }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<PaperValue, E> {
        Ok(PaperValue::Stated(StatedValue::Number(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<PaperValue, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PaperValue, E> {
        let value = evaluate(text);
        self.visit_f64(value.map_err(|fault| E::custom(format!("{fault}; words belong in `claim`")))?)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<PaperValue, A::Error> {
        let mut next = || items.next_element::<NumberOrExpression>();
        match (next()?, next()?, next()?) {
            (Some(low), Some(high), None) => {
                let [low, high] = [low, high].map(|end| match end {
                    NumberOrExpression::Number(value) | NumberOrExpression::Expression(value) => value,
                });
                if low >= high {
                    return Err(de::Error::custom("a range is [low, high]"));
                }
                Ok(PaperValue::Stated(StatedValue::Range(AcceptedRange(low, high))))
            }
            _ => Err(de::Error::custom("a range is [low, high]")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<PaperValue, A::Error> {
        if !self.order {
            return Err(de::Error::custom("an order belongs in `paper`"));
        }
        let order = Order::deserialize(MapAccessDeserializer::new(fields))?;
        if order.by >= 1.0 {
            Ok(PaperValue::Order(order))
        } else {
            Err(de::Error::custom("`by` is at least 1"))
        }
    }
}

impl<'de> Deserialize<'de> for PaperValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PaperVisitor { order: true })
    }
}

impl<'de> Deserialize<'de> for StatedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(PaperVisitor { order: false })? {
            PaperValue::Stated(value) => Ok(value),
            PaperValue::Order(_) => Err(de::Error::custom("an order belongs in `paper`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_compares_two_values_with_a_factor() {
        let order = |order, by| Order { order, than: Some("x".into()), by };
        assert!(
            order(Relation::Greater, 1.5).holds(3.1, 2.0) && !order(Relation::Greater, 1.5).holds(3.0, 2.0)
        );
        assert!(order(Relation::Less, 2.0).holds(0.9, 2.0) && !order(Relation::Less, 2.0).holds(1.0, 2.0));
        assert!(
            order(Relation::AtMost, 2.0).holds(1.0, 2.0) && order(Relation::AtLeast, 1.0).holds(1.0, 1.0)
        );
        assert!(!order(Relation::AtLeast, 1.0).holds(f64::NAN, 0.0));
    }

    #[test]
    fn bounds_are_wide_beyond_a_factor_of_two_and_at_zero() {
        for (low, high, wide) in [
            (1.0, 2.0, false),
            (0.1, 0.2, false),
            (1.0, 2.1, true),
            (-2.0, -1.0, false),
            (-2.1, -1.0, true),
            (0.0, 1e-9, true),
            (0.0, 0.0, false),
            (-1.0, 1.0, true),
            (1.0, f64::INFINITY, true),
            (f64::NEG_INFINITY, -1.0, true),
        ] {
            assert_eq!(AcceptedRange(low, high).are_wide(), wide, "{low} to {high}");
        }
    }
}
