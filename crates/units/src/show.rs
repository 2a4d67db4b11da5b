//! Prints a quantity such that parsing the text gives the same quantity.

use crate::{Bytes, PICOS, Rate, Span, Time};
use alloc::format;
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
}
