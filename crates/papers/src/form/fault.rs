//! Errors in the text of a recipe, with their place.

use crate::unknown_name::unknown;
use std::ops::Range;

/// An error with the byte range of the text at which it occurs.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    span: Option<Range<usize>>,
    pub(crate) message: String,
}

impl Fault {
    /// An error at a byte range.
    pub(crate) fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into() }
    }

    /// An error about the file as a whole.
    pub(crate) fn plain(message: impl Into<String>) -> Self {
        Self { span: None, message: message.into() }
    }

    /// The line of `text` with marks under the byte range, then the message.
    pub(crate) fn show(&self, text: &str) -> String {
        let Some(span) = &self.span else { return self.message.clone() };
        let before = text.get(..span.start).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let number = 1 + before.matches('\n').count();
        let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        let skipped = before.get(start..).unwrap_or_default().chars().count();
        let marked = text.get(span.clone()).unwrap_or_default().lines().next().unwrap_or_default();
        let marks = "^".repeat(marked.chars().count().max(1));
        let margin = " ".repeat(number.to_string().len());
        let column = skipped + 1;
        let message = &self.message;
        format!(
            "line {number}, column {column}\n{margin} |\n{number} | {line}\n{margin} | {:skipped$}{marks}\n{message}",
            ""
        )
    }
}

impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Self {
        let message = with_names(error.message()).unwrap_or_else(|| error.message().to_owned());
        Self { span: error.span(), message }
    }
}

/// The message about a key or a word that is unknown, with the nearest known one; none for other messages. `serde` writes
/// "unknown field `a`, expected one of `b`, `c`".
fn with_names(message: &str) -> Option<String> {
    let kinds = [("unknown field `", "key"), ("unknown variant `", "value")];
    let (kind, rest) = kinds.iter().find_map(|(begin, kind)| Some((kind, message.strip_prefix(begin)?)))?;
    let (written, expected) = rest.split_once("`, expected ")?;
    let known: Vec<String> = expected.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some(unknown(written, kind, &known))
}

#[cfg(test)]
mod tests {
    use super::Fault;
    use crate::form::fault::with_names;

    #[test]
    fn an_error_is_printed_with_its_line_and_marks_under_the_value() {
        let shown = Fault::at(10..14, "unknown").show("a = 1\nb = four\n");
        assert_eq!(shown, "line 2, column 5\n  |\n2 | b = four\n  |     ^^^^\nunknown");
        assert_eq!(Fault::plain("no case").show("a = 1"), "no case");
    }

    #[test]
    fn an_unknown_key_or_word_is_named_with_the_nearest() {
        let [several, two, none] = [
            "unknown field `lable`, expected one of `kind`, `title`, `label`",
            "unknown variant `tme`, expected `time` or `boxes`",
            "missing field `kind`",
        ]
        .map(with_names);
        assert_eq!(
            several.unwrap(),
            "no key \"lable\"; there are: kind, title, label (did you mean \"label\"?)"
        );
        assert_eq!(two.unwrap(), "no value \"tme\"; there are: time, boxes (did you mean \"time\"?)");
        assert_eq!(none, None);
    }
}
