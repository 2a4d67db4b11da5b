//! Values of scenario keys as numbers with units: `10Mbps`, `5ms`, `2bdp`, `100`.

use millpond_units::format::rounded;
use millpond_units::{Bytes, Rate, Span};

/// A number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NumberWithUnit {
    pub(crate) number: f64,
    pub(crate) unit: Unit,
}

/// The unit of a value, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    /// A whole number without a unit.
    Count,
    /// Another number without a unit.
    One,
    /// A rate, in bit/s.
    BitPerSecond,
    /// A time, in seconds.
    Second,
    /// A size, in bytes.
    Byte,
    /// Any other, as written: `bdp`, `packets`, `%`.
    Other(String),
}

impl Unit {
    /// The name of the unit in tables; empty for plain numbers.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Count | Self::One => "",
            Self::BitPerSecond => "bit/s",
            Self::Second => "s",
            Self::Byte => "B",
            Self::Other(name) => name,
        }
    }
}

impl NumberWithUnit {
    /// The quantity that a text states; none for other texts.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(rate) = text.parse::<Rate>() {
            return Some(Self { number: rate.bps() as f64, unit: Unit::BitPerSecond });
        }
        if let Ok(span) = text.parse::<Span>() {
            return Some(Self { number: span.secs(), unit: Unit::Second });
        }
        if let Ok(bytes) = text.parse::<Bytes>() {
            return Some(Self { number: bytes.as_f64(), unit: Unit::Byte });
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c)).unwrap_or(text.len());
        if let Ok(number) = text.parse::<f64>() {
            let unit = if end == text.len() && !text.contains('.') { Unit::Count } else { Unit::One };
            return number.is_finite().then_some(Self { number, unit });
        }
        let number = text[..end].parse::<f64>().ok()?;
        let unit = text[end..].trim();
        let is_unit = unit == "%" || unit.chars().all(|c| c.is_ascii_alphabetic());
        (number.is_finite() && is_unit).then(|| Self { number, unit: Unit::Other(unit.to_owned()) })
    }

    /// The text that a scenario reads, with at most four significant digits.
    pub(crate) fn text(&self) -> String {
        let number = rounded(self.number, 4);
        match &self.unit {
            Unit::Count => format!("{:.0}", self.number),
            Unit::One => format!("{number:?}"),
            Unit::BitPerSecond => Rate::from_bps_f64(number).to_string(),
            Unit::Second => Span::from_secs(number).to_string(),
            Unit::Byte => Bytes::from_f64(number).to_string(),
            Unit::Other(unit) => format!("{number}{unit}"),
        }
    }
}

/// The number that a value states, in base units, and its unit: `bit/s`, `s`, `B`, as written for others, or empty. None for
/// a text.
#[must_use]
pub fn number_with_unit(value: &str) -> Option<(f64, String)> {
    NumberWithUnit::parse(value).map(|quantity| (quantity.number, quantity.unit.name().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_units_are_read_and_written() {
        for (text, number, unit) in [
            ("10Mbps", 1e7, "bit/s"),
            ("5ms", 0.005, "s"),
            ("75KB", 75_000.0, "B"),
            ("100", 100.0, ""),
            ("0.5", 0.5, ""),
            ("-2.0", -2.0, ""),
            ("2bdp", 2.0, "bdp"),
            ("5packets", 5.0, "packets"),
            ("10%", 10.0, "%"),
        ] {
            let quantity = NumberWithUnit::parse(text).unwrap();
            assert_eq!((quantity.number, quantity.unit.name()), (number, unit), "{text}");
            assert_eq!(quantity.text(), text);
        }
        for text in ["cubic", "", "[1, 2]", "\"A\"", "2 bdp more", "nan", "inf"] {
            assert_eq!(NumberWithUnit::parse(text), None, "{text}");
        }
    }

    #[test]
    fn four_digits_are_kept() {
        let rate = NumberWithUnit { number: 31_622_776.601_683_79, unit: Unit::BitPerSecond };
        assert_eq!(rate.text(), "31.62Mbps");
        let time = NumberWithUnit { number: 0.012_345_678, unit: Unit::Second };
        assert_eq!(time.text(), "12.35ms");
    }
}
