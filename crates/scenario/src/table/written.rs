//! A value as written, and what reading it needs besides.

use super::Form;
use crate::collector::FaultCollector;
use crate::files::Files;
use crate::model::FlowGroup;
use crate::network::Network;
use crate::place::{At, Place};
use crate::trace::Trace;
use crate::tree::{Raw, TomlNode, TomlTable};
use millpond_units::{ParseError, Readable, Span, nearest};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// The traces already read, each shared by the links that name it; `None` if it was wrong.
pub(crate) type TraceCache = RefCell<BTreeMap<PathBuf, Option<Arc<Trace>>>>;

/// What reading needs besides the document.
#[derive(Clone, Copy)]
pub(crate) struct ReadContext<'a> {
    pub(crate) faults: &'a FaultCollector,
    /// Where trace files come from.
    pub(crate) files: &'a dyn Files,
    /// The folder of the scenario file: its traces' paths are relative to it.
    pub(crate) folder: &'a Path,
    pub(crate) traces: &'a TraceCache,
    /// The duration of the run, if it is known already.
    pub(crate) duration: Option<Span>,
    /// The seed of the run.
    pub(crate) seed: u64,
    /// The network, as far as it is known already.
    pub(crate) network: &'a Network,
    /// The flow groups, if they are known already.
    pub(crate) flows: &'a [FlowGroup],
    /// The keys at the top of a scenario.
    pub(crate) top_keys: &'a [&'static str],
    /// What the only table describes that has a key, if it is something else than the second argument.
    pub(crate) other_table_with: fn(&str, &str) -> Option<&'static str>,
}

impl ReadContext<'_> {
    /// Where the file is that is named at `place`. A path in an override is relative to the current folder, as the
    /// shell completes it.
    pub(crate) fn path(&self, place: Place, file: &str) -> PathBuf {
        let folder = if place.text == 0 { self.folder } else { Path::new("") };
        let path = folder.join(file);
        std::path::absolute(&path).unwrap_or(path)
    }

    /// The bytes of the file that is named at `place`; `what` is its kind, for messages.
    pub(crate) fn bytes(&self, place: Place, path: &Path, what: &str) -> Option<Vec<u8>> {
        let help =
            "paths in the file are relative to the scenario file, those of --set to the current folder";
        let message = || format!("cannot read the {what} {}", path.display());
        let read = self.files.read(path);
        read.map_err(|error| self.faults.report::<()>(place, message(), error.to_string(), help)).ok()
    }

    /// The text of the file that is named at `place`.
    pub(crate) fn text(&self, place: Place, path: &Path, what: &str) -> Option<String> {
        String::from_utf8(self.bytes(place, path, what)?).ok().or_else(|| {
            let message = format!("cannot read the {what} {}", path.display());
            let help = "save it in this encoding";
            self.faults.report(place, message, "it is not a text in UTF-8", help)
        })
    }
}

/// A value as written.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) context: &'a ReadContext<'a>,
    pub(crate) node: &'a TomlNode,
    /// How it should be written.
    pub(crate) form: &'a Form,
    /// The table in which it stands.
    pub(crate) table: &'a TomlTable,
}

impl<'a> Written<'a> {
    pub(crate) fn place(&self) -> Place {
        self.node.place
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.node.value, Raw::Table(_))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.node.value, Raw::List(_))
    }

    /// The same value in another form.
    pub(crate) fn with_form<'b>(&self, form: &'b Form) -> Written<'b>
    where
        'a: 'b,
    {
        Written { context: self.context, node: self.node, form, table: self.table }
    }

    /// The same value in another context.
    pub(crate) fn with_context<'b>(&self, context: &'b ReadContext<'b>) -> Written<'b>
    where
        'a: 'b,
    {
        Written { context, node: self.node, form: self.form, table: self.table }
    }

    /// A part of this value.
    pub(crate) fn part<'b>(&self, node: &'b TomlNode, form: &'b Form) -> Written<'b>
    where
        'a: 'b,
    {
        Written { context: self.context, node, form, table: self.table }
    }

    /// The value of another key of the same table.
    pub(crate) fn sibling(&self, key: &str) -> Option<&'a TomlNode> {
        self.table.get(key)
    }

    /// The value of a key of this table, if this is a table.
    pub(crate) fn key(&self, name: &str) -> Option<&'a TomlNode> {
        match &self.node.value {
            Raw::Table(table) => table.get(name),
            _ => None,
        }
    }

    /// Reports that this value is wrong.
    pub(crate) fn report<T>(
        &self,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.context.faults.report(self.node.place, message, label, help)
    }

    /// Reports a value of another kind than expected.
    pub(crate) fn expected<T>(&self, expected: &str) -> Option<T> {
        self.context.faults.expected(self.node, expected)
    }

    /// Reports that the value is not a list of `[[name]]` tables. The table form with columns and rows is that of recipes.
    pub(crate) fn expected_tables<T>(&self, name: &str) -> Option<T> {
        let is_rows = |table: &TomlTable| table.entries.iter().any(|(key, _)| key.value == "rows");
        match &self.node.value {
            Raw::Table(table) if is_rows(table) => {
                let message = format!(
                    "expected [[{name}]] tables: the table form with columns and rows is that of recipes"
                );
                let help = "write one table for each row; `millpond papers check FILE` runs a recipe";
                self.context.faults.report(self.node.place, message, "the table form of recipes", help)
            }
            _ => self.expected(&format!("[[{name}]] tables")),
        }
    }

    /// Any text.
    pub(crate) fn text(&self) -> Option<&'a str> {
        match &self.node.value {
            Raw::Text(text) => Some(text),
            _ => self.expected("a text in quotes"),
        }
    }

    /// Any text, and where it is written.
    pub(crate) fn placed_text(&self) -> Option<At<String>> {
        Some(At::new(self.text()?.to_owned(), self.node.place))
    }

    /// A name: letters, digits, hyphens and underscores, so that it can be part of an override and of a file name.
    pub(crate) fn name(&self) -> Option<At<String>> {
        let name = self.placed_text()?;
        if !is_name(&name) {
            return self.expected("a name of letters, digits, hyphens and underscores");
        }
        Some(name)
    }

    /// A name, or the name of a protocol with settings.
    pub(crate) fn protocol_name(&self) -> Option<At<String>> {
        let name = self.placed_text()?;
        if !is_protocol_name(&name) {
            return self
                .expected("a protocol, or a variant of one such as \"lgcc:cellular\" or \"lgcc:drain=4\"");
        }
        Some(name)
    }

    /// A whole number in this closed range.
    pub(crate) fn whole(&self, least: u64, most: u64) -> Option<u64> {
        match self.node.value {
            Raw::Whole(n) if (i128::from(least)..=i128::from(most)).contains(&n) => u64::try_from(n).ok(),
            _ => self.expected(&format!("a whole number from {least} to {most}")),
        }
    }

    /// A share in this closed range: a number, or a percentage such as `"1%"`.
    pub(crate) fn share(&self, least: f64, most: f64) -> Option<f64> {
        let share = match &self.node.value {
            Raw::Text(text) => percentage(text),
            _ => written_number(self.node),
        };
        share.filter(|share| (least..=most).contains(share)).or_else(|| {
            self.expected(&format!("a number from {least} to {most}, or a percentage such as \"1%\""))
        })
    }

    /// A number in this closed range.
    pub(crate) fn number(&self, least: f64, most: f64) -> Option<f64> {
        match written_number(self.node) {
            Some(x) if (least..=most).contains(&x) => Some(x),
            _ => self.expected(&format!("a number from {least} to {most}")),
        }
    }

    /// A number whose bounds are checked elsewhere.
    pub(crate) fn finite(&self) -> Option<f64> {
        written_number(self.node).filter(|x| x.is_finite()).or_else(|| self.expected("a finite number"))
    }

    /// A quantity with its unit.
    pub(crate) fn quantity<Q: FromStr<Err = ParseError>>(&self) -> Option<Q> {
        let written = match &self.node.value {
            Raw::Text(text) => text.clone(),
            // Parsing a number without a unit gives the message that a unit is missing.
            Raw::Whole(n) => n.to_string(),
            Raw::Number(x) => x.to_string(),
            _ => String::new(),
        };
        written.parse().map_err(|error| self.wrong_quantity(&error)).ok()
    }

    fn wrong_quantity(&self, error: &ParseError) {
        let offered: Vec<String> = error.with_units().map(|text| format!("\"{text}\"")).collect();
        let help = match respelt(&error.text, error.units()) {
            Some(near) => format!("did you mean \"{near}\"? Expected {}", error.expected),
            None if offered.is_empty() => format!("expected {}", error.expected),
            None => format!("write {}; expected {}", offered.join(" or "), error.expected),
        };
        let message = format!("{}: {}", error.fault, self.node.value.kind());
        let _: Option<()> = self.report(message, error.fault.clone(), help);
    }

    /// A quantity in this closed range.
    pub(crate) fn within<Q>(&self, least: Q, most: Q) -> Option<Q>
    where
        Q: FromStr<Err = ParseError> + PartialOrd + Readable + Copy,
    {
        let value = self.quantity::<Q>()?;
        if value >= least && value <= most {
            return Some(value);
        }
        let (least, most) = (least.readable_minimum(), most.readable_maximum());
        let range = match least.as_str() {
            "1ps" | "1B" | "1bps" => format!("above zero and up to \"{most}\""),
            _ => format!("from \"{least}\" to \"{most}\""),
        };
        self.report(
            format!("{} is out of range", self.node.value.kind()),
            format!("not {}", range.replace('"', "")),
            format!("write a value {range}"),
        )
    }

    /// The items of a list.
    pub(crate) fn list(&self, example: &str) -> Option<&'a [TomlNode]> {
        match &self.node.value {
            Raw::List(items) => Some(items),
            _ => self.expected(&format!("a list such as {example}")),
        }
    }

    /// Two values of these forms.
    pub(crate) fn pair<'b>(&self, forms: [&'b Form; 2], example: &str) -> Option<(Written<'b>, Written<'b>)>
    where
        'a: 'b,
    {
        match self.list(example)? {
            [first, second] => Some((self.part(first, forms[0]), self.part(second, forms[1]))),
            _ => self.expected(&format!("two values such as {example}")),
        }
    }

    /// Two quantities, the second no less than the first.
    pub(crate) fn range<Q>(&self, example: &str) -> Option<(Q, Q)>
    where
        Q: FromStr<Err = ParseError> + PartialOrd,
    {
        let (low, high) = self.pair([self.form, self.form], example)?;
        let (low, high): (Option<Q>, Option<Q>) = (low.quantity(), high.quantity());
        match (low?, high?) {
            (low, high) if low <= high => Some((low, high)),
            _ => self.report(
                "a range that ends before it begins",
                "the second is less than the first",
                format!("write the smaller value first, as in {example}"),
            ),
        }
    }
}

/// Whether the text is a name: letters, digits, hyphens and underscores.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

/// Whether the text is a name, or a name with settings: letters, digits, hyphens, underscores, and the marks of settings.
pub(crate) fn is_protocol_name(text: &str) -> bool {
    let is_mark = |c: char| [SEPARATOR, '=', ',', '.', '%'].contains(&c);
    match text.split_once(SEPARATOR) {
        None => is_name(text),
        Some((name, settings)) => {
            let is_valid = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || is_mark(c);
            is_name(name) && !settings.is_empty() && settings.chars().all(is_valid)
        }
    }
}

/// What stands between a protocol and its settings.
pub(crate) const SEPARATOR: char = ':';

fn written_number(node: &TomlNode) -> Option<f64> {
    match node.value {
        Raw::Whole(n) => Some(n as f64),
        Raw::Number(x) => Some(x),
        _ => None,
    }
}

/// A percentage such as `1%`, as a share. The decimal point is moved in the text, so that `"0.1%"` is the number 0.001.
fn percentage(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim();
    format!("{number}e-2").parse().ok()
}

/// The same quantity with the nearest unit that exists. None for a number with an exponent, whose digits would be lost, and for
/// bytes per second, which are another quantity than the nearest unit.
pub(crate) fn respelt<'a>(text: &str, units: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')?;
    let (number, unit) = text.split_at_checked(split)?;
    let (unit, units) = (unit.trim(), units.into_iter().collect::<Vec<_>>());
    let is_bytes = ["B/s", "Bps"].iter().any(|end| unit.ends_with(end));
    if number.is_empty() || is_bytes || unit.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let near = other_spelling(unit, &units).or_else(|| nearest(unit, units))?;
    (near != unit).then(|| format!("{number}{near}"))
}

/// The unit of a rate that tables and other tools write as `Mbit/s`, `mbit` or `Mb/s`.
fn other_spelling<'a>(unit: &str, units: &[&'a str]) -> Option<&'a str> {
    let lower = unit.to_ascii_lowercase();
    let bits = lower.strip_suffix("/s").unwrap_or(&lower);
    let prefix = ["bits", "bit", "b"].iter().find_map(|end| bits.strip_suffix(end))?;
    units.iter().copied().find(|known| known.eq_ignore_ascii_case(&format!("{prefix}bps")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::Rate;

    #[test]
    fn a_unit_of_another_tool_is_respelt_and_no_number_changes() {
        let respelt = |text: &str| respelt(text, text.parse::<Rate>().unwrap_err().units());
        for text in ["20Mbit/s", "20mbit", "20MBit", "20Mbits/s", "20Mb/s", "20mbps"] {
            assert_eq!(respelt(text).as_deref(), Some("20Mbps"), "{text}");
        }
        assert_eq!(respelt("300kbit").as_deref(), Some("300kbps"));
        // An exponent would be lost, and a rate of bytes is eight times that of bits.
        for text in ["1e3Mbps", "20MB/s", "20MBps", "20M"] {
            assert_eq!(respelt(text), None, "{text}");
        }
    }
}
