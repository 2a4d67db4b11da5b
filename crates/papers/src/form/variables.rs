//! Variables: `{name}` in a text is replaced by the value of a column or by a text of `[texts]`.

use super::fault::Fault;
use super::node::SpannedValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The values of variables by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables<'i>(BTreeMap<String, SpannedValue<'i>>);

impl<'i> Variables<'i> {
    /// The texts of `[texts]`.
    pub(super) fn of_texts(document: &DeTable<'i>) -> Self {
        let texts = document.get("texts").and_then(|texts| texts.get_ref().as_table());
        let variable = |(name, text): (&Spanned<Cow<'i, str>>, &SpannedValue<'i>)| {
            (name.get_ref().to_string(), text.clone())
        };
        Self(texts.into_iter().flat_map(DeTable::iter).map(variable).collect())
    }

    /// Adds a variable, or replaces the one of the same name.
    pub(super) fn set(&mut self, name: &str, value: SpannedValue<'i>) {
        self.0.insert(name.to_owned(), value);
    }

    /// Replaces every `{name}` in a value, also in its keys. A text that is `{name}` alone becomes the value of the
    /// variable with its type.
    ///
    /// # Errors
    /// The variable does not exist, or it is neither text nor number and occurs inside a longer text.
    pub(super) fn fill(&self, node: &mut SpannedValue<'i>) -> Result<(), Fault> {
        let span = node.span();
        match node.get_mut() {
            DeValue::String(text) if text.contains('{') => {
                let alone = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                *node = match alone.filter(|name| !name.contains(['{', '}'])) {
                    Some(name) => self.get(name, &span)?.clone(),
                    None => Spanned::new(span.clone(), DeValue::String(self.text(text, &span)?.into())),
                };
                Ok(())
            }
            DeValue::Array(items) => items.iter_mut().try_for_each(|item| self.fill(item)),
            DeValue::Table(fields) => self.fill_table(fields),
            _ => Ok(()),
        }
    }

    /// The same for the keys and values of a table.
    pub(super) fn fill_table(&self, fields: &mut DeTable<'i>) -> Result<(), Fault> {
        for (key, mut value) in std::mem::take(fields) {
            self.fill(&mut value)?;
            let name = self.text(key.get_ref(), &key.span())?;
            fields.insert(Spanned::new(key.span(), name.into()), value);
        }
        Ok(())
    }

    fn text(&self, text: &str, span: &Range<usize>) -> Result<String, Fault> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            filled.push_str(before);
            filled.push_str(&self.as_text(name, span)?);
            rest = after;
        }
        Ok(filled + rest)
    }

    /// A value as part of a text; numbers as they are written.
    fn as_text(&self, name: &str, span: &Range<usize>) -> Result<String, Fault> {
        match self.get(name, span)?.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(digits) => Ok(digits.to_string()),
            DeValue::Float(digits) => Ok(digits.to_string()),
            value => {
                let kind = value.type_str();
                let message = format!(
                    "{{{name}}} is a value of type {kind}; inside a text, a text or a number is expected"
                );
                Err(Fault::at(span.clone(), message))
            }
        }
    }

    fn get(&self, name: &str, span: &Range<usize>) -> Result<&SpannedValue<'i>, Fault> {
        self.0.get(name).ok_or_else(|| {
            let names = self.0.keys().map(String::as_str);
            let nearest = millpond_units::nearest(name, names);
            let hint = nearest.map_or(String::new(), |near| format!(" (did you mean {{{near}}}?)"));
            Fault::at(span.clone(), format!("{{{name}}} is neither a column nor one of [texts]{hint}"))
        })
    }
}

/// Whether `{name}` occurs in a text or key of this value.
pub(super) fn mentions(node: &DeValue<'_>, name: &str) -> bool {
    let occurs = |text: &str| {
        text.split('{').skip(1).any(|part| part.strip_prefix(name).is_some_and(|rest| rest.starts_with('}')))
    };
    match node {
        DeValue::String(text) => occurs(text),
        DeValue::Array(items) => items.iter().any(|item| mentions(item.get_ref(), name)),
        DeValue::Table(fields) => {
            fields.iter().any(|(key, value)| occurs(key.get_ref()) || mentions(value.get_ref(), name))
        }
        _ => false,
    }
}
