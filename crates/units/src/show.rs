//! Prints a quantity such that parsing the text gives the same quantity.

use crate::{Bytes, PICOS, Rate, Span, Time};
use alloc::format;
use alloc::string::String;
use core::fmt;

/// Prints `value` in the largest unit in which it needs at most three decimals, else in the base unit.
fn show(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    for &(size, name) in units {
        let thousandths = u128::from(value) * 1000;
        if value >= size && thousandths.is_multiple_of(u128::from(size)) {
            let (whole, rest) = (value / size, (thousandths / u128::from(size)) % 1000);
            let decimals = format!("{rest:03}");
            let decimals = decimals.trim_end_matches('0');
            let text = if rest == 0 { format!("{whole}{name}") } else { format!("{whole}.{decimals}{name}") };
            return f.pad(&text);
        }
    }
    let base = units.last().map_or("", |&(_, name)| name);
    f.pad(&format!("{value}{base}"))
}

const SPANS: &[(u64, &str)] =
    &[(PICOS, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];

/// The units of [`Readable`], from the largest, each with its size.
const READABLE_SPANS: &[(u64, &str)] = &[
    (3600 * PICOS, "h"),
    (60 * PICOS, "min"),
    (PICOS, "s"),
    (1_000_000_000, "ms"),
    (1_000_000, "us"),
    (1_000, "ns"),
    (1, "ps"),
];
const READABLE_SIZES: &[(u64, &str)] =
    &[(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB"), (1, "B")];
const READABLE_RATES: &[(u64, &str)] =
    &[(1_000_000_000_000, "Tbps"), (1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1_000, "kbps"), (1, "bps")];

/// Which way [`Readable`] rounds to five significant digits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoundingDirection {
    Nearest,
    Up,
    Down,
}

/// A quantity for a message: five significant digits in the largest unit of which it has one at least; hours and minutes
/// only for a whole number of them. It is exact if it has no more digits. Unlike `Display`, it is not meant to be parsed to the same value.
pub trait Readable {
    /// Rounded to the nearest.
    fn readable(self) -> String;
    /// Rounded up: what a lower limit allows is within the limit.
    fn readable_minimum(self) -> String;
    /// Rounded down: what an upper limit allows is within the limit.
    fn readable_maximum(self) -> String;
}

fn readable(value: u64, units: &[(u64, &str)], direction: RoundingDirection) -> String {
    // 100 s are not 1.6667 min.
    let suits = |(size, name): &&(u64, &str)| {
        value >= *size && (!matches!(*name, "h" | "min") || value.is_multiple_of(*size))
    };
    let Some(&(size, name)) = units.iter().find(suits).or(units.last()) else {
        return format!("{value}");
    };
    if value == 0 {
        return format!("0{}", units.last().map_or("", |&(_, name)| if name == "ps" { "s" } else { name }));
    }
    let whole_digits = (value / size).checked_ilog10().unwrap_or(0) + 1;
    let decimals = 5_u32.saturating_sub(whole_digits);
    let scale = 10_u128.pow(decimals);
    let (scaled, size) = (u128::from(value) * scale, u128::from(size));
    let rounded = match direction {
        RoundingDirection::Nearest => (scaled + size / 2) / size,
        RoundingDirection::Up => scaled.div_ceil(size),
        RoundingDirection::Down => scaled / size,
    };
    let (whole, rest) = (rounded / scale, rounded % scale);
    if rest == 0 {
        return format!("{whole}{name}");
    }
    let fraction = format!("{rest:0width$}", width = decimals as usize);
    format!("{whole}.{}{name}", fraction.trim_end_matches('0'))
}

/// Implements [`Readable`] for a quantity, from its value in the smallest unit.
macro_rules! readable {
    ($type:ident, $units:ident, $value:expr) => {
        impl Readable for $type {
            fn readable(self) -> String {
                readable($value(self), $units, RoundingDirection::Nearest)
            }
            fn readable_minimum(self) -> String {
                readable($value(self), $units, RoundingDirection::Up)
            }
            fn readable_maximum(self) -> String {
                readable($value(self), $units, RoundingDirection::Down)
            }
        }
    };
}
readable!(Span, READABLE_SPANS, Span::picos);
readable!(Time, READABLE_SPANS, Time::picos);
readable!(Bytes, READABLE_SIZES, Bytes::get);
readable!(Rate, READABLE_RATES, Rate::bps);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() { f.pad("0s") } else { show(f, self.picos(), SPANS) }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.since(Self::ZERO).fmt(f)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.get(), &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB"), (1, "B")])
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.bps(), &[(1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1_000, "kbps"), (1, "bps")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_quantities_parse_to_the_same_values() {
        for picos in [0, 1, 999, 1_000, 1_500, 1_234_567, PICOS, PICOS + 1, 61 * PICOS, u64::MAX] {
            let span = Span::from_picos(picos);
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
        for bps in [0, 1, 1_500, 155_000_000, 155_000_001, 2_500_000_000, u64::MAX] {
            let rate = Rate::from_bps(bps);
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
        assert_eq!(Span::from_millis(50).to_string(), "50ms");
        assert_eq!(Span::from_micros(1500).to_string(), "1.5ms");
        assert_eq!(Rate::from_mbps(155.0).to_string(), "155Mbps");
        assert_eq!(Bytes::new(75_000).to_string(), "75KB");
    }
    #[test]
    fn messages_have_five_digits_and_limits_are_rounded_inwards() {
        let picos = Span::from_picos;
        assert_eq!(picos(12_386_838_495).readable(), "12.387ms");
        assert_eq!(picos(999_999).readable(), "1000ns");
        assert_eq!(picos(0).readable(), "0s");
        assert_eq!(Span::from_millis(213 * 86_400_000).readable(), "5112h");
        assert_eq!(Span::from_secs(120.0).readable(), "2min");
        assert_eq!(Span::from_secs(100.0).readable(), "100s");
        assert_eq!(Span::from_secs(5400.0).readable(), "90min");
        assert_eq!(Span::from_secs(3661.5).readable(), "3661.5s");
        assert_eq!(Rate::from_mbps(1e8).readable(), "100Tbps");
        assert_eq!(Bytes::new(65_535).readable_maximum(), "65.535KB");
        assert_eq!(Bytes::new(123_456_789).readable_maximum(), "123.45MB");
        assert_eq!(picos(1_000_001).readable_minimum(), "1.0001us");
        assert_eq!(Rate::from_mbps(155.0).readable_minimum(), "155Mbps");
    }
}
