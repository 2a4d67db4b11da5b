//! Parts of texts that are fit for a terminal: no control characters, no long lines.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::ops::Range;

/// The most characters of a line before the place of a fault, of the place, and after it.
const MOST_IN_LINE: usize = 60;
/// The most characters of a message.
const MOST_IN_MESSAGE: usize = 300;

/// Whether a terminal obeys the character, or shows the text around it in another order: control characters, and marks
/// of direction (Unicode Standard Annex 9). Line breaks and tabs are neither.
pub(crate) fn is_invisible(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || is_direction
}

/// The text with a replacement character for each one that a terminal would obey.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_invisible(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The printable text, without the middle of a long one.
pub(crate) fn shortened(text: &str) -> String {
    cut_middle(&printable(text), MOST_IN_MESSAGE)
}

/// At most this many characters: the first and the last ones.
fn cut_middle(text: &str, most: usize) -> String {
    let half = most / 2;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    format!("{}...{}", first(text, half), last(text, half))
}

fn first(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

fn last(text: &str, count: usize) -> &str {
    let start = text.char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}

/// The lines around a place of a text, each cut to a width that a terminal can show.
#[derive(Debug)]
pub(crate) struct Excerpt {
    name: String,
    text: String,
    /// The number of its first line, from 0.
    first_line: usize,
    /// Where its place begins in the line of the whole text, in bytes.
    column: usize,
    place: Range<usize>,
}

impl Excerpt {
    /// The line of `place` in `text`, with the lines before and after it.
    pub(crate) fn new(name: &str, text: &str, place: Range<usize>) -> Self {
        let start = floor_boundary(text, place.start);
        let end = floor_boundary(text, place.end).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = end.min(line_end);
        let before = text[..line_start].trim_end_matches('\n').rsplit('\n').next().filter(|_| line_start > 0);
        let after = text.get(line_end + 1..).and_then(|rest| rest.split('\n').next());
        let mut shown = String::new();
        let line_number = text[..line_start].matches('\n').count();
        // An empty line before is not repeated, because several of them are trimmed above.
        let before = before.filter(|_| !text[..line_start].ends_with("\n\n"));
        if let Some(before) = before {
            shown += &cut_end(before);
            shown.push('\n');
        }
        let left = printable(&text[line_start..start]);
        let is_cut = left.chars().count() > MOST_IN_LINE;
        shown += if is_cut { "..." } else { "" };
        shown += if is_cut { last(&left, MOST_IN_LINE) } else { &left };
        let place_start = shown.len();
        shown += &cut_middle(&printable(&text[start..end]), MOST_IN_LINE);
        let place = place_start..shown.len();
        shown += &cut_end(&text[end..line_end]);
        if let Some(after) = after {
            shown.push('\n');
            shown += &cut_end(after);
        }
        let first_line = line_number - usize::from(before.is_some());
        Self { name: name.to_owned(), text: shown, first_line, column: start - line_start, place }
    }

    /// The place in the excerpt.
    pub(crate) fn place(&self) -> Range<usize> {
        self.place.clone()
    }
}

/// The beginning of a line.
fn cut_end(line: &str) -> String {
    let line = printable(line.trim_end_matches('\r'));
    let shown = first(&line, 2 * MOST_IN_LINE);
    if shown.len() < line.len() { format!("{shown}...") } else { line }
}

/// The last boundary between characters that is not after `index`.
fn floor_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|&index| text.is_char_boundary(index)).unwrap_or(0)
}

impl SourceCode for Excerpt {
    /// The lines of the excerpt under their numbers in the whole text.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.text.as_str().read_span(span, lines_before, lines_after)?;
        let is_place = span.offset() == self.place.start;
        let column = if is_place && lines_before == 0 { self.column } else { found.column() };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            found.data(),
            *found.span(),
            self.first_line + found.line(),
            column,
            found.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_obeys_are_replaced() {
        assert_eq!(printable("a\u{1b}[31mb\u{202e}c\td\n"), "a\u{fffd}[31mb\u{fffd}c\td\n");
    }

    #[test]
    fn a_long_line_is_cut_around_its_place() {
        let text = format!("first\n{}KEY{}\nlast", "a".repeat(500), "b".repeat(500));
        let start = text.find("KEY").unwrap();
        let excerpt = Excerpt::new("x", &text, start..start + 3);
        assert_eq!(&excerpt.text[excerpt.place()], "KEY");
        assert!(excerpt.text.len() < 220, "{}", excerpt.text);
        assert_eq!((excerpt.first_line, excerpt.text.lines().count()), (0, 3));
    }

    #[test]
    fn a_place_of_any_bytes_gives_an_excerpt() {
        let text = "é\n\nabc\r\n\u{1b}x\n";
        for start in 0..=text.len() + 1 {
            for end in start..=text.len() + 1 {
                let excerpt = Excerpt::new("x", text, start..end);
                assert!(excerpt.text.get(excerpt.place()).is_some(), "{start}..{end}");
            }
        }
    }
}
