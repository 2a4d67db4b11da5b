//! `millpond protocols`: all protocols and queues, or one of them with its parameters.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::print_results;
use millpond_law::key::Keys;
use millpond_law::{Parameter, Protocol, Queue};
use millpond_protocols::Registry;
use millpond_terminal::{self as terminal, Document};
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

pub(crate) fn protocols(args: &args::Protocols, registry: &Registry) -> Outcome {
    let document = match &args.name {
        None => terminal::protocols(registry),
        Some(name) => one(registry, name, args.form)?,
    };
    let json = || serde_json::to_string_pretty(&Catalogue::of(registry, args.name.as_deref()));
    print_results(&args.form, json, || document)?;
    Ok(ExitCode::SUCCESS)
}

/// One protocol or one queue: a text on a terminal, else the table of its parameters.
fn one(registry: &Registry, name: &str, form: args::OutputForm) -> Result<Document, Failure> {
    let names = || protocol_names(registry).chain(registry.queues().map(|queue| queue.card().name));
    let text =
        terminal::protocol(registry, name).ok_or_else(|| unknown("protocol or queue", name, names()))?;
    if form.is_terminal() {
        return Ok(text);
    }
    let protocol = registry.protocol(name).ok().map(|protocol| protocol.card().parameters);
    let parameters = protocol.or_else(|| Some(registry.queue(name).ok()?.card().parameters));
    Ok(terminal::parameter_table(parameters.unwrap_or_default()))
}

/// Protocols and queues with their parameters.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Catalogue {
    /// The protocols.
    protocols: Vec<ProtocolEntry>,
    /// The queues.
    queues: Vec<QueueEntry>,
}

/// A protocol.
#[derive(Serialize, JsonSchema)]
struct ProtocolEntry {
    /// As scenario files spell it.
    name: &'static str,
    /// The name in full.
    title: &'static str,
    /// One sentence.
    summary: &'static str,
    /// Where it is defined.
    source: &'static str,
    /// The queue of its links, unless the scenario sets one.
    default_queue: &'static str,
    /// Its parameters.
    parameters: Vec<ParameterEntry>,
}

/// A queue.
#[derive(Serialize, JsonSchema)]
struct QueueEntry {
    /// As scenario files spell it.
    name: &'static str,
    /// The name in full.
    title: &'static str,
    /// Where it is defined.
    source: &'static str,
    /// Its parameters.
    parameters: Vec<ParameterEntry>,
}

/// A parameter of a protocol or of a queue.
#[derive(Serialize, JsonSchema)]
struct ParameterEntry {
    /// As scenario files spell it.
    name: &'static str,
    /// The default, as a scenario file writes it, a text without its quotation marks.
    default: String,
    /// The unit; empty for a number without unit, a word or a truth value.
    unit: &'static str,
    /// Which values are permitted.
    domain: String,
    /// What it does.
    meaning: &'static str,
    /// Where it comes from.
    source: &'static str,
}

impl Catalogue {
    /// All protocols and queues, or those called `name`.
    fn of(registry: &Registry, name: Option<&str>) -> Self {
        let is_chosen = |one: &str| name.is_none_or(|name| name == one);
        let protocol = |protocol: &dyn Protocol| {
            let card = protocol.card();
            ProtocolEntry {
                name: card.name,
                title: card.title,
                summary: card.summary,
                source: card.source,
                default_queue: card.queue.name,
                parameters: entries(card.parameters),
            }
        };
        let queue = |queue: &dyn Queue| {
            let card = queue.card();
            let parameters = entries(card.parameters);
            QueueEntry { name: card.name, title: card.title, source: card.source, parameters }
        };
        Self {
            protocols: registry.protocols().map(protocol).filter(|one| is_chosen(one.name)).collect(),
            queues: registry.queues().map(queue).filter(|one| is_chosen(one.name)).collect(),
        }
    }
}

fn entries(keys: Keys) -> Vec<ParameterEntry> {
    let entry = |parameter: Parameter| ParameterEntry {
        name: parameter.name,
        default: terminal::parameter_default(&parameter),
        unit: if parameter.unit == "1" { "" } else { parameter.unit },
        domain: parameter.domain.to_string(),
        meaning: parameter.meaning,
        source: parameter.source,
    };
    keys.iter().map(|key| entry(key.parameter())).collect()
}

pub(super) fn protocol_names(registry: &Registry) -> impl Iterator<Item = &'static str> {
    registry.protocols().map(|protocol| protocol.card().name)
}

/// The failure of a name of this kind that is none of `names`, with the nearest of them.
pub(super) fn unknown<'a>(kind: &str, name: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let names: Vec<&str> = names.collect();
    let near = millpond_units::nearest(name, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
    Failure::input(format!("no {kind} \"{name}\"; {near}there are: {}", names.join(", ")))
}
