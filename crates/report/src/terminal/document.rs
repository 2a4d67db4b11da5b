//! What a command prints: lines of text and tables.

use super::layout::Table;
use std::fmt;

/// Lines of text and tables, in the order in which they are printed.
#[derive(Clone, Debug, Default)]
pub struct Document(Vec<Block>);

#[derive(Clone, Debug)]
enum Block {
    /// Complete lines.
    Text(String),
    Table(Table),
}

impl Document {
    /// With a table below, unless the table has no row.
    pub(super) fn table(mut self, table: Table) -> Self {
        if !table.is_empty() {
            self.0.push(Block::Table(table));
        }
        self
    }

    /// With complete lines below.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Block::Text(text.into()));
        self
    }

    /// With another document below.
    pub fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Text for a terminal. Tables of numbers that are wider than `width` characters are divided.
    pub fn fitted(&self, width: Option<usize>) -> String {
        let block = |block: &Block| match block {
            Block::Text(text) => text.clone(),
            Block::Table(table) => table.text(width),
        };
        self.0.iter().map(block).collect()
    }

    /// The tables as CSV, with an empty line between two tables. Texts are left out.
    pub fn csv(&self) -> String {
        let csv = |block: &Block| match block {
            Block::Text(_) => None,
            Block::Table(table) => Some(table.csv()),
        };
        self.0.iter().filter_map(csv).collect::<Vec<_>>().join("\r\n")
    }

    /// Markdown, with an empty line before and after a table.
    pub fn markdown(&self) -> String {
        let block = |(index, block): (usize, &Block)| match (block, index) {
            (Block::Text(text), _) => text.clone(),
            (Block::Table(table), 0) => table.markdown() + "\n",
            (Block::Table(table), _) => format!("\n{}\n", table.markdown()),
        };
        self.0.iter().enumerate().map(block).collect::<String>().replace("\n\n\n", "\n\n").trim().to_owned()
            + "\n"
    }
}

impl fmt::Display for Document {
    /// Text of any width.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fitted(None))
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::table;
    use super::*;

    fn one_row(name: &str) -> Table {
        let mut rows = table(&["name", "value"]);
        rows.add_row([name, "1"]);
        rows
    }

    #[test]
    fn csv_has_the_tables_and_markdown_has_texts_with_empty_lines_around_tables() {
        let document =
            Document::default().text("first\n").table(one_row("a")).table(one_row("b")).text("last\n");
        assert_eq!(document.csv(), "name,value\r\na,1\r\n\r\nname,value\r\nb,1\r\n");
        let grid = |name| format!("| name | value |\n| ---- | ----- |\n| {name}    | 1     |\n");
        assert_eq!(document.markdown(), format!("first\n\n{}\n{}\nlast\n", grid("a"), grid("b")));
    }

    #[test]
    fn a_table_without_rows_is_left_out() {
        assert_eq!(Document::default().table(table(&["name"])).to_string(), "");
    }
}
