//! Faults as the page receives them: a message and its place.

use millpond_scenario::{Fault, Faults};
use serde::{Deserialize, Serialize};

/// The name of the scenario's text in faults.
pub(crate) const SCENARIO: &str = "scenario";

/// More faults than this are not sent.
const MOST: usize = 50;

/// A fault. Columns and lengths are in UTF-16 code units, as JavaScript counts them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlacedFault {
    /// `scenario`, `--set` for an override, or the name of a file.
    pub(crate) source: String,
    /// The line of the source, from 1; 0 without a place.
    pub(crate) line: usize,
    /// The column in the line, from 1; 0 without a place.
    pub(crate) column: usize,
    /// The length of what is wrong, at most up to the end of the line.
    pub(crate) length: usize,
    /// The line of the source.
    pub(crate) excerpt: String,
    /// What is wrong.
    pub(crate) message: String,
    /// What stands at the place.
    pub(crate) label: String,
    /// What was expected.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) help: Option<String>,
}

impl PlacedFault {
    /// A fault without a place.
    pub(crate) fn plain(message: impl Into<String>) -> Self {
        Self {
            source: SCENARIO.to_owned(),
            line: 0,
            column: 0,
            length: 0,
            excerpt: String::new(),
            message: message.into(),
            label: String::new(),
            help: None,
        }
    }

    /// The fault with what was expected.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl From<&Fault> for PlacedFault {
    fn from(fault: &Fault) -> Self {
        let help = Some(fault.help_text().to_owned()).filter(|help| !help.is_empty());
        let plain = Self { label: fault.label().to_owned(), help, ..Self::plain(fault.message()) };
        let Some((source, text, range)) = fault.place() else { return plain };
        let before = text.get(..range.start).unwrap_or(text);
        let begin = before.rfind('\n').map_or(0, |line_break| line_break + 1);
        let end =
            text.get(begin..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| begin + length);
        let units = |from: usize, to: usize| text.get(from..to).map_or(0, |part| part.encode_utf16().count());
        Self {
            source: source.to_owned(),
            line: 1 + before.matches('\n').count(),
            column: 1 + units(begin, range.start),
            length: units(range.start, range.end.min(end).max(range.start)),
            excerpt: text.get(begin..end).unwrap_or_default().chars().take(200).collect(),
            ..plain
        }
    }
}

/// The first faults.
pub(crate) fn placed(faults: &Faults) -> Vec<PlacedFault> {
    faults.0.iter().take(MOST).map(PlacedFault::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_scenario::{Place, Sources};

    #[test]
    fn a_place_is_counted_in_lines_and_utf_16_units() {
        let text = "a = 1\n\u{1d11e} = \"x\" # y\nb = 2\n";
        let start = text.find("\"x\"").unwrap();
        let fault =
            Sources::new(SCENARIO, text).fault(Place { text: 0, start, end: text.len() }, "wrong", "here");
        let placed = PlacedFault::from(&fault.help("write y"));
        assert_eq!((placed.line, placed.column, placed.length), (2, 6, 7));
        assert_eq!(placed.excerpt, "\u{1d11e} = \"x\" # y");
        assert_eq!(placed.help.as_deref(), Some("write y"));
    }

    /// The page runs the packet world beside the fluid world.
    #[test]
    fn the_page_does_not_advise_to_choose_a_world() {
        let fault = Sources::new(SCENARIO, "").plain("the fluid world has no jitter");
        let fault = fault.help("leave out `jitter`").command_help(", or run it with --world packets");
        assert_eq!(PlacedFault::from(&fault).help.as_deref(), Some("leave out `jitter`"));
        assert!(
            Faults::from(fault).render(false).contains("leave out `jitter`, or run it with --world packets")
        );
    }

    #[test]
    fn a_fault_without_a_place_has_no_line() {
        let placed = PlacedFault::from(&Sources::new(SCENARIO, "").plain("wrong"));
        assert_eq!(placed, PlacedFault::plain("wrong"));
    }
}
