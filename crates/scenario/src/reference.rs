//! The tables of keys in `docs/scenario.md`, from the tables of keys.

use crate::keys::documented;
use crate::table::{Describe, Form, KeyInfo, LONGEST_RUN, Rule};
use millpond_units::{Bytes, Rate};
use std::fmt::Display;

const START: &str = "<!-- keys: ";
const START_END: &str = " -->\n";
const END: &str = "<!-- end of keys -->";

/// The page with its tables of keys brought up to date. A table stands between `<!-- keys: NAME -->` and
/// `<!-- end of keys -->`.
///
/// # Errors
/// A marker that names no table or has no end, and a table without a marker.
pub fn update_reference(page: &str) -> Result<String, String> {
    let mut missing = documented();
    let mut parts = page.split(START);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(START_END).ok_or("a marker without an end")?;
        let (_, after) = rest.split_once(END).ok_or_else(|| format!("the table \"{name}\" has no end"))?;
        let known = missing.iter().position(|table| table.name() == name);
        let table =
            missing.remove(known.ok_or_else(|| format!("no table (or a second one) is called \"{name}\""))?);
        out += &format!("{START}{name}{START_END}{}{END}{after}", markdown(table));
    }
    match missing.first() {
        Some(table) => Err(format!("the table \"{}\" is not in the page", table.name())),
        None => Ok(out),
    }
}

/// The table of keys as Markdown.
fn markdown(table: &'static dyn Describe) -> String {
    let mut out = String::from("| key | value | default | meaning |\n|---|---|---|---|\n");
    if let Some(plain) = table.plain() {
        out += &row(["*(no key)*", &value("", plain.form), "", plain.meaning]);
    }
    for KeyInfo { name, form, rule, meaning } in table.keys() {
        let value = value(name, form) + &example(form, rule);
        out += &row([&format!("`{name}`"), &value, &default(rule), meaning]);
    }
    out
}

fn row(cells: [&str; 4]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// What may be written for the key `key`.
fn value(key: &str, form: &'static Form) -> String {
    let part = |form| value(key, form);
    match form {
        Form::Text => "text".into(),
        Form::Name => "name".into(),
        Form::ProtocolName => "name, or a [variant](#variants-of-a-protocol)".into(),
        Form::Flag => "`true` or `false`".into(),
        Form::Whole { least, most: u64::MAX } => format!("whole number from {least}"),
        Form::Whole { least, most } => format!("whole number from {least} to {most}"),
        Form::Number { least, most } => format!("number from {least} to {most}"),
        Form::Share { least, most } => {
            format!("number from {least} to {most}, or a percentage as in `\"1%\"`")
        }
        Form::Finite => "number".into(),
        Form::Span { least, most } => {
            let most = (*most < LONGEST_RUN).then_some(most);
            format!("time{}", range(least, least.picos(), most))
        }
        Form::Time => "time".into(),
        Form::Bytes { least, most } => {
            format!("size{}", range(least, least.get(), (*most < Bytes::MAX).then_some(most)))
        }
        Form::Rate { least, most } => {
            format!("rate{}", range(least, least.bps(), (*most < Rate::MAX).then_some(most)))
        }
        Form::Count { unit, .. } => format!("`\"2{unit}\"`"),
        Form::Word(word) => format!("`\"{word}\"`"),
        Form::Words(words) => alternatives(words().iter().map(|word| format!("`\"{word}\"`")).collect()),
        Form::List { item, .. } => format!("list of: {}", part(item)),
        Form::Pair(first, second) => format!("two values: {}, {}", part(first), part(second)),
        Form::Range(item) => format!("two values, each a {}", part(item)),
        Form::AnyOf(forms) => alternatives(forms.iter().map(part).collect()),
        Form::Table(table) => match (table.summary(), table.plain()) {
            (Some(summary), _) => summary.into(),
            (None, Some(plain)) => format!("`{}`, or other [forms](#{})", plain.example, anchor(*table)),
            (None, None) => format!("[table](#{})", anchor(*table)),
        },
        Form::Tables(_) => format!("[tables](#{key})"),
        Form::NamedTables(_) => format!("[tables by name](#{key})"),
        Form::Map(Form::ProtocolName) => "table of protocols by node".into(),
        Form::Map(_) => "table of settings".into(),
        Form::SingleKey(_) => "`{ name = ... }`".into(),
    }
}

/// An example of a value with several parts.
fn example(form: &Form, rule: &Rule) -> String {
    match (form, rule.example()) {
        (Form::List { .. } | Form::Pair(..) | Form::Range(_), Some(example)) => {
            format!(", as in `{example}`")
        }
        _ => String::new(),
    }
}

/// The range of a quantity; `count` is its lower end in the smallest unit.
fn range(least: &impl Display, count: u64, most: Option<&impl Display>) -> String {
    let least = match count {
        0 => String::new(),
        1 => " above zero".into(),
        _ => format!(" from {least}"),
    };
    most.map_or(least.clone(), |most| format!("{least} up to {most}"))
}

/// `a, b or c`.
fn alternatives(forms: Vec<String>) -> String {
    match forms.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => forms.concat(),
    }
}

/// The heading under which a table is described, as a link names it.
fn anchor(table: &dyn Describe) -> String {
    let name = table.name();
    heading_anchor(name.strip_suffix(" table").unwrap_or(name))
}

/// The name by which a link leads to a heading: lower case, hyphens for spaces, no punctuation. The same as
/// `website/millpond_site/anchors.py` gives a heading without a link.
pub fn heading_anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// What holds if the key is absent.
fn default(rule: &Rule) -> String {
    match rule {
        Rule::Required(_) => "required".into(),
        Rule::Default(value) => format!("`{value}`"),
        Rule::Absent(words) => (*words).into(),
        Rule::OneOf(_) => "one of these".into(),
        Rule::With(selectors, rule) => {
            let selectors = selectors.iter().map(|selector| format!("`{selector}`")).collect();
            format!("with {}: {}", alternatives(selectors), default(rule))
        }
    }
}
