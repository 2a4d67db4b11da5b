//! The text of a recipe as TOML tables in which every entry of a list is written out.
//!
//! ```text
//!   text --parse--> tables --base--> with the sibling's scenario --rows--> one entry per row --serde--> Recipe
//! ```
//!
//! Every value keeps the bytes of the text that it was written in, so that an error points at them.

mod base;
mod fault;
mod node;
mod rows;
mod variables;

pub(super) use base::Siblings;
pub(super) use fault::Fault;
#[cfg(test)]
pub(super) use rows::{COLUMNS, ROWS};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};
use variables::Variables;

/// Reads a recipe's text: `base` is looked up in `siblings`, entries with `rows` are written out, and `{name}` is
/// replaced by its value.
///
/// # Errors
/// What is wrong and where: TOML's syntax, the table form, or a key or type that `T` does not have.
pub(super) fn read<'i, T: DeserializeOwned>(text: &'i str, siblings: Siblings<'_, 'i>) -> Result<T, Fault> {
    let mut document = DeTable::parse(text)?;
    base::lay_under(document.get_mut(), siblings)?;
    let texts = Variables::of_texts(document.get_ref());
    rows::write_out(document.get_mut(), &texts)?;
    name_protocols(document.get_mut())?;
    Ok(T::deserialize(Deserializer::from(document))?)
}

/// Turns `[[scenario.protocols]]`, a list whose entries have a `name`, into the table of a scenario file.
fn name_protocols(document: &mut DeTable<'_>) -> Result<(), Fault> {
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
            return Err(Fault::at(span, "a protocol entry of this name stands above"));
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
