//! Reading `"50ms"`, `"155Mbps"`, `"75KB"`: decimal digits are taken exactly, never through floating point.

use crate::{Bytes, PICOS, Rate, Span, Time};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// The error for a text that is not a quantity of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The text as given.
    pub text: String,
    /// The expected form, with an example.
    pub expected: &'static str,
    /// What is wrong with the text.
    pub fault: String,
    /// The accepted units.
    units: &'static [UnitSpelling],
    /// If only the unit is missing: the units that are usual.
    usual: &'static [&'static str],
}

impl ParseError {
    /// The spellings of the accepted units.
    pub fn units(&self) -> impl Iterator<Item = &'static str> {
        self.units.iter().map(|&(name, _)| name)
    }

    /// The number with each of the usual units, if only the unit is missing.
    pub fn with_units(&self) -> impl Iterator<Item = String> {
        self.usual.iter().map(|unit| format!("{}{unit}", self.text.trim()))
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in \"{}\": expected {}", self.fault, self.text, self.expected)?;
        let quoted: Vec<String> = self.with_units().map(|text| format!("\"{text}\"")).collect();
        if quoted.is_empty() { Ok(()) } else { write!(f, "; write {}", quoted.join(" or ")) }
    }
}

impl core::error::Error for ParseError {}

/// The spelling of a unit, and its size in base units.
type UnitSpelling = (&'static str, u128);

const SPANS: &[UnitSpelling] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", PICOS as u128),
    ("min", 60 * PICOS as u128),
    ("h", 3600 * PICOS as u128),
];
const SIZES: &[UnitSpelling] = &[
    ("B", 1),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const RATES: &[UnitSpelling] = &[
    ("bps", 1),
    ("kbps", 1_000),
    ("Kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
];

const SPAN: &str = "a time such as \"50ms\" (ps, ns, us, ms, s, min, h)";
const SIZE: &str = "a size such as \"75KB\" (B, KB, MB, GB = powers of 1000; KiB, MiB, GiB)";
const RATE: &str = "a rate such as \"155Mbps\" (bps, kbps, Mbps, Gbps, Tbps: bits per second)";

/// A kind of quantity.
struct Kind {
    units: &'static [UnitSpelling],
    /// The units that are offered for a number without one.
    usual: &'static [&'static str],
    expected: &'static str,
}

const TIME_KIND: Kind = Kind { units: SPANS, usual: &["ms", "s"], expected: SPAN };
const SIZE_KIND: Kind = Kind { units: SIZES, usual: &["B", "KB", "MB"], expected: SIZE };
const RATE_KIND: Kind = Kind { units: RATES, usual: &["kbps", "Mbps", "Gbps"], expected: RATE };

/// Whether a unit as written is the exponent of a number: `e30bps`.
fn is_exponent(unit: &str) -> bool {
    let digits = unit.strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['+', '-']));
    digits.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `digits[.digits] unit`, exactly; halves of the base unit are rounded up.
fn quantity(text: &str, kind: &'static Kind) -> Result<u64, ParseError> {
    let Kind { units, usual, expected } = *kind;
    let fault = |fault: String| ParseError { text: text.to_owned(), expected, fault, units, usual: &[] };
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(fault("a negative amount".into()));
    }
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
    if number.is_empty() {
        return Err(fault("no number".into()));
    }
    let Some(&(_, base)) = units.iter().find(|(name, _)| *name == unit) else {
        if unit.is_empty() {
            return Err(ParseError { usual, ..fault("no unit".into()) });
        }
        if is_exponent(unit) {
            return Err(fault("a number with an exponent; write its digits".into()));
        }
        return Err(fault(format!("unknown unit \"{unit}\"")));
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err(fault("not a number".into()));
    }
    let too_large = || fault(format!("too large a number, at most {}{unit}", u128::from(u64::MAX) / base));
    if fraction.len() > 18 || whole.len() > 20 {
        return Err(fault("too many digits".into()));
    }
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| too_large())?;
    let scale = 10_u128.pow(fraction.len() as u32);
    let scaled = digits.checked_mul(base).ok_or_else(too_large)?;
    u64::try_from((scaled + scale / 2) / scale).map_err(|_| too_large())
}

impl FromStr for Span {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity(text, &TIME_KIND).map(Self::from_picos)
    }
}

impl FromStr for Time {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity(text, &TIME_KIND).map(Self::from_picos)
    }
}

impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity(text, &SIZE_KIND).map(Self::new)
    }
}

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity(text, &RATE_KIND).map(Self::from_bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_fractions_are_exact() {
        assert_eq!("0.1s".parse(), Ok(Span::from_millis(100)));
        assert_eq!("1.000000000001s".parse(), Ok(Span::from_picos(PICOS + 1)));
        assert_eq!("0.5ps".parse(), Ok(Span::from_picos(1)));
        assert_eq!("2.5 Gbps".parse(), Ok(Rate::from_bps(2_500_000_000)));
        assert_eq!("75KB".parse(), Ok(Bytes::new(75_000)));
        assert_eq!("1.5KiB".parse(), Ok(Bytes::new(1536)));
        assert_eq!("2min".parse(), Ok(Time::from_secs(120.0)));
    }

    #[test]
    fn every_fault_has_a_message_of_its_own() {
        for (text, fault) in [
            ("50", "no unit"),
            ("ms", "no number"),
            ("-5ms", "a negative amount"),
            ("5 lightyears", "unknown unit \"lightyears\""),
            ("1.2.3s", "not a number"),
            (".s", "not a number"),
            // 2^64 picoseconds are 5124.1 hours.
            ("99999999999999999999h", "too large a number, at most 5124h"),
            ("0.1234567890123456789s", "too many digits"),
            ("", "no number"),
            ("µ", "no number"),
            ("1é", "unknown unit \"é\""),
            ("1e30s", "a number with an exponent; write its digits"),
        ] {
            assert_eq!(text.parse::<Span>().unwrap_err().fault, fault, "{text}");
        }
        let offered = "100".parse::<Rate>().unwrap_err().to_string();
        assert!(offered.ends_with("; write \"100kbps\" or \"100Mbps\" or \"100Gbps\""), "{offered}");
        assert!("50Mb/s".parse::<Rate>().unwrap_err().to_string().contains("155Mbps"));
    }
}
