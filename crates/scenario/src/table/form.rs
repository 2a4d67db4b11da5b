//! How values are written: units and ranges, for reading, the schema and the documentation.

use super::{KeyTable, Rule, ScenarioKey};
use millpond_units::{Bytes, Rate, Span};

/// How the value of a key is written. Ranges are closed.
pub(crate) enum Form {
    /// Any text.
    Text,
    /// Letters, digits, hyphens and underscores.
    Name,
    /// A name, or a name with settings behind a colon.
    ProtocolName,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Whole { least: u64, most: u64 },
    /// A number.
    Number { least: f64, most: f64 },
    /// A number, which may also be written as a percentage.
    Share { least: f64, most: f64 },
    /// Any finite number.
    Finite,
    /// A length of time.
    Span { least: Span, most: Span },
    /// A time since the start of the run.
    Time,
    /// An amount of data.
    Bytes { least: Bytes, most: Bytes },
    /// A bit rate.
    Rate { least: Rate, most: Rate },
    /// A number with this unit, such as `"500packets"`; is it a whole number?
    Count { unit: &'static str, whole: bool },
    /// This text.
    Word(&'static str),
    /// One of these texts.
    Words(fn() -> Vec<&'static str>),
    /// A list.
    List { item: &'static Form, least: usize },
    /// Two values.
    Pair(&'static Form, &'static Form),
    /// Two values of one form, the second no less than the first.
    Range(&'static Form),
    /// One of these forms.
    AnyOf(&'static [Form]),
    /// A value that a table of keys describes.
    Table(&'static dyn Describe),
    /// A list of such tables.
    Tables(&'static dyn Describe),
    /// A table with a name for each such table.
    NamedTables(&'static dyn Describe),
    /// A table with any keys for values of this form.
    Map(&'static Form),
    /// A table with a single key of any name.
    SingleKey(&'static Form),
}

/// The longest run: the range of [`millpond_units::Time`].
pub(crate) const LONGEST_RUN: Span = Span::from_millis(213 * 86_400_000);

impl Form {
    /// A time above zero and no longer than the longest run.
    pub(crate) const POSITIVE_SPAN: Self = Self::Span { least: Span::from_picos(1), most: LONGEST_RUN };
    /// A length of time without bounds.
    pub(crate) const ANY_SPAN: Self = Self::Span { least: Span::ZERO, most: Span::MAX };
    /// An amount of data above zero.
    pub(crate) const SOME_BYTES: Self = Self::Bytes { least: Bytes::new(1), most: Bytes::MAX };
    /// An amount of data without bounds.
    pub(crate) const ANY_BYTES: Self = Self::Bytes { least: Bytes::ZERO, most: Bytes::MAX };
    /// A probability.
    pub(crate) const PROBABILITY: Self = Self::Share { least: 0.0, most: 1.0 };
    /// The shape of a Pareto distribution that has a mean.
    pub(crate) const PARETO_SHAPE: Self = Self::Number { least: 1.001, most: 100.0 };

    /// The tables in this form.
    pub(crate) fn tables(&'static self) -> Vec<&'static dyn Describe> {
        match self {
            Self::Table(table) | Self::Tables(table) | Self::NamedTables(table) => vec![*table],
            Self::List { item, .. } | Self::Range(item) | Self::Map(item) | Self::SingleKey(item) => {
                item.tables()
            }
            Self::Pair(first, second) => [first.tables(), second.tables()].concat(),
            Self::AnyOf(forms) => forms.iter().flat_map(Self::tables).collect(),
            _ => Vec::new(),
        }
    }
}

/// A table of keys without the type that it describes.
pub(crate) trait Describe: Sync {
    /// What it describes.
    fn name(&self) -> &'static str;
    /// The form without keys, an example of it, and its meaning.
    fn plain(&'static self) -> Option<PlainInfo>;
    /// Its keys.
    fn keys(&'static self) -> Vec<KeyInfo>;
    /// For a table that the documentation does not list by itself: its keys in words, as Markdown.
    fn summary(&self) -> Option<&'static str> {
        None
    }
}

/// A form without keys, without the type that it describes.
#[derive(Clone, Copy)]
pub(crate) struct PlainInfo {
    pub(crate) form: &'static Form,
    pub(crate) example: &'static str,
    pub(crate) meaning: &'static str,
}

/// A key without the type that it describes.
#[derive(Clone, Copy)]
pub(crate) struct KeyInfo {
    pub(crate) name: &'static str,
    pub(crate) form: &'static Form,
    pub(crate) rule: &'static Rule,
    pub(crate) meaning: &'static str,
}

impl<T> ScenarioKey<T> {
    pub(crate) fn info(&'static self) -> KeyInfo {
        KeyInfo { name: self.name, form: &self.form, rule: &self.rule, meaning: self.meaning }
    }
}

impl<T> Describe for KeyTable<T> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn plain(&'static self) -> Option<PlainInfo> {
        let info = |plain: &'static super::PlainForm<T>| PlainInfo {
            form: &plain.form,
            example: plain.example,
            meaning: plain.meaning,
        };
        self.plain.as_ref().map(info)
    }
    fn keys(&'static self) -> Vec<KeyInfo> {
        self.keys.iter().map(ScenarioKey::info).collect()
    }
}

/// Several tables of keys that stand in one TOML table.
pub(crate) struct JoinedTable {
    /// What it describes.
    pub(crate) name: &'static str,
    pub(crate) parts: &'static [&'static dyn Describe],
    /// If this is given no key is required, and it says what holds instead.
    pub(crate) otherwise: Option<&'static Rule>,
    /// See [`Describe::summary`].
    pub(crate) summary: Option<&'static str>,
}

impl Describe for JoinedTable {
    fn name(&self) -> &'static str {
        self.name
    }
    fn plain(&'static self) -> Option<PlainInfo> {
        None
    }
    fn keys(&'static self) -> Vec<KeyInfo> {
        let keys = self.parts.iter().flat_map(|part| part.keys());
        keys.map(|key| KeyInfo { rule: self.otherwise.unwrap_or(key.rule), ..key }).collect()
    }
    fn summary(&self) -> Option<&'static str> {
        self.summary
    }
}

impl dyn Describe {
    /// A value in each form: the plain one, and one for each key that selects a form.
    pub(crate) fn examples(&'static self) -> Vec<String> {
        let plain = self.plain().map(|plain| plain.example.to_owned());
        let keys = self.keys();
        let selectors: Vec<_> = keys.iter().filter(|key| matches!(key.rule, Rule::OneOf(_))).collect();
        if selectors.is_empty() {
            return plain.into_iter().chain([example(&keys, None)]).collect();
        }
        plain.into_iter().chain(selectors.into_iter().map(|key| example(&keys, Some(key)))).collect()
    }
}

/// An inline table with the key that selects the form and all that is required beside it.
pub(crate) fn example(keys: &[KeyInfo], selector: Option<&KeyInfo>) -> String {
    let chosen: Vec<_> = selector.map(|key| key.name).into_iter().collect();
    let mut has_choice = false;
    let pair = |key: &KeyInfo| {
        let needed = match key.rule.beside(&chosen)? {
            Rule::Required(example) => example,
            Rule::OneOf(example) if chosen.contains(&key.name) => example,
            Rule::OneOf(example) if matches!(key.rule, Rule::With(..)) && !has_choice => {
                has_choice = true;
                example
            }
            _ => return None,
        };
        Some((key.name, (*needed).to_owned()))
    };
    super::inline_table(keys.iter().filter_map(pair))
}
