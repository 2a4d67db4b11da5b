//! Overrides: `links.L1.rate=5Mbps` replaces one value of the file, list items being addressed by name.

use crate::place::{At, Place};
use crate::source::{Fault, Sources};
use crate::tree::{self, Raw, TomlNode, TomlTable};
use millpond_units::nearest;

/// Most names in a key.
const MAX_DEPTH: usize = 12;

/// The option of a command that replaces a value.
pub(crate) const SET: &str = "--set";
/// The option of a command that gives a value several values, one for each run.
pub(crate) const VARY: &str = "--vary";

/// Applies `expression` (`key.key=value`), a value of this option, to the document.
pub(crate) fn apply(
    document: &mut TomlNode,
    sources: &mut Sources,
    (option, expression): (&str, &str),
) -> Result<(), Fault> {
    let text = sources.add(option, expression);
    let whole = Place { text, start: 0, end: expression.len() };
    let Some((path, _)) = expression.split_once('=') else {
        let fault = sources.fault(whole, "an override without a value", "no \"=\" here");
        return Err(fault.help("write key=value, such as duration=10s or links.L1.rate=5Mbps"));
    };
    let value = value(sources, text, path.len() + 1)?;
    let keys = keys(sources, text, path)?;
    replace(document, sources, &keys, value)
}

/// A value of a key that was written as the value of an option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// The option as it is typed: `--rate`.
    pub option: String,
    /// The key: `links.L1.rate`.
    pub key: String,
    /// The value as it is typed: a TOML value, or a text without quotes.
    pub value: String,
}

/// Replaces the value of a key by that of an option. Errors point at the option and its value. A value of another option is
/// not replaced, but a law that one has named receives its parameters by others.
pub(crate) fn apply_option(
    document: &mut TomlNode,
    sources: &mut Sources,
    option: &OptionValue,
) -> Result<(), Fault> {
    let text = sources.add(&option.option, &option.value);
    let value = value(sources, text, 0)?;
    let place = Place { text, start: 0, end: option.value.len() };
    let keys: Vec<_> = option.key.split('.').map(|name| At::new(name.to_owned(), place)).collect();
    if let Some(earlier) = replaced(document, &keys) {
        let other = sources.name(earlier).to_owned();
        if other != option.option {
            let message =
                format!("{} replaces what {other} {} has set", option.option, sources.text(earlier));
            let fault = sources.fault(place, message, format!("another value than that of {other}"));
            return Err(fault.help("leave out one of them"));
        }
    }
    replace(document, sources, &keys, value)
}

/// The text of the value that these keys replace, unless it is the document's own. A name, such as that of a queue, is not
/// replaced by a table for it.
fn replaced(document: &TomlNode, keys: &[At<String>]) -> Option<usize> {
    let mut node = document;
    for key in keys {
        node = match &node.value {
            Raw::Table(table) => table.get(key)?,
            Raw::List(items) => items.iter().find(|item| name_of(item) == Some(key.as_str()))?,
            Raw::Text(name) if *name == key.value => return None,
            _ => break,
        };
    }
    (node.place.text > 0).then_some(node.place.text)
}

/// Replaces the value of a key.
fn replace(
    document: &mut TomlNode,
    sources: &Sources,
    keys: &[At<String>],
    value: TomlNode,
) -> Result<(), Fault> {
    if let Some(fault) = link_of_shorthand(document, sources, keys) {
        return Err(fault);
    }
    let parent = keys.iter().rev().skip(1).rev().try_fold(document, |node, key| step(sources, node, key))?;
    match keys.last() {
        Some(last) => *step(sources, parent, last)? = value,
        None => return Err(sources.plain("an override without a key")),
    }
    Ok(())
}

/// The shorthands whose links have no tables of their own.
const SHORTHANDS: [&str; 5] = ["dumbbell", "parking-lot", "chain", "tree", "topology"];

/// The error for a link that a shorthand of the document makes, if the document has no `[[links]]`.
fn link_of_shorthand(document: &TomlNode, sources: &Sources, keys: &[At<String>]) -> Option<Fault> {
    let (Raw::Table(table), [links, link, rest @ ..]) = (&document.value, keys) else { return None };
    if links.value != "links" || table.get("links").is_some() {
        return None;
    }
    let has = |name: &&&str| table.get(name).is_some_and(|node| matches!(node.value, Raw::Table(_)));
    let shorthand = *SHORTHANDS.iter().find(has)?;
    let Raw::Table(written) = &table.get(shorthand)?.value else { return None };
    // The links `access1`, `access2`, ... are described by the key `access`, and `hop1`, ... by `link`.
    let stem = link.value.trim_end_matches(|c: char| c.is_ascii_digit());
    let key = [stem, "link"].into_iter().find(|key| written.get(key).is_some());
    let message = format!("the scenario has no [[links]]: [{shorthand}] makes its links");
    let fault = sources.fault(link.place, message, "no link with a table of its own");
    let rest: String = rest.iter().map(|key| format!(".{}", key.value)).collect();
    Some(fault.help(match key {
        Some(key) => format!("set {shorthand}.{key}{rest}"),
        None => format!("set a key of [{shorthand}]"),
    }))
}

/// The part after the equals sign: a TOML value, or a text without quotes.
fn value(sources: &Sources, text: usize, offset: usize) -> Result<TomlNode, Fault> {
    let written = sources.text(text).get(offset..).unwrap_or_default();
    let bare = !written.trim_start().starts_with(['"', '\'', '[', '{']);
    match tree::value(sources, text, offset) {
        Ok(TomlNode { value: Raw::Date, .. }) | Err(_) if bare => {
            let place = Place { text, start: offset, end: offset + written.len() };
            Ok(TomlNode { place, value: Raw::Text(written.trim().to_owned()) })
        }
        result => result,
    }
}

fn keys(sources: &Sources, text: usize, path: &str) -> Result<Vec<At<String>>, Fault> {
    let depth = path.split('.').count();
    if depth > MAX_DEPTH {
        let place = Place { text, start: 0, end: path.len() };
        return Err(sources.fault(
            place,
            format!("an override {depth} names deep"),
            "more names than any key has",
        ));
    }
    let mut start = 0;
    let key = |part: &str| {
        let place = Place { text, start, end: start + part.len() };
        start += part.len() + 1;
        let name = part.trim();
        if name.is_empty() {
            let fault = sources.fault(place, "an override with an empty key", "a name is missing here");
            return Err(fault.help("write the keys with dots between them, such as links.L1.delay=5ms"));
        }
        Ok(At::new(name.to_owned(), place))
    };
    path.split('.').map(key).collect()
}

/// From a table to one of its keys (added if absent), or from a list of tables to the one with this name. Any other
/// value becomes a table.
fn step<'a>(sources: &Sources, node: &'a mut TomlNode, key: &At<String>) -> Result<&'a mut TomlNode, Fault> {
    if !matches!(node.value, Raw::List(_) | Raw::Table(_)) {
        *node = TomlNode { place: key.place, value: Raw::Table(TomlTable::default()) };
    }
    match &mut node.value {
        Raw::Table(table) => Ok(table.entry(key)),
        Raw::List(items) => {
            let names: Vec<String> = items.iter().filter_map(name_of).map(str::to_owned).collect();
            let found = items.iter_mut().find(|item| name_of(item) == Some(key.as_str()));
            found.ok_or_else(|| unknown_item(sources, key, &names))
        }
        _ => Err(unknown_item(sources, key, &[])),
    }
}

fn name_of(item: &TomlNode) -> Option<&str> {
    let Raw::Table(table) = &item.value else { return None };
    match &table.get("name")?.value {
        Raw::Text(name) => Some(name),
        _ => None,
    }
}

fn unknown_item(sources: &Sources, key: &At<String>, names: &[String]) -> Fault {
    let fault = sources.fault(key.place, format!("no item is called \"{}\"", key.value), "no such name");
    let known = names.join(", ");
    match nearest(key, names.iter().map(String::as_str)) {
        Some(near) => fault.help(format!("did you mean \"{near}\"? there are: {known}")),
        None if key.parse::<u64>().is_ok() => {
            fault.help(format!("write the name of the item instead of its number; there are: {known}"))
        }
        None => fault.help(format!("there are: {known}")),
    }
}
