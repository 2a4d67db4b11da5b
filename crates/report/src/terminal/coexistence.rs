//! The table of shares of a protocol beside other flows.

use millpond_tables::{Cell, Document, text_table};

/// One row for each set of flows, as on the protocol's page: its label, the least and the greatest share of the protocol's
/// flows, the share of the other flow, the utilization. A share is divided by the equal share of the link. Each number comes
/// with its text, which has two digits.
pub fn coexistence(protocol: &str, rows: impl IntoIterator<Item = (String, [(f64, String); 4])>) -> Document {
    let mut table = text_table(&[&format!("`{protocol}`"), "least", "greatest", "the other", "used"]);
    for (label, values) in rows {
        let values = values.map(|(value, text)| Cell::shown(value, text));
        table.add_row([Cell::from(label)].into_iter().chain(values));
    }
    Document::default().table(table)
}
