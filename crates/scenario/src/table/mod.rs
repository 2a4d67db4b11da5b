//! The tables of keys: each TOML table of a scenario is declared once, as a [`KeyTable`] with one [`ScenarioKey`] per key.
//!
//! Reading, writing, the nearest spelling of a mistyped key, the JSON Schema and the tables of `docs/scenario.md` all
//! use these declarations. A new key needs a field of the model and an entry of its table.

mod fields;
mod form;
mod value;
mod write;
mod written;

pub(crate) use fields::Fields;
pub(crate) use form::{Describe, Form, JoinedTable, KeyInfo, LONGEST_RUN};
pub(crate) use value::{Field, Keyword, put, set, spellings};
pub(crate) use write::{array, inline_table, key_name, number, text};
pub(crate) use written::{ReadContext, SEPARATOR, TraceCache, Written, is_name, is_protocol_name, respelt};

/// One key of a TOML table that describes a `T`.
pub(crate) struct ScenarioKey<T: 'static> {
    /// As users write it.
    pub(crate) name: &'static str,
    /// How its value is written, with unit and range.
    pub(crate) form: Form,
    /// Whether it must be there, and what holds if it is not.
    pub(crate) rule: Rule,
    /// What it does, as Markdown for the documentation.
    pub(crate) meaning: &'static str,
    /// Stores the written value. Returns `None` after it has reported a fault.
    pub(crate) read: fn(&mut T, &Written<'_>) -> Option<()>,
    /// The value as TOML for the resolved scenario; `None` if the key is left out.
    pub(crate) write: fn(&T) -> Option<String>,
}

/// A [`ScenarioKey`] whose value is a field of the model, read from and written to TOML as it is.
macro_rules! stored_key {
    (
        name: $name:expr,
        form: $form:expr,
        rule: $rule:expr,
        meaning: $meaning:expr,
        field: $($field:ident).+,
    ) => {
        $crate::table::ScenarioKey {
            name: $name,
            form: $form,
            rule: $rule,
            meaning: $meaning,
            read: |model, written| written.store(&mut model.$($field).+),
            write: |model| $crate::table::put(&model.$($field).+),
        }
    };
}

pub(crate) use stored_key;

/// When a key must be there, and what holds if it is not.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// It must be there. Has an example of a value.
    Required(&'static str),
    /// This TOML value holds if it is absent.
    Default(&'static str),
    /// If it is absent, what these words say holds.
    Absent(&'static str),
    /// Exactly one of the table's keys with this rule must be there. Has an example of a value.
    OneOf(&'static str),
    /// It may only stand beside one of these keys, under another rule.
    With(&'static [&'static str], &'static Rule),
}

/// The keys of one TOML table that describes a `T`, or of a value that may also be written without keys.
pub(crate) struct KeyTable<T: 'static> {
    /// What it describes, for messages: "link".
    pub(crate) name: &'static str,
    /// The value before any key is read.
    pub(crate) blank: fn() -> T,
    /// The form without keys, such as `"15ms"`.
    pub(crate) plain: Option<PlainForm<T>>,
    /// Its keys, in the order in which they are read and written.
    pub(crate) keys: &'static [ScenarioKey<T>],
}

/// A form without keys.
pub(crate) struct PlainForm<T: 'static> {
    pub(crate) form: Form,
    /// A value in this form.
    pub(crate) example: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) read: fn(&Written<'_>) -> Option<T>,
    /// `None` if the value needs keys.
    pub(crate) write: fn(&T) -> Option<String>,
}

impl<T> KeyTable<T> {
    /// Reads a value: its plain form or a table. `None` if that or a required key is wrong.
    pub(crate) fn read(&'static self, written: &Written<'_>) -> Option<T> {
        match &self.plain {
            Some(_) if written.is_list() => self.list_without_key(written),
            Some(plain) if !written.is_table() => (plain.read)(&written.with_form(&plain.form)),
            _ => {
                let mut fields = Fields::new(written, self.name)?;
                let value = fields.read(self);
                fields.finish();
                value
            }
        }
    }

    /// Reports a list in place of the plain form, which never is one; a key may take it.
    fn list_without_key(&self, written: &Written<'_>) -> Option<T> {
        let plain = self.plain.as_ref().map_or("", |plain| plain.example);
        let list = self.keys.iter().find(|key| matches!(key.form, Form::List { .. }));
        let keyed = list.map_or_else(String::new, |key| format!(", or {{ {} = [...] }}", key.name));
        written.report(
            format!("a list in place of a {}", self.name),
            "a list",
            format!("expected a value such as {plain}{keyed}"),
        )
    }

    /// The value if no key is written.
    pub(crate) fn defaults(&'static self, context: &ReadContext<'_>) -> T {
        let mut value = (self.blank)();
        self.keys.iter().for_each(|key| key.read_default(&mut value, context));
        value
    }

    /// The value as TOML: its plain form or an inline table.
    pub(crate) fn write(&self, value: &T) -> String {
        let plain = self.plain.as_ref().and_then(|plain| (plain.write)(value));
        plain.unwrap_or_else(|| inline_table(self.pairs(value)))
    }

    /// The keys as lines of a TOML table.
    pub(crate) fn lines(&self, value: &T) -> String {
        let line = |(name, value): (&str, String)| format!("{name} = {value}\n");
        self.pairs(value).map(line).collect()
    }

    fn pairs(&self, value: &T) -> impl Iterator<Item = (&'static str, String)> {
        self.keys.iter().filter_map(|key| Some((key.name, (key.write)(value)?)))
    }
}

impl Rule {
    /// The rule that holds for a key beside the keys in `chosen`; `None` if it may not stand there.
    pub(crate) fn beside(&'static self, chosen: &[&str]) -> Option<&'static Self> {
        match self {
            Self::With(selectors, rule) => {
                selectors.iter().any(|selector| chosen.contains(selector)).then_some(*rule)
            }
            _ => Some(self),
        }
    }
}
