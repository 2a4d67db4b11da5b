//! The table of shares of a protocol beside other flows.

use super::document::Document;
use super::layout::text_table;

/// One row for each set of flows, as on the protocol's page: its label, the least and the greatest share of the protocol's
/// flows, the share of the other flow, the utilization.
pub fn coexistence(protocol: &str, rows: impl IntoIterator<Item = [String; 5]>) -> Document {
    let mut table = text_table(&[&format!("`{protocol}`"), "least", "greatest", "the other", "used"]);
    rows.into_iter().for_each(|row| table.add_row(row));
    Document::default().table(table)
}
