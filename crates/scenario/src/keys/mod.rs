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
use crate::source::Faults;
use crate::table::{Form, ReadContext, TraceCache, Written};
use crate::tree::{TomlNode, TomlTable};
use std::path::Path;

/// Reads a whole document.
pub(crate) fn read(
    faults: FaultCollector,
    files: &dyn Files,
    folder: &Path,
    document: &TomlNode,
) -> Result<Scenario, Faults> {
    let (traces, network) = (TraceCache::default(), Network::default());
    let top_keys = scenario::top_keys();
    let context = ReadContext {
        faults: &faults,
        files,
        folder,
        traces: &traces,
        duration: None,
        network: &network,
        flows: &[],
        top_keys: &top_keys,
    };
    let (form, table) = (Form::Table(&scenario::SCENARIO), TomlTable::default());
    let written = Written { context: &context, node: document, form: &form, table: &table };
    texts::check(&faults, document);
    if !faults.is_empty() {
        return Err(faults.into_faults());
    }
    match scenario::read(&written) {
        Some(scenario) if faults.is_empty() => Ok(Scenario { sources: faults.sources, ..scenario }),
        _ => Err(faults.into_faults()),
    }
}

/// Reports a name that is taken already.
fn unique(faults: &FaultCollector, name: &At<String>, what: &str, is_taken: bool) {
    if is_taken {
        let message = format!("a second {what} called \"{}\"", name.value);
        let _: Option<()> = faults.report(name.place, message, "taken", "give each its own name");
    }
}
