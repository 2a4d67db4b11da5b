//! The layout of tables on a terminal.

use comfy_table::{CellAlignment, Table, presets};

/// A table with these column headings; all columns but the first one are aligned to the right.
pub(super) fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED.with_rounded_corners())
        .set_header(headings.iter().copied());
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
