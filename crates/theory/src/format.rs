//! Formats of rates in sentences.

use millpond_units::format::at_most_decimals;

/// A rate in bit/s, formatted in Mbit/s with up to six decimals: `9.6 Mbit/s`.
pub(crate) fn mbit_per_s(bps: f64) -> String {
    format!("{} Mbit/s", at_most_decimals(bps / 1e6, 6))
}
