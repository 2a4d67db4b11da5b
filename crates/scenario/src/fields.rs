//! Reading one table: each key is asked for once, what nobody asked for is a mistake.

use crate::place::{At, Place};
use crate::source::{Fault, Faults, Sources};
use crate::tree::{Node, Raw, Table};
use std::cell::RefCell;
use std::str::FromStr;

/// Longer lists of names are cut.
const MOST_LISTED: usize = 20;

/// The candidate nearest to `text` in spelling, if any is near at all.
pub(crate) fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = text.to_lowercase();
    let distance = |name: &&'a str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    candidates.into_iter().min_by_key(distance).filter(|name| distance(name) <= 1 + text.chars().count() / 3)
}

/// The first names of a list.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    match names.get(..MOST_LISTED) {
        Some(first) => format!("{}, ... ({} in all)", first.join(", "), names.len()),
        None => names.join(", "),
    }
}

/// Collects complaints, so that one reading finds all mistakes that do not hide one another.
pub(crate) struct Complaints {
    pub(crate) sources: Sources,
    faults: RefCell<Vec<(Place, Fault)>>,
}

impl Complaints {
    pub(crate) fn new(sources: Sources) -> Self {
        Self { sources, faults: RefCell::default() }
    }

    /// Notes that what is written at `place` is wrong. Returns `None`, as a reader that failed does.
    pub(crate) fn wrong<T>(
        &self,
        place: Place,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        let fault = self.sources.fault(place, message, label).help(help);
        self.faults.borrow_mut().push((place, fault));
        None
    }

    /// Notes a complaint made elsewhere about what `place` refers to, `label` by name.
    pub(crate) fn pass_on<T>(&self, place: Place, fault: Fault, label: &str) -> Option<T> {
        self.faults.borrow_mut().push((place, self.sources.placed(fault, place, label)));
        None
    }

    /// Notes an unknown name and the nearest known one.
    pub(crate) fn unknown<'a, T>(
        &self,
        written: &At<impl AsRef<str>>,
        what: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Option<T> {
        let name = written.value.as_ref();
        let list = listed(known.clone());
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean \"{near}\"? Known here: {list}"),
            None => format!("known here: {list}"),
        };
        self.wrong(written.place, format!("unknown {what} \"{name}\""), format!("no such {what}"), help)
    }

    /// A value of another kind than expected.
    pub(crate) fn expected<T>(&self, node: &Node, expected: &str) -> Option<T> {
        let found = node.value.kind();
        self.wrong(
            node.place,
            format!("expected {expected}"),
            format!("this is {found}"),
            format!("write {expected}"),
        )
    }

    pub(crate) fn any(&self) -> bool {
        !self.faults.borrow().is_empty()
    }

    /// All complaints, in the order of the texts.
    pub(crate) fn into_faults(self) -> Faults {
        let mut faults = self.faults.into_inner();
        faults.sort_by_key(|(place, _)| *place);
        Faults(faults.into_iter().map(|(_, fault)| fault).collect())
    }
}

/// One table being read.
pub(crate) struct Fields<'a> {
    pub(crate) complaints: &'a Complaints,
    pub(crate) place: Place,
    table: &'a Table,
    /// What the table describes, for messages: "link", "flow group".
    what: &'static str,
    known: Vec<&'static str>,
    /// Keys that had to be written and were not, each with an example.
    missing: Vec<(&'static str, &'static str)>,
}

impl<'a> Fields<'a> {
    /// Begins to read `node`, which must be a table.
    pub(crate) fn new(complaints: &'a Complaints, node: &'a Node, what: &'static str) -> Option<Self> {
        match &node.value {
            Raw::Table(table) => Some(Self {
                complaints,
                place: node.place,
                table,
                what,
                known: Vec::new(),
                missing: Vec::new(),
            }),
            _ => complaints.expected(node, &format!("a table: the {what}'s keys")),
        }
    }

    /// The value of `key`, if written.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<&'a Node> {
        self.known.push(key);
        self.table.get(key)
    }

    /// The value of `key`; [`Self::finish`] complains if it is not written.
    pub(crate) fn required(&mut self, key: &'static str, example: &'static str) -> Option<&'a Node> {
        let found = self.get(key);
        if found.is_none() {
            self.missing.push((key, example));
        }
        found
    }

    /// What `read` makes of `key`, if written and right.
    pub(crate) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&'a Complaints, &'a Node) -> Option<T>,
    ) -> Option<T> {
        let complaints = self.complaints;
        self.get(key).and_then(|node| read(complaints, node))
    }

    /// What `read` makes of `key`, or `default` if it is not written. After a complaint the default serves too:
    /// nothing is built from a scenario with complaints.
    pub(crate) fn read_or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(&'a Complaints, &'a Node) -> Option<T>,
    ) -> T {
        self.read(key, read).unwrap_or(default)
    }

    /// Is a key that nobody asked for nearly one of these?
    fn misspells(&self, keys: &[&'static str]) -> bool {
        let unknown = self.table.entries.iter().filter(|(key, _)| !self.known.contains(&key.value.as_str()));
        unknown.into_iter().any(|(key, _)| nearest(key, keys.iter().copied()).is_some())
    }

    /// Complains about every key that nobody asked for, and about what is missing if none of them is a misspelling
    /// of it.
    pub(crate) fn finish(self) {
        let Self { complaints, place, table, what, known, missing } = self;
        let mut misspelt = Vec::new();
        for (key, _) in table.entries.iter().filter(|(key, _)| !known.contains(&key.value.as_str())) {
            let _: Option<()> = complaints.unknown(key, &format!("key of a {what}"), known.iter().copied());
            misspelt.extend(nearest(key, known.iter().copied()));
        }
        for (key, example) in missing.into_iter().filter(|(key, _)| !misspelt.contains(key)) {
            let message = format!("this {what} has no \"{key}\"");
            let _: Option<()> =
                complaints.wrong(place, message, "in here", format!("write {key} = {example}"));
        }
    }
}

/// A text.
pub(crate) fn text<'a>(complaints: &Complaints, node: &'a Node) -> Option<&'a str> {
    match &node.value {
        Raw::Text(text) => Some(text),
        _ => complaints.expected(node, "a text in quotes"),
    }
}

/// A name: letters, digits, hyphens and underscores, so that it can be part of an override and of a file name.
pub(crate) fn name(complaints: &Complaints, node: &Node) -> Option<At<String>> {
    let name = text(complaints, node)?;
    let good = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(good) {
        return complaints.expected(node, "a name of letters, digits, hyphens and underscores");
    }
    Some(At::new(name.to_owned(), node.place))
}

/// True or false.
pub(crate) fn flag(complaints: &Complaints, node: &Node) -> Option<bool> {
    match node.value {
        Raw::Flag(flag) => Some(flag),
        _ => complaints.expected(node, "true or false"),
    }
}

/// A whole number in this closed range.
pub(crate) fn whole(complaints: &Complaints, node: &Node, low: u64, high: u64) -> Option<u64> {
    match node.value {
        Raw::Whole(n) if (i128::from(low)..=i128::from(high)).contains(&n) => u64::try_from(n).ok(),
        _ => complaints.expected(node, &format!("a whole number from {low} to {high}")),
    }
}

/// A number in this closed range.
pub(crate) fn number(complaints: &Complaints, node: &Node, low: f64, high: f64) -> Option<f64> {
    match written_number(node) {
        Some(x) if (low..=high).contains(&x) => Some(x),
        _ => complaints.expected(node, &format!("a number from {low} to {high}")),
    }
}

/// A number whose bounds are known elsewhere.
pub(crate) fn finite(complaints: &Complaints, node: &Node) -> Option<f64> {
    written_number(node).filter(|x| x.is_finite()).or_else(|| complaints.expected(node, "a finite number"))
}

fn written_number(node: &Node) -> Option<f64> {
    match node.value {
        Raw::Whole(n) => Some(n as f64),
        Raw::Number(x) => Some(x),
        _ => None,
    }
}

/// A probability.
pub(crate) fn probability(complaints: &Complaints, node: &Node) -> Option<f64> {
    number(complaints, node, 0.0, 1.0)
}

/// A quantity with its unit.
pub(crate) fn quantity<T>(complaints: &Complaints, node: &Node) -> Option<T>
where
    T: FromStr<Err = millpond_units::ParseError>,
{
    let written = match &node.value {
        Raw::Text(text) => text.clone(),
        // A number without a unit, read for the words in which its type asks for one.
        Raw::Whole(n) => n.to_string(),
        Raw::Number(x) => x.to_string(),
        _ => String::new(),
    };
    match written.parse() {
        Ok(quantity) => Some(quantity),
        Err(error) => {
            let help = match respelt(&error.text, error.units()) {
                Some(near) => format!("did you mean \"{near}\"? Expected {}", error.expected),
                None => format!("expected {}", error.expected),
            };
            complaints.wrong(
                node.place,
                format!("{}: {}", error.fault, node.value.kind()),
                error.fault.clone(),
                help,
            )
        }
    }
}

/// The same quantity with the nearest unit that exists.
pub(crate) fn respelt<'a>(text: &str, units: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')?;
    let (number, unit) = text.split_at_checked(split)?;
    let near = nearest(unit.trim(), units)?;
    (!number.is_empty() && near != unit.trim()).then(|| format!("{number}{near}"))
}

/// A quantity in this closed range.
pub(crate) fn within<T>(complaints: &Complaints, node: &Node, low: T, high: T) -> Option<T>
where
    T: FromStr<Err = millpond_units::ParseError> + PartialOrd + std::fmt::Display + Copy,
{
    let value = quantity::<T>(complaints, node)?;
    if value >= low && value <= high {
        return Some(value);
    }
    let found = node.value.kind();
    complaints.wrong(
        node.place,
        format!("{found} is out of range"),
        format!("not from {low} to {high}"),
        format!("write a value from \"{low}\" to \"{high}\""),
    )
}

/// The items of a list.
pub(crate) fn list<'a>(complaints: &Complaints, node: &'a Node, example: &str) -> Option<&'a [Node]> {
    match &node.value {
        Raw::List(items) => Some(items),
        _ => complaints.expected(node, &format!("a list such as {example}")),
    }
}

/// Two items.
pub(crate) fn pair<'a>(
    complaints: &Complaints,
    node: &'a Node,
    example: &str,
) -> Option<(&'a Node, &'a Node)> {
    match list(complaints, node, example)? {
        [first, second] => Some((first, second)),
        _ => complaints.expected(node, &format!("two values such as {example}")),
    }
}

/// Two quantities, the second at least the first.
pub(crate) fn range<T>(complaints: &Complaints, node: &Node, example: &str) -> Option<(T, T)>
where
    T: FromStr<Err = millpond_units::ParseError> + PartialOrd,
{
    let (low, high) = pair(complaints, node, example)?;
    let (low, high): (Option<T>, Option<T>) = (quantity(complaints, low), quantity(complaints, high));
    match (low?, high?) {
        (low, high) if low <= high => Some((low, high)),
        _ => complaints.wrong(
            node.place,
            "a range that ends before it begins",
            "the second is less than the first",
            format!("write the smaller value first, as in {example}"),
        ),
    }
}

/// The shape that goes with a Pareto distribution, if one was chosen: above 1, so that it has a mean.
pub(crate) fn shape(fields: &mut Fields<'_>, chosen: Option<(&'static str, &Node)>) -> Option<f64> {
    let (key, _) = chosen?;
    let node = key.starts_with("pareto").then(|| fields.required("shape", "1.2"))?;
    number(fields.complaints, node?, 1.001, 100.0)
}

/// One of a few alternatives: a table in which exactly one of `keys` is written. If an override brought a second
/// one, it wins over what the file says. To be followed by [`Fields::finish`], which complains about a misspelt one.
pub(crate) fn alternative<'a>(
    fields: &mut Fields<'a>,
    keys: &[&'static str],
    forms: &str,
) -> Option<(&'static str, &'a Node)> {
    let written: Vec<_> = keys.iter().filter_map(|key| Some((*key, fields.get(key)?))).collect();
    let newest = written.iter().map(|(_, node)| node.place.text).max();
    let mut candidates = written.iter().filter(|(_, node)| Some(node.place.text) == newest);
    match (candidates.next(), candidates.next()) {
        (Some(one), None) => Some(*one),
        (None, _) if fields.misspells(keys) => None,
        _ => {
            let message = format!("expected one of {}", keys.join(", "));
            let label = "exactly one of them must be here";
            fields.complaints.wrong(fields.place, message, label, format!("write {forms}"))
        }
    }
}
