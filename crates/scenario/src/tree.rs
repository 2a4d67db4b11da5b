//! TOML as a tree whose values have a position, in the file or in an override.

use crate::place::{At, Place};
use crate::source::{Fault, Faults, Sources};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct TomlNode {
    pub(crate) place: Place,
    pub(crate) value: Raw,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Raw {
    Text(String),
    Whole(i128),
    Number(f64),
    Flag(bool),
    Date,
    List(Vec<TomlNode>),
    Table(TomlTable),
}

/// Keys and values in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TomlTable {
    pub(crate) entries: Vec<(At<String>, TomlNode)>,
}

impl Raw {
    /// What it is, in words.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Text(text) => format!("the text \"{text}\""),
            Self::Whole(n) => format!("the number {n}"),
            Self::Number(x) => format!("the number {x}"),
            Self::Flag(flag) => format!("{flag}"),
            Self::Date => "a date".into(),
            Self::List(_) => "a list".into(),
            Self::Table(_) => "a table".into(),
        }
    }
}

impl Raw {
    /// The value as JSON; `None` for a date.
    pub(crate) fn to_json(&self) -> Option<serde_json::Value> {
        Some(match self {
            Self::Text(text) => text.as_str().into(),
            Self::Whole(n) => i64::try_from(*n).ok()?.into(),
            Self::Number(x) => (*x).into(),
            Self::Flag(flag) => (*flag).into(),
            Self::Date => return None,
            Self::List(items) => items.iter().map(|item| item.value.to_json()).collect::<Option<_>>()?,
            Self::Table(table) => {
                let pair =
                    |(key, node): &(At<String>, TomlNode)| Some((key.value.clone(), node.value.to_json()?));
                let pairs: Option<serde_json::Map<_, _>> = table.entries.iter().map(pair).collect();
                pairs?.into()
            }
        })
    }
}

impl TomlTable {
    pub(crate) fn get(&self, key: &str) -> Option<&TomlNode> {
        self.entries.iter().find(|(name, _)| name.value == key).map(|(_, node)| node)
    }

    /// The value of this key, an empty table if there was none.
    pub(crate) fn entry(&mut self, key: &At<String>) -> &mut TomlNode {
        let known = self.entries.iter().position(|(name, _)| name.value == key.value);
        let index = known.unwrap_or_else(|| {
            let empty = TomlNode { place: key.place, value: Raw::Table(Self::default()) };
            self.entries.push((key.clone(), empty));
            self.entries.len() - 1
        });
        &mut self.entries[index].1
    }
}

/// Reads text number `text` of `sources` as a TOML document.
///
/// # Errors
/// The errors of its syntax, in the order of the text.
pub(crate) fn document(sources: &Sources, text: usize) -> Result<TomlNode, Faults> {
    let (parsed, errors) = DeTable::parse_recoverable(sources.text(text));
    if !errors.is_empty() {
        return Err(syntax_faults(sources, text, &errors));
    }
    let place = Place { text, start: 0, end: 0 };
    Ok(TomlNode { place, value: Raw::Table(table(text, 0, parsed.into_inner())) })
}

/// The first error of each line. An array or a table that is not closed contains all lines after it, so that the parser finds
/// errors in correct lines: then the first error alone.
fn syntax_faults(sources: &Sources, text: usize, errors: &[toml::de::Error]) -> Faults {
    if errors.iter().any(|error| error.message().starts_with("unclosed ")) {
        return Faults(errors.iter().take(1).map(|error| syntax(sources, text, 0, error)).collect());
    }
    let start = |error: &toml::de::Error| error.span().unwrap_or_default().start;
    let mut sorted: Vec<&toml::de::Error> = errors.iter().collect();
    sorted.sort_by_key(|error| start(error));
    let mut faults: Vec<Fault> = sorted.into_iter().map(|error| syntax(sources, text, 0, error)).collect();
    faults.dedup_by_key(|fault| fault.line());
    Faults(faults)
}

/// Reads what begins at byte `offset` of text number `text` as one TOML value.
pub(crate) fn value(sources: &Sources, text: usize, offset: usize) -> Result<TomlNode, Fault> {
    let written = sources.text(text).get(offset..).unwrap_or_default();
    let parsed = DeValue::parse(written).map_err(|error| syntax(sources, text, offset, &error))?;
    Ok(node(text, offset, parsed))
}

/// Reads a default value or an example of a key.
pub(crate) fn constant(text: &str) -> Option<TomlNode> {
    DeValue::parse(text).ok().map(|parsed| TomlNode { place: Place::default(), ..node(0, 0, parsed) })
}

fn syntax(sources: &Sources, text: usize, offset: usize, error: &toml::de::Error) -> Fault {
    let span = error.span().unwrap_or_default();
    let place = Place { text, start: offset + span.start, end: offset + span.end };
    sources.fault(place, format!("not TOML: {}", error.message()), "here")
}

fn node(text: usize, offset: usize, spanned: Spanned<DeValue<'_>>) -> TomlNode {
    let place = place(text, offset, &spanned);
    let value = match spanned.into_inner() {
        DeValue::String(string) => Raw::Text(string.into_owned()),
        DeValue::Integer(digits) => match i128::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(whole) => Raw::Whole(whole),
            Err(_) => Raw::Number(f64::INFINITY),
        },
        DeValue::Float(digits) => Raw::Number(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Raw::Flag(flag),
        DeValue::Datetime(_) => Raw::Date,
        DeValue::Array(items) => Raw::List(items.into_iter().map(|item| node(text, offset, item)).collect()),
        DeValue::Table(entries) => Raw::Table(table(text, offset, entries)),
    };
    TomlNode { place, value }
}

fn table(text: usize, offset: usize, entries: DeTable<'_>) -> TomlTable {
    let entry = |(key, value): (Spanned<std::borrow::Cow<'_, str>>, _)| {
        let place = place(text, offset, &key);
        (At::new(key.into_inner().into_owned(), place), node(text, offset, value))
    };
    let mut entries: Vec<_> = entries.into_iter().map(entry).collect();
    entries.sort_by_key(|(key, _)| key.place);
    TomlTable { entries }
}

fn place<T>(text: usize, offset: usize, spanned: &Spanned<T>) -> Place {
    let span = spanned.span();
    Place { text, start: offset + span.start, end: offset + span.end }
}
