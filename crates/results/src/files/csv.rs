//! Comma-separated values (RFC 4180).

use super::table::{Cells, Column};
use std::fmt::Write;

/// The table as text: a line of names, then one line per row; an absent value is empty.
pub(super) fn text(columns: &[Column]) -> String {
    let mut text = columns.iter().map(|c| quoted(&c.name)).collect::<Vec<_>>().join(",");
    text.push('\n');
    for row in 0..columns.first().map_or(0, |c| rows(&c.cells)) {
        for (i, column) in columns.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            push_cell(&mut text, &column.cells, row);
        }
        text.push('\n');
    }
    text
}

fn rows(cells: &Cells) -> usize {
    match cells {
        Cells::Numbers(cells) => cells.len(),
        Cells::Counts(cells) => cells.len(),
        Cells::Texts { rows, .. } => rows.len(),
    }
}

fn push_cell(text: &mut String, cells: &Cells, row: usize) {
    let written = match cells {
        Cells::Numbers(cells) => cells[row].map_or(Ok(()), |x| write!(text, "{x}")),
        Cells::Counts(cells) => cells[row].map_or(Ok(()), |x| write!(text, "{x}")),
        Cells::Texts { distinct, rows } => write!(text, "{}", quoted(&distinct[rows[row] as usize])),
    };
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// The cell, in quotes if it has a comma, a quote or a line break.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_a_comma_or_a_quote_is_quoted() {
        let distinct = vec!["plain".to_owned(), "a,b".to_owned(), "say \"x\"".to_owned()];
        let columns = [
            Column { name: "name".into(), cells: Cells::Texts { distinct, rows: vec![0, 1, 2].into() } },
            Column { name: "value".into(), cells: Cells::Numbers(vec![Some(0.5), None, Some(3.0)]) },
        ];
        assert_eq!(text(&columns), "name,value\nplain,0.5\n\"a,b\",\n\"say \"\"x\"\"\",3\n");
    }
}
