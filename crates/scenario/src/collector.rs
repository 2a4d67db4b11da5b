//! Collects the faults of a scenario, so that one reading finds all mistakes that do not hide one another.

use crate::model::ProtocolEntry;
use crate::place::{At, Place};
use crate::source::{Fault, Faults, Sources};
use crate::tree::TomlNode;
use millpond_units::nearest;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Longer lists of names are cut.
const MAX_LISTED: usize = 20;

/// The first names of a list.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    match names.get(..MAX_LISTED) {
        Some(first) => format!("{}, ... ({} in all)", first.join(", "), names.len()),
        None => names.join(", "),
    }
}

/// The faults found so far. Its methods return `None`, as a reader that failed does.
pub(crate) struct FaultCollector {
    pub(crate) sources: Sources,
    faults: RefCell<Vec<(Place, Fault)>>,
    /// Keys of the scenario that stand in one of its tables: they are not missing, but misplaced.
    misplaced: RefCell<Vec<String>>,
}

impl FaultCollector {
    pub(crate) fn new(sources: Sources) -> Self {
        Self { sources, faults: RefCell::default(), misplaced: RefCell::default() }
    }

    /// Reports that the value at `place` is wrong.
    pub(crate) fn report<T>(
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

    /// Reports a fault of the file that is named at `place`. `label` is shown if the fault points at no line itself.
    pub(crate) fn forward<T>(&self, place: Place, fault: Fault, label: &str) -> Option<T> {
        self.faults.borrow_mut().push((place, self.sources.placed(fault, place, label)));
        None
    }

    /// Reports an unknown name with the nearest known one. `what` is the kind of name: "node".
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
            None if list.is_empty() => format!("there is no {what} here"),
            None => format!("known here: {list}"),
        };
        self.report(written.place, format!("unknown {what} \"{name}\""), format!("no such {what}"), help)
    }

    /// Reports a key of a `table` that only another table has.
    pub(crate) fn of_other_table<T>(
        &self,
        key: &At<String>,
        table: &str,
        other: &str,
        known: &[&str],
    ) -> Option<T> {
        let message = format!("\"{}\" is a key of a {other}, not of a {table}", key.value);
        let near = nearest(&key.value, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!(" (or did you mean \"{near}\"?)"));
        let help = format!(
            "write it in the table of a {other}{near}. Known here: {}",
            listed(known.iter().copied())
        );
        self.report(key.place, message, format!("no such key of a {table}"), help)
    }

    /// Reports an unknown key of a `table` with parameters of a law, whose names are not known here.
    pub(crate) fn perhaps_of_law<T>(&self, key: &At<String>, table: &str, known: &[&str]) -> Option<T> {
        let help = format!(
            "if it is a parameter of the law, write {}.{}. Known here: {}",
            ProtocolEntry::PARAMS,
            key.value,
            listed(known.iter().copied())
        );
        let message = format!("unknown key of a {table} \"{}\"", key.value);
        self.report(key.place, message, format!("no such key of a {table}"), help)
    }

    /// Reports a key at the top of a scenario that stands in the table of a `table`, or after the path of one in an option.
    pub(crate) fn misplaced(&self, key: &At<String>, table: &str, known: &[&str]) {
        let message = format!("\"{}\" is a key of the scenario, not of a {table}", key.value);
        let (label, help) = match key.place.text {
            Sources::SCENARIO => (
                "below a table header".to_owned(),
                "every key below a table header belongs to that table: write this one above the first header"
                    .to_owned(),
            ),
            _ => (
                format!("no such key of a {table}"),
                format!(
                    "the path of a key of the scenario is its name alone. Known here: {}",
                    listed(known.iter().copied())
                ),
            ),
        };
        let _: Option<()> = self.report(key.place, message, label, help);
        self.misplaced.borrow_mut().push(key.value.clone());
    }

    /// Whether this key of the scenario was found in one of its tables.
    pub(crate) fn is_misplaced(&self, key: &str) -> bool {
        self.misplaced.borrow().iter().any(|found| found == key)
    }

    /// Reports a value of another kind than expected.
    pub(crate) fn expected<T>(&self, node: &TomlNode, expected: &str) -> Option<T> {
        let found = node.value.kind();
        self.report(
            node.place,
            format!("expected {expected}"),
            format!("this is {found}"),
            format!("write {expected}"),
        )
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.faults.borrow().is_empty()
    }

    /// How many faults were found so far.
    pub(crate) fn len(&self) -> usize {
        self.faults.borrow().len()
    }

    /// All faults, and `further` ones at places of the same texts, in the order of the texts.
    pub(crate) fn into_faults(self, further: Vec<Fault>) -> Faults {
        let mut faults = self.faults.into_inner();
        faults.extend(further.into_iter().map(|fault| (self.sources.place_of(&fault), fault)));
        faults.sort_by_key(|(place, _)| *place);
        Faults(one_for_each_cause(faults.into_iter().map(|(_, fault)| fault)))
    }
}

impl Faults {
    /// Faults at places of these texts, in the order of the texts.
    pub(crate) fn in_order(sources: &Sources, faults: Vec<Fault>) -> Self {
        FaultCollector::new(sources.clone()).into_faults(faults)
    }
}

/// The first of all faults that have the same texts, with the places of the others: a wrong key in every row of a table is one
/// mistake.
fn one_for_each_cause(faults: impl Iterator<Item = Fault>) -> Vec<Fault> {
    let mut causes: Vec<Fault> = Vec::new();
    let mut others: Vec<Vec<Fault>> = Vec::new();
    let mut known: BTreeMap<[String; 3], usize> = BTreeMap::new();
    for fault in faults {
        let index = *known.entry(fault.texts()).or_insert(causes.len());
        match others.get_mut(index) {
            Some(same) => same.push(fault),
            None => {
                causes.push(fault);
                others.push(Vec::new());
            }
        }
    }
    causes.into_iter().zip(others).map(|(fault, others)| fault.also_at(&others)).collect()
}
