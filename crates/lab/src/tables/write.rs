//! How numbers and tables look on a terminal.

use comfy_table::{CellAlignment, Table, presets};

const MOST_DECIMALS: f64 = 5.0;

/// A table with these column heads, all but the first column flush right.
pub(super) fn table(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED.with_rounded_corners()).set_header(heads.iter().copied());
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A number to three significant digits, more before the point if it needs them: 0.00123, 1.23, 12.3, 123, 1234.
pub(super) fn number(x: f64) -> String {
    if !x.is_finite() {
        return "-".to_owned();
    }
    let decimals = (2.0 - magnitude(x)).clamp(0.0, MOST_DECIMALS) as usize;
    format!("{x:.decimals$}")
}

/// The power of ten of the first digit shown: 9.996 is shown as 10.0. What would be shown as zero counts as zero.
fn magnitude(x: f64) -> f64 {
    let shown: f64 = format!("{:.2e}", x.abs()).parse().unwrap_or(x.abs());
    if shown < 10_f64.powf(-MOST_DECIMALS) { 0.0 } else { shown.log10().floor() }
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", 100.0 * share) } else { "-".to_owned() }
}

/// Bits per second in megabits per second.
pub(super) fn megabits(bps: f64) -> String {
    number(bps / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough() {
        let shown = [0.001_234, 1.234, 12.34, 123.4, 1234.4, 0.0].map(number);
        assert_eq!(shown, ["0.00123", "1.23", "12.3", "123", "1234", "0.00"]);
        assert_eq!([9.996, 99.96, -9.996, 3e-13].map(number), ["10.0", "100", "-10.0", "0.00"]);
        assert_eq!(number(f64::NAN), "-");
        assert_eq!(percent(0.9871), "98.7 %");
        assert_eq!(megabits(158e6), "158");
    }
}
