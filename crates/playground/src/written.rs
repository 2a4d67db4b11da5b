//! A scenario's text as a document of which single values are read and replaced; comments and spaces stay.

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// The document of a text.
///
/// # Errors
/// The text is no TOML.
pub(crate) fn document(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| error.message().to_owned())
}

/// Replaces one value as `--set` does: `links.L1.rate=5Mbps`. Items of lists are addressed by name; missing tables are added.
///
/// # Errors
/// The override has no `=`, an empty name, or the name of no item.
pub(crate) fn replace(document: &mut DocumentMut, expression: &str) -> Result<(), String> {
    let (path, value) =
        expression.split_once('=').ok_or_else(|| format!("\"{expression}\": an override is key=value"))?;
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(format!("\"{expression}\": a name of the key is empty"));
    }
    set(document.as_table_mut(), &keys, value_of(value), false)
}

/// The value after the equals sign: a TOML value, or a text without quotes.
fn value_of(written: &str) -> Value {
    let trimmed = written.trim();
    match trimmed.parse::<Value>() {
        Ok(Value::Datetime(_)) | Err(_) => Value::from(trimmed),
        Ok(value) => value,
    }
}

/// Sets a value below a table. Tables that are missing become inline tables within an inline table.
fn set(table: &mut dyn TableLike, keys: &[&str], value: Value, is_inline: bool) -> Result<(), String> {
    let [key, rest @ ..] = keys else { return Ok(()) };
    if rest.is_empty() {
        replace_value(table, key, value);
        return Ok(());
    }
    if table.get(key).is_none_or(Item::is_none) {
        let added = if is_inline {
            Item::Value(Value::InlineTable(InlineTable::new()))
        } else {
            let mut added = Table::new();
            added.set_implicit(rest.len() > 1);
            Item::Table(added)
        };
        table.insert(key, added);
    }
    match table.get_mut(key) {
        Some(item) => set_in_item(item, rest, value),
        None => Ok(()),
    }
}

/// Sets a value below an item: a table, the item of a list with a name, or any other value, which becomes a table.
fn set_in_item(item: &mut Item, keys: &[&str], value: Value) -> Result<(), String> {
    match item {
        Item::Table(table) => set(table, keys, value, false),
        Item::ArrayOfTables(tables) => {
            let [name, rest @ ..] = keys else { return Ok(()) };
            let found = tables.iter_mut().find(|table| name_of(*table) == Some(name));
            set(found.ok_or_else(|| unknown(name))?, rest, value, false)
        }
        Item::Value(Value::InlineTable(table)) => set(table, keys, value, true),
        Item::Value(Value::Array(items)) => {
            let [name, rest @ ..] = keys else { return Ok(()) };
            let tables = items.iter_mut().filter_map(Value::as_inline_table_mut);
            let found = tables.into_iter().find(|table| name_of(*table) == Some(name));
            set(found.ok_or_else(|| unknown(name))?, rest, value, true)
        }
        other => {
            let mut table = InlineTable::new();
            set(&mut table, keys, value, true)?;
            let decor = other.as_value().map(|value| value.decor().clone());
            let mut replacement = Value::InlineTable(table);
            if let Some(decor) = decor {
                *replacement.decor_mut() = decor;
            }
            *other = Item::Value(replacement);
            Ok(())
        }
    }
}

/// Replaces the value of a key; spaces and comments around it stay.
fn replace_value(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => {
            table.insert(key, Item::Value(value));
        }
    }
}

fn name_of(table: &dyn TableLike) -> Option<&str> {
    table.get("name")?.as_str()
}

fn unknown(name: &str) -> String {
    format!("no item is called \"{name}\"")
}

/// The item at a path, whose names are those of keys or of items of lists.
pub(crate) fn find<'a>(document: &'a DocumentMut, path: &str) -> Option<Found<'a>> {
    path.split('.').try_fold(Found::Table(document.as_table()), |found, key| found.step(key))
}

/// A value of the document, or a table.
#[derive(Clone, Copy)]
pub(crate) enum Found<'a> {
    Item(&'a Item),
    Value(&'a Value),
    Table(&'a dyn TableLike),
}

impl<'a> Found<'a> {
    fn step(self, key: &str) -> Option<Self> {
        match self {
            Self::Table(table) => table.get(key).map(Self::Item),
            Self::Item(Item::Table(table)) => table.get(key).map(Self::Item),
            Self::Item(Item::ArrayOfTables(tables)) => {
                tables.iter().find(|table| name_of(*table) == Some(key)).map(|table| Self::Table(table))
            }
            Self::Item(Item::Value(value)) | Self::Value(value) => match value {
                Value::InlineTable(table) => table.get(key).map(Self::Value),
                Value::Array(items) => {
                    let mut tables = items.iter().filter_map(Value::as_inline_table);
                    tables.find(|table| name_of(*table) == Some(key)).map(|table| Self::Table(table))
                }
                _ => None,
            },
            Self::Item(Item::None) => None,
        }
    }

    /// The value, if it is one.
    pub(crate) fn value(self) -> Option<&'a Value> {
        match self {
            Self::Item(item) => item.as_value(),
            Self::Value(value) => Some(value),
            Self::Table(_) => None,
        }
    }

    /// The names of the items of a list of tables, or of the keys of a table, in the order of the text.
    pub(crate) fn names(self) -> Vec<String> {
        let keys = |table: &dyn TableLike| table.iter().map(|(key, _)| key.to_owned()).collect();
        let named = |table: &dyn TableLike| name_of(table).map(str::to_owned);
        match self {
            Self::Table(table) => keys(table),
            Self::Item(Item::Table(table)) => keys(table),
            Self::Item(Item::ArrayOfTables(tables)) => {
                tables.iter().filter_map(|table| named(table)).collect()
            }
            Self::Item(Item::Value(value)) | Self::Value(value) => match value {
                Value::InlineTable(table) => keys(table),
                Value::Array(items) => {
                    items.iter().filter_map(Value::as_inline_table).filter_map(|table| named(table)).collect()
                }
                _ => Vec::new(),
            },
            Self::Item(Item::None) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, overrides: &[&str]) -> String {
        let mut document = document(text).unwrap();
        for one in overrides {
            replace(&mut document, one).unwrap();
        }
        document.to_string()
    }

    #[test]
    fn a_replaced_value_keeps_its_comment() {
        let text = "# head\nduration = \"30s\"  # half a minute\n\n[[links]]\nname = \"L1\"  # first\nrate = \"1Mbps\" # slow\n";
        let expected = text.replace("30s", "10s").replace("\"1Mbps\"", "\"5Mbps\"");
        assert_eq!(edited(text, &["duration=10s", "links.L1.rate=5Mbps"]), expected);
    }

    #[test]
    fn missing_tables_are_added_and_other_values_become_tables() {
        let text = "rtt = \"1s\" # long\nlinks = [{ name = \"L\", rate = \"1Mbps\" }]\n";
        let found = edited(text, &["links.L.rate.trace.file=a.csv", "protocols.lgcc.params.phi1=2"]);
        assert_eq!(
            found,
            "rtt = \"1s\" # long\nlinks = [{ name = \"L\", rate = { trace = { file = \"a.csv\" } } }]\n\n\
             [protocols.lgcc.params]\nphi1 = 2\n"
        );
    }

    #[test]
    fn a_value_is_of_toml_or_a_text_without_quotes() {
        let found = edited("", &["a=5Mbps", "b=3", "c=true", "d=\"x\"", "e=1979-05-27", "f=[1, 2]"]);
        assert_eq!(found, "a = \"5Mbps\"\nb = 3\nc = true\nd = \"x\"\ne = \"1979-05-27\"\nf = [1, 2]\n");
    }

    #[test]
    fn what_cannot_be_set_is_an_error() {
        let mut document = document("[[links]]\nname = \"L\"\n").unwrap();
        for wrong in ["links.M.rate=1Mbps", "links", "a..b=1", "=1"] {
            assert!(replace(&mut document, wrong).is_err(), "{wrong}");
        }
    }
}
