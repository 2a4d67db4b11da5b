//! Expands the text of a recipe to TOML tables in which every entry of a list is explicit.
//!
//! ```text
//!   text --parse--> tables --base--> merged with the base --rows--> one entry per row --serde--> Recipe
//! ```
//!
//! Every value keeps its byte range in the text, so that errors can point at it.

mod base;
mod fault;
mod node;
mod rows;
mod variables;

pub(super) use base::Siblings;
pub(super) use fault::Fault;
pub use rows::{COLUMNS, ROWS};

use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};
use variables::Variables;

/// Reads the text of a recipe: merges its `base` from `siblings`, expands entries with `rows`, and replaces `{name}` by
/// its value.
///
/// # Errors
/// An error of TOML's syntax, of the table form, or of a key or type that `T` does not have, with its place.
pub(super) fn read<'i, T: DeserializeOwned>(text: &'i str, siblings: Siblings<'_, 'i>) -> Result<T, Fault> {
    let mut document = DeTable::parse(text)?;
    base::merge_base(document.get_mut(), siblings)?;
    let texts = Variables::of_texts(document.get_ref());
    rows::expand(document.get_mut(), &texts)?;
    key_protocols_by_name(document.get_mut())?;
    check_case_names(document.get_ref())?;
    Ok(T::deserialize(Deserializer::from(document))?)
}

/// Checks that no two cases have the same name.
fn check_case_names(document: &DeTable<'_>) -> Result<(), Fault> {
    let Some(DeValue::Array(cases)) = document.get("cases").map(Spanned::get_ref) else { return Ok(()) };
    let mut known = BTreeSet::new();
    for case in cases.iter() {
        let name = case.get_ref().get("name").map(|name| (name.span(), name.get_ref()));
        if let Some((span, DeValue::String(name))) = name
            && !known.insert(name.as_ref())
        {
            return Err(Fault::at(span, format!("case \"{name}\": another case has the same name")));
        }
    }
    Ok(())
}

/// Converts `[[scenario.protocols]]`, a list whose entries have a `name`, to the table of a scenario file.
fn key_protocols_by_name(document: &mut DeTable<'_>) -> Result<(), Fault> {
    let Some(DeValue::Table(scenario)) = document.get_mut("scenario").map(Spanned::get_mut) else {
        return Ok(());
    };
    let Some(protocols) = scenario.get_mut("protocols") else { return Ok(()) };
    let DeValue::Array(entries) = protocols.get_mut() else { return Ok(()) };
    let mut named = DeTable::new();
    for mut entry in std::mem::replace(entries, DeArray::new()) {
        let name = match entry.get_mut() {
            DeValue::Table(fields) => fields.remove("name").map(|name| (name.span(), name.into_inner())),
            _ => None,
        };
        let Some((span, DeValue::String(name))) = name else {
            return Err(Fault::at(entry.span(), "an entry of [[scenario.protocols]] has a name"));
        };
        if named.insert(Spanned::new(span.clone(), name), entry).is_some() {
            return Err(Fault::at(span, "another protocol entry has this name"));
        }
    }
    *protocols.get_mut() = DeValue::Table(named);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::read;
    use toml::Table;

    fn table(text: &str) -> Result<Table, String> {
        read(text, &|_| None).map_err(|fault| fault.show(text))
    }

    #[test]
    fn protocol_entries_in_a_list_become_a_table_under_their_names() {
        let list = "[[scenario.protocols]]\nprotocol = 'p'\ncolumns = ['name', 'params']\n\
                    rows = [['a', { x = 1 }], ['b', { x = 2 }]]";
        let plain = "[scenario.protocols]\na = { protocol = 'p', params = { x = 1 } }\nb = { protocol = 'p', params = { x = 2 } }";
        assert_eq!(table(list).unwrap(), plain.parse().unwrap());
        let nameless = table("[[scenario.protocols]]\nprotocol = 'p'").unwrap_err();
        assert!(nameless.contains("line 1") && nameless.contains("has a name"), "{nameless}");
    }
}
