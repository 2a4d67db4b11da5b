//! Reading one TOML table: every key must be declared, and the required ones must be there.

use super::form::Describe;
use super::{KeyTable, ReadContext, Rule, ScenarioKey, Written};
use crate::model::ProtocolEntry;
use crate::place::At;
use crate::tree::{self, Raw, TomlNode, TomlTable};
use millpond_units::nearest;

/// This many unknown keys of a table are compared with the known ones.
const MOST_COMPARED: usize = 100;

/// One TOML table being read.
pub(crate) struct Fields<'a> {
    /// The table as a value.
    pub(crate) written: Written<'a>,
    table: &'a TomlTable,
    /// What the table describes, for messages: "link".
    name: &'static str,
    known: Vec<&'static str>,
    missing: Vec<Missing>,
}

/// A required key that is not written.
struct Missing {
    key: &'static str,
    example: &'static str,
}

impl<T> ScenarioKey<T> {
    /// Stores the default, if the key has one.
    pub(super) fn read_default(&'static self, value: &mut T, context: &ReadContext<'_>) {
        if let Some(text) = self.rule.default_value()
            && let Some(node) = tree::constant(text)
        {
            let table = TomlTable::default();
            let written = Written { context, node: &node, form: &self.form, table: &table };
            let _ = (self.read)(value, &written);
        }
    }
}

impl Rule {
    /// The TOML value that holds if the key is absent.
    pub(crate) const fn default_value(&self) -> Option<&'static str> {
        match self {
            Self::Default(text) => Some(text),
            Self::With(_, rule) => rule.default_value(),
            _ => None,
        }
    }

    /// A value of the key, if it has no default.
    pub(crate) const fn example(&self) -> Option<&'static str> {
        match self {
            Self::Required(text) | Self::OneOf(text) => Some(text),
            Self::With(_, rule) => rule.example(),
            _ => None,
        }
    }
}

impl<'a> Fields<'a> {
    /// Begins to read `written`, which must be a table that describes a `name`.
    pub(crate) fn new(written: &Written<'a>, name: &'static str) -> Option<Self> {
        match &written.node.value {
            Raw::Table(table) => {
                Some(Self { written: *written, table, name, known: Vec::new(), missing: Vec::new() })
            }
            _ => written.expected(&format!("a table: the {name}'s keys")),
        }
    }

    /// Reads the keys of `keys`. `None` if a required one is wrong or missing.
    pub(crate) fn read<T>(&mut self, keys: &'static KeyTable<T>) -> Option<T> {
        let mut value = (keys.blank)();
        self.read_keys(keys, &mut value, true).then_some(value)
    }

    /// Reads the keys of `keys`. What is wrong or missing keeps its default or blank value.
    pub(crate) fn read_partly<T>(&mut self, keys: &'static KeyTable<T>) -> T {
        let mut value = (keys.blank)();
        self.read_into(keys, &mut value);
        value
    }

    /// Reads the keys of `keys` into `value`. What is wrong or missing keeps its default, or the present value.
    pub(crate) fn read_into<T>(&mut self, keys: &'static KeyTable<T>, value: &mut T) {
        self.read_keys(keys, value, true);
    }

    /// Reads the keys of `keys` that are written into `value`. None of them is required.
    pub(crate) fn change<T>(&mut self, keys: &'static KeyTable<T>, value: &mut T) {
        self.read_keys(keys, value, false);
    }

    /// Adds a key that may be written here.
    fn add_known(&mut self, name: &'static str) {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
    }

    /// Whether this key is written.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Makes [`Self::finish`] report this key as missing.
    pub(crate) fn require(&mut self, key: &'static str, example: &'static str) {
        self.missing.push(Missing { key, example });
    }

    /// Reads all keys; returns whether those that are required are right.
    fn read_keys<T>(&mut self, keys: &'static KeyTable<T>, value: &mut T, with_defaults: bool) -> bool {
        let mut chosen = Vec::new();
        let mut complete = true;
        loop {
            let selectors = selectors(keys, &chosen);
            if selectors.is_empty() {
                break;
            }
            let Some(key) = self.choose(keys, &selectors, &chosen) else {
                keys.keys.iter().for_each(|key| self.add_known(key.name));
                return false;
            };
            complete &= self.read_key(key, value).unwrap_or(true);
            chosen.push(key.name);
        }
        for key in keys.keys {
            let Some(rule) = key.rule.beside(&chosen).filter(|rule| !matches!(rule, Rule::OneOf(_))) else {
                continue;
            };
            self.add_known(key.name);
            let read = self.read_key(key, value);
            if read != Some(true) && with_defaults {
                key.read_default(value, self.written.context);
            }
            if let (Rule::Required(example), true) = (rule, with_defaults) {
                complete &= read == Some(true);
                if read.is_none() {
                    self.require(key.name, example);
                }
            }
        }
        complete
    }

    /// Reads one key if it is written; returns whether it is right.
    fn read_key<T>(&self, key: &'static ScenarioKey<T>, value: &mut T) -> Option<bool> {
        let node = self.table.get(key.name)?;
        let written = Written { context: self.written.context, node, form: &key.form, table: self.table };
        Some((key.read)(value, &written).is_some())
    }

    /// The one of `selectors` that is written. If an override brought a second one, it replaces that of the file. A
    /// misspelt one is left to [`Self::finish`].
    fn choose<T>(
        &mut self,
        keys: &'static KeyTable<T>,
        selectors: &[&'static ScenarioKey<T>],
        chosen: &[&'static str],
    ) -> Option<&'static ScenarioKey<T>> {
        let names: Vec<_> = selectors.iter().map(|key| key.name).collect();
        names.iter().for_each(|name| self.add_known(name));
        let written: Vec<_> =
            selectors.iter().filter_map(|key| Some((*key, self.table.get(key.name)?.place.text))).collect();
        let newest = written.iter().map(|&(_, text)| text).max();
        let mut candidates = written.iter().filter(|&&(_, text)| Some(text) == newest);
        match (candidates.next(), candidates.next()) {
            (Some(&(key, _)), None) => Some(key),
            (None, _) if self.misspells(&names) => None,
            _ => {
                let message = format!("expected one of {}", names.join(", "));
                let label = "exactly one of them must be here";
                self.written.report(message, label, format!("write {}", forms(keys, selectors, chosen)))
            }
        }
    }

    /// Whether an unknown key is a misspelling of one of these.
    fn misspells(&self, names: &[&'static str]) -> bool {
        let unknown = self.table.entries.iter().filter(|(key, _)| !self.known.contains(&key.value.as_str()));
        unknown.into_iter().take(MOST_COMPARED).any(|(key, _)| nearest(key, names.iter().copied()).is_some())
    }

    /// Reports every unknown key, and every missing one of which none of them is a misspelling.
    pub(crate) fn finish(self) {
        let Self { written, table, name, known, missing } = self;
        let faults = written.context.faults;
        let is_rows = |(key, _): &&(At<String>, TomlNode)| key.value == "rows" && !known.contains(&"rows");
        if let Some((rows, _)) = table.entries.iter().find(is_rows) {
            let message =
                format!("a {name} has no rows: the table form with columns and rows is that of recipes");
            let help = "write one table for each row; `millpond papers check FILE` runs a recipe";
            let _: Option<()> = faults.report(rows.place, message, "the table form of recipes", help);
            return;
        }
        let mut misspelt = Vec::new();
        let unknown = table.entries.iter().filter(|(key, _)| !known.contains(&key.value.as_str()));
        for (number, (key, _)) in unknown.enumerate() {
            if number >= MOST_COMPARED {
                let message = format!("unknown key of a {name} \"{}\"", key.value);
                let _: Option<()> = faults.report(key.place, message, "no such key", "");
                continue;
            }
            if written.context.top_keys.contains(&key.value.as_str()) {
                faults.misplaced(key, name, &known);
                continue;
            }
            let _: Option<()> = match (written.context.other_table_with)(&key.value, name) {
                Some(other) => faults.of_other_table(key, name, other, &known),
                None if known.contains(&ProtocolEntry::PARAMS)
                    && nearest(key, known.iter().copied()).is_none() =>
                {
                    faults.perhaps_of_law(key, name, &known)
                }
                None => faults.unknown(key, &format!("key of a {name}"), known.iter().copied()),
            };
            misspelt.extend(nearest(key, known.iter().copied()));
        }
        let is_absent =
            |missing: &Missing| !misspelt.contains(&missing.key) && !faults.is_misplaced(missing.key);
        for Missing { key, example } in missing.into_iter().filter(is_absent) {
            let message = format!("this {name} has no \"{key}\"");
            let _: Option<()> = written.report(message, "in here", format!("write {key} = {example}"));
        }
    }
}

/// The keys of which exactly one must be there, beside those in `chosen`; none if one of them is chosen.
fn selectors<T>(keys: &'static KeyTable<T>, chosen: &[&str]) -> Vec<&'static ScenarioKey<T>> {
    let level = |key: &ScenarioKey<T>| match key.rule {
        Rule::OneOf(_) => chosen.is_empty(),
        Rule::With(selectors, Rule::OneOf(_)) => chosen.len() == 1 && selectors.contains(&chosen[0]),
        _ => false,
    };
    keys.keys.iter().filter(|key| level(key)).collect()
}

/// An example of each form that one of `selectors` selects, for messages.
fn forms<T>(
    keys: &'static KeyTable<T>,
    selectors: &[&'static ScenarioKey<T>],
    chosen: &[&'static str],
) -> String {
    if chosen.is_empty() {
        return keys.forms();
    }
    let pair = |key: &&'static ScenarioKey<T>| match key.rule {
        Rule::With(_, Rule::OneOf(example)) => Some(format!("{} = {example}", key.name)),
        _ => None,
    };
    let forms: Vec<String> = selectors.iter().filter_map(pair).collect();
    joined(&forms)
}

/// `a, b or c`.
fn joined(forms: &[String]) -> String {
    match forms.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => forms.concat(),
    }
}

impl<T> KeyTable<T> {
    /// An example of each form, for messages.
    pub(crate) fn forms(&'static self) -> String {
        joined(&(self as &dyn Describe).examples())
    }
}
