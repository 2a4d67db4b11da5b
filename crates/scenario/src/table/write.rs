//! Values as TOML.

use std::fmt::Display;

/// A quoted text.
pub(crate) fn text(value: impl Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}

/// A number as a TOML float, which reads back as the same number.
pub(crate) fn number(x: f64) -> String {
    format!("{x:?}")
}

/// A list of values.
pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// A table in one line.
pub(crate) fn inline_table<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let pairs: Vec<_> =
        pairs.into_iter().map(|(name, value)| format!("{} = {value}", key_name(name))).collect();
    if pairs.is_empty() { "{}".into() } else { format!("{{ {} }}", pairs.join(", ")) }
}

/// A key, quoted if it must be.
pub(crate) fn key_name(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if bare { name.to_owned() } else { text(name) }
}
