//! How numbers and tables look on a terminal.

use comfy_table::{CellAlignment, Table, presets};

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
    let magnitude = if x == 0.0 { 0.0 } else { x.abs().log10().floor() };
    let decimals = (2.0 - magnitude).clamp(0.0, 5.0) as usize;
    format!("{x:.decimals$}")
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
        assert_eq!(number(f64::NAN), "-");
        assert_eq!(percent(0.9871), "98.7 %");
        assert_eq!(megabits(158e6), "158");
    }
}
