//! What a command prints: lines of text and tables.

use super::table::Table;
use std::fmt;

/// Lines of text and tables, in the order in which they are printed.
#[derive(Clone, Debug, Default)]
pub struct Document(Vec<DocumentItem>);

#[derive(Clone, Debug)]
enum DocumentItem {
    /// Complete lines.
    Text(String),
    Table(Table),
}

impl Document {
    /// With a table below, unless the table has no row.
    pub fn table(mut self, table: Table) -> Self {
        if !table.is_empty() {
            self.0.push(DocumentItem::Table(table));
        }
        self
    }

    /// With complete lines below.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(DocumentItem::Text(text.into()));
        self
    }

    /// With another document below.
    pub fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Text for a terminal. Tables of numbers that are wider than `width` characters are divided, and lines of text are
    /// broken between words.
    pub fn fitted(&self, width: Option<usize>) -> String {
        let block = |block: &DocumentItem| match block {
            DocumentItem::Text(text) => width.map_or_else(|| text.clone(), |width| broken(text, width)),
            DocumentItem::Table(table) => table.text(width),
        };
        self.0.iter().map(block).collect()
    }

    /// The tables as CSV, with an empty line between two tables. Texts are left out.
    pub fn csv(&self) -> String {
        let csv = |block: &DocumentItem| match block {
            DocumentItem::Text(_) => None,
            DocumentItem::Table(table) => Some(table.csv()),
        };
        self.0.iter().filter_map(csv).collect::<Vec<_>>().join("\r\n")
    }

    /// Markdown, with an empty line before and after a table.
    pub fn markdown(&self) -> String {
        let block = |(index, block): (usize, &DocumentItem)| match (block, index) {
            (DocumentItem::Text(text), _) => text.clone(),
            (DocumentItem::Table(table), 0) => table.markdown() + "\n",
            (DocumentItem::Table(table), _) => format!("\n{}\n", table.markdown()),
        };
        self.0.iter().enumerate().map(block).collect::<String>().replace("\n\n\n", "\n\n").trim().to_owned()
            + "\n"
    }
}

/// The text with lines of at most `width` characters, as far as words permit.
fn broken(text: &str, width: usize) -> String {
    text.split_inclusive('\n').map(|line| broken_line(line, width)).collect()
}

/// A line that is too long continues below the text behind its first gap of several blanks, or below its own beginning.
fn broken_line(line: &str, width: usize) -> String {
    let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
    if content.chars().count() <= width {
        return line.to_owned();
    }
    let indent = continuation(content).min(width / 2);
    let (mut found, mut used) = (String::new(), 0);
    for word in content.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if used + length > width && used > indent {
            found.truncate(found.trim_end().len());
            found.push('\n');
            found.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        }
        found.push_str(word);
        used += word.chars().count();
    }
    found + end
}

/// Where the second line of a text begins: behind its first gap of at least two blanks between words, else where it begins.
fn continuation(line: &str) -> usize {
    let begin = line.len() - line.trim_start().len();
    let words = line.trim_start();
    let gap = words.find("  ").filter(|gap| *gap < 30);
    gap.map_or(begin, |gap| begin + gap + words[gap..].len() - words[gap..].trim_start().len())
}

impl fmt::Display for Document {
    /// Text of any width.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fitted(None))
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::table;
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
    fn lines_of_text_are_broken_between_words_to_the_width_of_the_terminal() {
        let fitted = |text: &str, width| Document::default().text(text).fitted(width);
        assert_eq!(fitted("one two three\nfour\n", Some(9)), "one two\nthree\nfour\n");
        assert_eq!(fitted("one two three\n", Some(13)), "one two three\n");
        assert_eq!(fitted("one two three\n", None), "one two three\n");
        // A list of names and texts, and a word that is longer than a line.
        assert_eq!(
            fitted("needs  ECN, relays, links\n", Some(18)),
            "needs  ECN,\n       relays,\n       links\n"
        );
        assert_eq!(fitted("incomprehensibilities\n", Some(9)), "incomprehensibilities\n");
    }

    #[test]
    fn a_table_without_rows_is_left_out() {
        assert_eq!(Document::default().table(table(&["name"])).to_string(), "");
    }
}
