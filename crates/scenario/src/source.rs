//! The texts that a scenario was read from, and faults that point into them.

use crate::excerpt::{Excerpt, printable, shortened};
use crate::place::Place;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The scenario file and its overrides. All values are equal, so that comparing scenarios ignores their texts.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<Arc<NamedSource<String>>>);

impl PartialEq for Sources {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Sources {
    /// The index of the text of the scenario itself; further texts are options of a command, and files that it names.
    pub(crate) const SCENARIO: usize = 0;

    /// Begins with the file called `name`.
    pub fn new(name: &str, text: &str) -> Self {
        let mut sources = Self::default();
        sources.add(name, text);
        sources
    }

    /// Adds a text; returns its index for [`Place::text`].
    pub fn add(&mut self, name: &str, text: &str) -> usize {
        self.0.push(Arc::new(NamedSource::new(name, text.to_owned())));
        self.0.len() - 1
    }

    /// Text number `text`.
    pub fn text(&self, text: usize) -> &str {
        self.0.get(text).map_or("", |source| source.inner().as_str())
    }

    /// The name of text number `text`.
    pub(crate) fn name(&self, text: usize) -> &str {
        self.0.get(text).map_or("", |source| source.name())
    }

    /// A fault of the value at `place`. `label` stands at the place, below the line.
    pub fn fault(&self, place: Place, message: impl Into<String>, label: impl Into<String>) -> Fault {
        let source = self.0.get(place.text).cloned();
        let length = source.as_ref().map_or(0, |s| s.inner().len());
        let start = place.start.min(length);
        let end = place.end.clamp(start, length);
        Fault {
            message: message.into(),
            label: label.into(),
            help: None,
            command_help: None,
            source,
            start,
            end,
        }
    }

    /// The fault, moved to `place` with this label if it has no place yet.
    pub(crate) fn placed(&self, fault: Fault, place: Place, label: &str) -> Fault {
        if fault.source.is_some() {
            return fault;
        }
        let (help, command_help) = (fault.help, fault.command_help);
        Fault { help, command_help, ..self.fault(place, fault.message, label) }
    }

    /// The place at which a fault of these texts points; the beginning of the first text if it points at none of them.
    pub(crate) fn place_of(&self, fault: &Fault) -> Place {
        let is_its = |source: &Arc<NamedSource<String>>| {
            fault.source.as_ref().is_some_and(|other| Arc::ptr_eq(source, other))
        };
        let text = self.0.iter().position(is_its);
        text.map_or_else(Place::default, |text| Place { text, start: fault.start, end: fault.end })
    }

    /// A fault without a place.
    pub fn plain(&self, message: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            label: String::new(),
            help: None,
            command_help: None,
            source: None,
            start: 0,
            end: 0,
        }
    }
}

/// A fault of a scenario or a trace: what is wrong, where, and what was expected.
#[derive(Clone, Debug)]
pub struct Fault {
    message: String,
    label: String,
    help: Option<String>,
    command_help: Option<&'static str>,
    source: Option<Arc<NamedSource<String>>>,
    start: usize,
    end: usize,
}

impl Fault {
    /// The fault with a help text: what was expected, the nearest spelling.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The fault with a clause that follows the help text where the reader uses the command: ", or run it with --world packets".
    #[must_use]
    pub fn command_help(mut self, clause: &'static str) -> Self {
        self.command_help = Some(clause);
        self
    }

    /// The message, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What stands at its place, in a few words; empty if it has no place.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What was expected, or the nearest spelling, without the clause for readers who use the command; empty if there is nothing
    /// to say.
    pub fn help_text(&self) -> &str {
        self.help.as_deref().unwrap_or_default()
    }

    /// The help text with the clause for readers who use the command.
    fn whole_help(&self) -> String {
        format!("{}{}", self.help_text(), self.command_help.unwrap_or_default())
    }

    /// The name of the text at which it points, the text, and the bytes in it; none without a place. The text of an
    /// override is called `--set`.
    pub fn place(&self) -> Option<(&str, &str, Range<usize>)> {
        let source = self.source.as_ref()?;
        Some((source.name(), source.inner(), self.start..self.end))
    }

    /// Message, label and help.
    pub(crate) fn texts(&self) -> [String; 3] {
        [self.message.clone(), self.label.clone(), self.whole_help()]
    }

    /// The fault, with the lines of others that have the same cause in its message.
    pub(crate) fn also_at(mut self, others: &[Self]) -> Self {
        const MOST_LINES: usize = 5;
        let others: Vec<&Self> = others.iter().filter(|other| other.place() != self.place()).collect();
        if others.is_empty() {
            return self;
        }
        let mut lines: Vec<String> =
            others.iter().take(MOST_LINES).map(|other| other.line().to_string()).collect();
        lines.dedup();
        let more = match others.len().saturating_sub(MOST_LINES) {
            0 => String::new(),
            more => format!(" and {more} times more"),
        };
        let word = if lines.len() == 1 { "line" } else { "lines" };
        self.message = format!("{} (also on {word} {}{more})", self.message, lines.join(", "));
        self
    }

    /// The line at which it points, from 1.
    pub fn line(&self) -> usize {
        let text = self.source.as_ref().map_or("", |s| s.inner().as_str());
        let before = text.as_bytes().get(..self.start).unwrap_or_default();
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// A fault as it is shown: its texts printable and not too long, its source cut to the lines around its place.
#[derive(Debug)]
struct ShownFault {
    message: String,
    label: Option<String>,
    help: Option<String>,
    excerpt: Option<Excerpt>,
}

impl From<&Fault> for ShownFault {
    fn from(fault: &Fault) -> Self {
        let excerpt = |source: &Arc<NamedSource<String>>| {
            Excerpt::new(source.name(), source.inner(), fault.start..fault.end)
        };
        Self {
            message: shortened(&fault.message),
            label: (!fault.label.is_empty()).then(|| shortened(&fault.label)),
            help: Some(fault.whole_help()).filter(|help| !help.is_empty()).map(|help| printable(&help)),
            excerpt: fault.source.as_ref().map(excerpt),
        }
    }
}

impl fmt::Display for ShownFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ShownFault {}

impl Diagnostic for ShownFault {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.excerpt.as_ref()?.place();
        Some(Box::new(std::iter::once(LabeledSpan::new(self.label.clone(), place.start, place.len()))))
    }
}

/// All faults, in the order of the file.
#[derive(Clone, Debug)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// More faults than this are counted, not shown.
    const MOST_SHOWN: usize = 20;
    /// The width of lines where there is no terminal.
    const WIDTH: usize = 100;

    /// The faults without the clauses of [`Fault::command_help`], for commands that have not the option that these name.
    #[must_use]
    pub fn without_command_help(mut self) -> Self {
        self.0.iter_mut().for_each(|fault| fault.command_help = None);
        self
    }

    /// The first faults with their lines, in lines of the usual width; with colours if `colour`.
    pub fn render(&self, colour: bool) -> String {
        self.render_within(colour, Self::WIDTH)
    }

    /// The first faults with their lines, for a terminal of this width; with colours if `colour`.
    pub fn render_within(&self, colour: bool, width: usize) -> String {
        let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(width).with_context_lines(1);
        let mut out = String::new();
        for fault in self.0.iter().take(Self::MOST_SHOWN) {
            let shown = ShownFault::from(fault);
            if handler.render_report(&mut out, &shown).is_err() {
                out.push_str(&shown.message);
            }
        }
        match self.0.len().saturating_sub(Self::MOST_SHOWN) {
            0 => {}
            more => out.push_str(&format!("  and {more} more errors\n")),
        }
        out
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Faults {}
