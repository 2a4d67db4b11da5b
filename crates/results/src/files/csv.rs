//! Comma-separated values (RFC 4180).

use super::table::{Cells, Column};

/// The table as text: a line of names, then one line per row; an absent value is empty.
pub(super) fn text(columns: Vec<Column<'_>>) -> String {
    let mut text = columns.iter().map(|c| quoted(&c.name)).collect::<Vec<_>>().join(",");
    text.push('\n');
    let mut columns: Vec<_> = columns.into_iter().map(|column| written(column.cells)).collect();
    while let Some(cells) = columns.iter_mut().map(Iterator::next).collect::<Option<Vec<String>>>()
        && !cells.is_empty()
    {
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// The cells of a column as they are written.
fn written(cells: Cells<'_>) -> Box<dyn Iterator<Item = String> + '_> {
    match cells {
        Cells::Numbers(cells) => Box::new(cells.map(optional)),
        Cells::Counts(cells) => Box::new(cells.map(optional)),
        Cells::Lists(lists) => {
            Box::new(lists.into_iter().flat_map(|list| list.iter().map(|number| number.to_string())))
        }
        Cells::Texts { texts, runs } => {
            let rows = move |i: usize| runs.get(i).map(|run| (quoted(texts[run.text as usize]), run.rows));
            let repeated = |(text, rows)| std::iter::repeat_n(text, rows as usize);
            Box::new((0..).map_while(rows).flat_map(repeated))
        }
    }
}

fn optional(cell: Option<impl ToString>) -> String {
    cell.map_or_else(String::new, |cell| cell.to_string())
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
    use super::super::table::TextRun;
    use super::*;

    #[test]
    fn a_cell_with_a_comma_or_a_quote_is_quoted() {
        let texts = vec!["plain", "a,b", "say \"x\""];
        let runs: Vec<TextRun> = (0..3).map(|text| TextRun { text, rows: 1 }).collect();
        let numbers = [Some(0.5), None, Some(3.0)].into_iter();
        let columns = vec![
            Column { name: "name".into(), cells: Cells::Texts { texts, runs: runs.into() } },
            Column { name: "value".into(), cells: Cells::Numbers(Box::new(numbers)) },
        ];
        assert_eq!(text(columns), "name,value\nplain,0.5\n\"a,b\",\n\"say \"\"x\"\"\",3\n");
    }
}
