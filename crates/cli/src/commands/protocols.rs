//! `millpond protocols`: all protocols and queues, or one of them with its parameters.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::print;
use millpond_protocols::Registry;
use millpond_report::terminal;
use std::process::ExitCode;

pub(crate) fn protocols(args: &args::Protocols, registry: &Registry) -> Outcome {
    print(match &args.name {
        None => terminal::protocols(registry),
        Some(name) => terminal::protocol(registry, name).ok_or_else(|| unknown(registry, name))?,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(registry: &Registry, name: &str) -> Failure {
    let protocols = registry.protocols().map(|protocol| protocol.card().name);
    let names: Vec<&str> = protocols.chain(registry.queues().map(|queue| queue.card().name)).collect();
    let near = millpond_units::nearest(name, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
    Failure::input(format!("no protocol or queue \"{name}\"; {near}there are: {}", names.join(", ")))
}
