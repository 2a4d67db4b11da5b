//! Tables of cells, as text for a terminal, as CSV and as Markdown.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};
use millpond_units::format::{megabits, number, percent, two_digits};

/// A cell: what a person reads, and what a program reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The text with few digits.
    text: String,
    /// The text for a program, if it is another one.
    exact: Option<String>,
    /// The number with all digits, in the unit of the heading; none for a text.
    number: Option<f64>,
    /// Half the width of the confidence interval of the number.
    half_width: Option<f64>,
}

impl Cell {
    /// A number shown as `text`.
    pub fn shown(value: f64, text: String) -> Self {
        Self { text, number: Some(value), ..Self::default() }
    }

    /// A text that programs read as `exact`.
    pub fn text(text: impl Into<String>, exact: impl Into<String>) -> Self {
        Self { text: text.into(), exact: Some(exact.into()), ..Self::default() }
    }

    /// A number with three significant digits.
    pub fn number(value: f64) -> Self {
        Self::shown(value, number(value))
    }

    /// A percentile of a histogram, with the two digits that it has.
    pub fn percentile(value: f64) -> Self {
        Self::shown(value, two_digits(value))
    }

    /// A rate in bit/s, in Mbit/s.
    pub fn megabits(bps: f64) -> Self {
        Self::shown(bps / 1e6, megabits(bps))
    }

    /// A share, shown as a percentage.
    pub fn percent(share: f64) -> Self {
        Self::shown(share, percent(share))
    }

    /// A number of things.
    pub fn count(value: u64) -> Self {
        Self::shown(value as f64, value.to_string())
    }

    /// A cell without a value.
    pub fn absent() -> Self {
        Self { text: "-".to_owned(), ..Self::default() }
    }

    /// A mean shown by `show`, with half the width of its confidence interval, which has as many decimals.
    pub fn estimate(mean: f64, half_width: Option<f64>, show: impl Fn(f64) -> String) -> Self {
        let text = show(mean);
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| digits(decimals));
        let is_number = text.parse::<f64>().is_ok();
        let width = |half: f64| if is_number { format!("{half:.decimals$}") } else { show(half) };
        let width = half_width.map_or_else(String::new, |half| format!(" ± {}", width(half)));
        Self { text: text + &width, number: Some(mean), half_width, ..Self::default() }
    }

    fn csv(&self) -> String {
        match (self.number, &self.exact) {
            (Some(number), _) if number.is_finite() => number.to_string(),
            (Some(_), _) => String::new(),
            (None, Some(exact)) => exact.clone(),
            (None, None) if self.text == "-" => String::new(),
            (None, None) => self.text.clone(),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Whether a person reads the same in both rows of cells.
pub fn are_shown_equal(one: &[Cell], other: &[Cell]) -> bool {
    one.iter().map(|cell| &cell.text).eq(other.iter().map(|cell| &cell.text))
}

/// What the columns of a table contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Names in the first column, numbers in the others, which are aligned to the right.
    Numbers,
    /// Texts, aligned to the left and wrapped to the width.
    Texts,
}

/// A table with a line of headings.
#[derive(Clone, Debug)]
pub struct Table {
    /// May have several lines.
    headings: Vec<String>,
    /// Indices of columns that only programs read, as CSV.
    for_programs: Vec<usize>,
    rows: Vec<Vec<Cell>>,
    /// How many rows a person reads; CSV has all of them.
    shown: usize,
    content: Content,
}

/// A table of numbers with these column headings.
pub fn table(headings: &[&str]) -> Table {
    let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let (for_programs, rows) = (Vec::new(), Vec::new());
    Table { headings, for_programs, rows, shown: usize::MAX, content: Content::Numbers }
}

/// A table of texts with these column headings.
pub fn text_table(headings: &[&str]) -> Table {
    Table { content: Content::Texts, ..table(headings) }
}

/// The most characters per line of the names in a table of numbers that fits into `width` characters.
fn most_of_names(width: usize) -> usize {
    const LEAST: usize = 12;
    (width / 2).max(LEAST)
}

/// The greatest width of a table of texts.
const TEXT_WIDTH: usize = 120;

impl Table {
    /// Adds a row, which has a cell for each heading.
    pub fn add_row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// With these columns in CSV alone.
    pub fn only_in_csv(mut self, headings: &[&str]) -> Self {
        let is_one =
            |(index, heading): (usize, &String)| headings.contains(&heading.as_str()).then_some(index);
        self.for_programs = self.headings.iter().enumerate().filter_map(is_one).collect();
        self
    }

    /// With the first rows alone, except in CSV.
    pub fn showing(mut self, rows: usize) -> Self {
        self.shown = rows;
        self
    }

    /// The columns that a person reads.
    fn columns(&self) -> Vec<usize> {
        (0..self.headings.len()).filter(|column| !self.for_programs.contains(column)).collect()
    }

    /// The rows that a person reads.
    fn shown_rows(&self) -> impl Iterator<Item = &Vec<Cell>> {
        self.rows.iter().take(self.shown)
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text of at most `width` characters per line. A table of numbers that is wider is divided into several
    /// tables, each of which begins with the first column, in at most half of the width.
    pub fn text(&self, width: Option<usize>) -> String {
        if self.content == Content::Texts {
            return self.drawn(&self.columns(), width);
        }
        let parts = width.map_or_else(|| vec![self.columns()], |width| self.parts(width));
        parts.iter().map(|columns| self.drawn(columns, width)).collect()
    }

    /// The columns of each part of a table that is divided to fit into `width` characters.
    fn parts(&self, width: usize) -> Vec<Vec<usize>> {
        // A border or a blank on each side of a cell, and a border between two cells.
        let columns = self.columns();
        let widths = columns.iter().map(|column| (*column, self.width(*column) + 3));
        let first = columns.first().map_or(1, |first| self.width(*first).min(most_of_names(width)) + 4);
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut used = usize::MAX;
        for (column, own) in widths.skip(1) {
            if used.saturating_add(own) > width {
                parts.push(vec![0]);
                used = first;
            }
            used += own;
            parts.last_mut().into_iter().for_each(|part| part.push(column));
        }
        if parts.is_empty() { vec![vec![0]] } else { parts }
    }

    /// The heading of a column outside of Markdown, where a name in backticks is set as code.
    fn plain_heading(&self, column: usize) -> &str {
        self.headings.get(column).map_or("", |heading| heading.trim_matches('`'))
    }

    /// The greatest number of characters of a line of a column.
    fn width(&self, column: usize) -> usize {
        let cells = self.shown_rows().filter_map(|row| row.get(column)).map(|cell| cell.text.as_str());
        cells.chain(self.plain_heading(column).lines()).map(|line| line.chars().count()).max().unwrap_or(0)
    }

    /// These columns, drawn with borders.
    fn drawn(&self, columns: &[usize], width: Option<usize>) -> String {
        let mut drawn = comfy_table::Table::new();
        drawn
            .load_style(presets::UTF8_FULL_CONDENSED.with_rounded_corners())
            .set_header(columns.iter().map(|column| self.plain_heading(*column)));
        for row in self.shown_rows() {
            drawn.add_row(columns.iter().map(|column| row.get(*column).map_or("", |cell| &cell.text)));
        }
        if self.content == Content::Texts {
            let width = width.unwrap_or(TEXT_WIDTH).min(TEXT_WIDTH);
            drawn
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(u16::try_from(width).unwrap_or(u16::MAX));
        } else {
            // Names are broken into lines if they take more than half of the width.
            let most = width.map_or(usize::MAX, most_of_names);
            let most = u16::try_from(most).unwrap_or(u16::MAX);
            for (index, column) in drawn.column_iter_mut().enumerate() {
                if index == 0 {
                    column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(most)));
                } else {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        format!("{drawn}\n")
    }

    /// The table as CSV (RFC 4180) with a line of headings. A column of estimates with confidence intervals is followed by
    /// one of half their widths.
    pub fn csv(&self) -> String {
        let has_widths = |column: usize| {
            self.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.half_width.is_some()))
        };
        let with_widths: Vec<bool> = (0..self.headings.len()).map(has_widths).collect();
        let headings = with_widths.iter().enumerate().flat_map(|(column, has_width)| {
            let name = self.plain_heading(column).replace('\n', " ");
            let width = has_width.then(|| format!("{name} half width of 95 % interval"));
            std::iter::once(name).chain(width)
        });
        let mut text = csv_line(headings);
        for row in &self.rows {
            text += &csv_line(row.iter().zip(&with_widths).flat_map(|(cell, has_width)| {
                let width =
                    has_width.then(|| cell.half_width.map_or_else(String::new, |half| half.to_string()));
                std::iter::once(cell.csv()).chain(width)
            }));
        }
        text
    }

    /// A Markdown table whose columns are padded to the width of their widest cell.
    pub fn markdown(&self) -> String {
        let escaped = |text: &str| text.replace('\n', " ").replace('|', "\\|");
        let columns = self.columns();
        let headings: Vec<String> = columns
            .iter()
            .filter_map(|column| self.headings.get(*column))
            .map(|heading| escaped(heading))
            .collect();
        let cell = |row: &Vec<Cell>, column: &usize| {
            row.get(*column).map_or_else(String::new, |cell| escaped(&cell.text))
        };
        let rows: Vec<Vec<String>> =
            self.shown_rows().map(|row| columns.iter().map(|column| cell(row, column)).collect()).collect();
        let width = |column: usize| {
            let cells = rows.iter().chain([&headings]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..headings.len()).map(width).collect();
        let line = |cells: &[String]| {
            let padded: Vec<_> =
                cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
            format!("| {} |\n", padded.join(" | "))
        };
        let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
        [&headings, &rule].into_iter().chain(&rows).map(|cells| line(cells)).collect()
    }
}

/// A line of CSV; cells with commas, quotation marks or line breaks are quoted.
fn csv_line(cells: impl Iterator<Item = String>) -> String {
    let quoted = |cell: String| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell
        }
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = table(&["name", "rate\nMbit/s", "delay, ms"]);
        let delay = Cell::estimate(1.5, Some(0.25), |value| format!("{value:.1}"));
        table.add_row([Cell::from("a,b"), Cell::megabits(12_345_678.0), delay]);
        table.add_row([Cell::from("c|d"), Cell::absent(), Cell::number(f64::NAN)]);
        table
    }

    #[test]
    fn half_the_width_of_an_interval_has_as_many_decimals_as_the_mean() {
        assert_eq!(Cell::estimate(6.271, Some(0.0381), number).text, "6.27 ± 0.04");
        assert_eq!(Cell::estimate(23.4, Some(1.72), two_digits).text, "23 ± 2");
        assert_eq!(Cell::estimate(0.968, Some(0.0061), percent).text, "96.8 % ± 0.6 %");
    }

    #[test]
    fn csv_has_all_digits_in_the_unit_of_the_heading_and_a_column_of_half_widths() {
        let lines: Vec<String> = example().csv().split("\r\n").map(str::to_owned).collect();
        assert_eq!(lines[0], "name,rate Mbit/s,\"delay, ms\",\"delay, ms half width of 95 % interval\"");
        assert_eq!(lines[1], "\"a,b\",12.345678,1.5,0.25");
        assert_eq!(lines[2], "c|d,,,");
    }

    #[test]
    fn csv_has_columns_and_rows_and_texts_that_a_person_does_not_read() {
        let mut table = table(&["run", "group", "rate\nMbit/s"]).only_in_csv(&["group"]).showing(1);
        table.add_row([Cell::text("  near", "lgcc"), "near".into(), Cell::number(1.0 / 3.0)]);
        table.add_row([Cell::text("  far", "lgcc"), "far".into(), Cell::absent()]);
        let csv = "run,group,rate Mbit/s\r\nlgcc,near,0.3333333333333333\r\nlgcc,far,\r\n";
        assert_eq!(table.csv(), csv);
        assert_eq!(
            table.markdown(),
            "| run    | rate Mbit/s |\n| ------ | ----------- |\n|   near | 0.333       |\n"
        );
        for width in [None, Some(80), Some(10)] {
            let text = table.text(width);
            assert!(text.contains("  near") && !text.contains("group") && !text.contains("far"), "{text}");
        }
    }

    #[test]
    fn markdown_columns_are_as_wide_as_their_widest_cell() {
        let lines: Vec<String> = example().markdown().lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "| name | rate Mbit/s | delay, ms |");
        assert_eq!(lines[1], "| ---- | ----------- | --------- |");
        assert_eq!(lines[2], "| a,b  | 12.3        | 1.5 ± 0.2 |");
        assert_eq!(lines[3], "| c\\|d | -           | -         |");
    }

    #[test]
    fn a_table_that_is_too_wide_is_divided_and_each_part_has_the_first_column() {
        let table = example();
        let widest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
        let whole = table.text(None);
        assert_eq!(table.text(Some(widest(&whole))), whole);
        let divided = table.text(Some(widest(&whole) - 1));
        assert!(widest(&divided) < widest(&whole), "{divided}");
        assert_eq!(divided.matches("a,b").count(), 2, "{divided}");
        assert_eq!((divided.matches("12.3").count(), divided.matches("1.5 ± 0.2").count()), (1, 1));
        let names = || {
            let mut table = example();
            table.add_row([Cell::from("a name that is long"), Cell::absent(), Cell::absent()]);
            table.text(Some(34))
        };
        assert!(widest(&names()) <= 34 && names().contains("a name that is "), "{}", names());
        // No width is too small: a part has at least one column of values.
        assert_eq!(table.text(Some(1)).matches("a,b").count(), 2);
    }
}
