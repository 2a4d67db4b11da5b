//! `millpond coexistence`: the shares of a protocol beside CUBIC and of flows that join late, or its harm to CUBIC.

use super::harm::harm;
use super::protocols::{protocol_names, unknown};
use crate::args;
use crate::failure::Outcome;
use crate::interrupt::Interrupt;
use crate::output::print_results;
use crate::progress::Progress;
use millpond_lab::{CoexistenceRow, CompetingFlows, coexistence as shares};
use millpond_protocols::Registry;
use millpond_scenario::name_without_settings;
use millpond_terminal as terminal;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

pub(crate) fn coexistence(args: &args::Coexistence, registry: &Registry) -> Outcome {
    // The settings of a variant stand behind a colon.
    let (name, protocol) = (&args.protocol, name_without_settings(&args.protocol));
    let card = match registry.protocol(protocol) {
        Ok(protocol) => protocol.card(),
        Err(_) => return Err(unknown("protocol", protocol, protocol_names(registry))),
    };
    if args.harm {
        return harm(card, args, registry);
    }
    let progress = Progress::of_all(CompetingFlows::ROWS.len(), Interrupt::install()?);
    let rows = shares(name, card, &CompetingFlows::ROWS, registry, &progress);
    progress.clear();
    let rows = rows?;
    let json = || serde_json::to_string_pretty(&Coexistence::of(name, &rows));
    print_results(&args.form, json, || terminal::coexistence(name, rows.iter().map(shown)))?;
    Ok(ExitCode::SUCCESS)
}

/// The label of a row, and its numbers with their texts.
fn shown(row: &CoexistenceRow) -> (String, [(f64, String); 4]) {
    let [label, texts @ ..] = row.texts();
    let mut texts = texts.into_iter();
    let with_text = |value| (value, texts.next().unwrap_or_default());
    (label, [row.least, row.greatest, row.other, row.utilization].map(with_text))
}

/// Shares of a protocol beside other flows.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Coexistence {
    /// The protocol.
    protocol: String,
    /// One for each set of flows.
    rows: Vec<Shares>,
}

/// Shares of the flows at one link. A share is a goodput divided by the equal share of the link.
#[derive(Serialize, JsonSchema)]
struct Shares {
    /// The flows that share the link.
    flows: String,
    /// The least share of the protocol's flows, the late one excepted.
    least: f64,
    /// The greatest of them.
    greatest: f64,
    /// The share of the flow of CUBIC, or of the late flow.
    other: f64,
    /// The utilization of the link.
    utilization: f64,
}

impl Coexistence {
    fn of(protocol: &str, rows: &[CoexistenceRow]) -> Self {
        let shares = |row: &CoexistenceRow| Shares {
            flows: row.competition.label(),
            least: row.least,
            greatest: row.greatest,
            other: row.other,
            utilization: row.utilization,
        };
        Self { protocol: protocol.to_owned(), rows: rows.iter().map(shares).collect() }
    }
}
