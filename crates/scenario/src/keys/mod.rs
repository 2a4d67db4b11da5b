//! The keys of a scenario: one file for each TOML table, with the table of its keys and what reads it.

mod applications;
mod capacity;
mod conduct;
mod endpoint;
pub(crate) mod flows;
mod fluid;
mod link_layers;
pub(crate) mod links;
mod loss;
mod measure;
mod paths;
mod processing;
mod protocols;
mod queues;
mod rate_code;
pub(crate) mod scenario;
mod shorthand;
mod sizes;
mod texts;
mod times;
mod trace;
mod workloads;

use crate::collector::FaultCollector;
use crate::files::Files;
use crate::model::Scenario;
use crate::network::Network;
use crate::place::At;
use crate::source::{Fault, Faults};
use crate::table::{Describe, Form, ReadContext, TraceCache, Written};
use crate::tree::{TomlNode, TomlTable};
use std::path::Path;

/// Finds faults of a scenario that reading it does not find.
pub type FurtherCheck<'a> = &'a dyn Fn(&Scenario) -> Vec<Fault>;

/// Reads a whole document.
pub(crate) fn read(
    faults: FaultCollector,
    files: &dyn Files,
    folder: &Path,
    document: &TomlNode,
    further: FurtherCheck<'_>,
) -> Result<Scenario, Faults> {
    let (traces, network) = (TraceCache::default(), Network::default());
    let top_keys = scenario::top_keys();
    let context = ReadContext {
        faults: &faults,
        files,
        folder,
        traces: &traces,
        duration: None,
        seed: 0,
        network: &network,
        flows: &[],
        top_keys: &top_keys,
        other_table_with,
    };
    let (form, table) = (Form::Table(&scenario::SCENARIO), TomlTable::default());
    let written = Written { context: &context, node: document, form: &form, table: &table };
    texts::check(&faults, document);
    if !faults.is_empty() {
        return Err(faults.into_faults(Vec::new()));
    }
    let sources = faults.sources.clone();
    match scenario::read(&written).map(|scenario| Scenario { sources, ..scenario }) {
        Some(scenario) if faults.is_empty() => Ok(scenario),
        Some(readable) => Err(faults.into_faults(further(&readable))),
        None => Err(faults.into_faults(Vec::new())),
    }
}

/// Reports a name that is taken already.
fn unique(faults: &FaultCollector, name: &At<String>, what: &str, is_taken: bool) {
    if is_taken {
        let message = format!("a second {what} called \"{}\"", name.value);
        let _: Option<()> = faults.report(name.place, message, "taken", "give each its own name");
    }
}

/// All tables that a scenario can contain and that are described by themselves, each once.
pub(crate) fn documented() -> Vec<&'static dyn Describe> {
    let mut found: Vec<&'static dyn Describe> = vec![&scenario::SCENARIO];
    let mut next = 0;
    while let Some(&table) = found.get(next) {
        next += 1;
        for inner in table.keys().iter().flat_map(|key| key.form.tables()) {
            if inner.summary().is_none() && found.iter().all(|table| table.name() != inner.name()) {
                found.push(inner);
            }
        }
    }
    found
}

/// What the only table describes that has this key, if it is something else than `table`; none if several have it.
fn other_table_with(key: &str, table: &str) -> Option<&'static str> {
    let has_key = |table: &&'static dyn Describe| table.keys().iter().any(|known| known.name == key);
    let mut tables = documented().into_iter().filter(has_key).map(Describe::name);
    tables.next().filter(|found| tables.next().is_none() && *found != table)
}
