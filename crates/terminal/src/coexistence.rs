//! The table of shares of a protocol beside other flows.

use millpond_tables::{Cell, Document, text_table};

/// What the numbers are.
const SHARES: &str = "goodput divided by an equal share of the link: the least and the greatest among the flows of the protocol, and that of \
     the other flow; used: the utilization of the link\n";

/// One row for each set of flows, as on the protocol's page: its label, the least and the greatest share of the protocol's
/// flows, the share of the other flow, the utilization. A share is divided by the equal share of the link. Each number comes
/// with its text, which has two digits.
pub fn coexistence(protocol: &str, rows: impl IntoIterator<Item = (String, [(f64, String); 4])>) -> Document {
    let mut table = text_table(&[&format!("`{protocol}`"), "least", "greatest", "the other", "used"]);
    for (label, values) in rows {
        let values = values.map(|(value, text)| Cell::shown(value, text));
        table.add_row([Cell::from(label)].into_iter().chain(values));
    }
    Document::default().text(SHARES).table(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_of_what_its_numbers_are_shares() {
        let row = ("1 and CUBIC".to_owned(), [1.0, 1.0, 1.0, 0.9].map(|value| (value, value.to_string())));
        let text = coexistence("vegas", [row]).fitted(None);
        assert!(text.starts_with("goodput divided by an equal share of the link"), "{text}");
    }

    #[test]
    fn the_name_of_the_protocol_is_code_in_markdown_alone() {
        let row = ("1".to_owned(), [1.0, 1.0, 1.0, 0.9].map(|value| (value, value.to_string())));
        let document = coexistence("vegas", [row]);
        assert!(document.markdown().contains("| `vegas` |"), "{}", document.markdown());
        assert!(document.fitted(None).contains("│ vegas ┆") && !document.fitted(None).contains('`'));
        assert!(document.csv().starts_with("vegas,least,greatest"));
    }
}
