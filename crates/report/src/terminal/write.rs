//! How tables look on a terminal.

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
