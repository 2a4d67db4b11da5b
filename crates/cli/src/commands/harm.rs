//! `millpond coexistence --harm`: the harm of a protocol to CUBIC, beside the harm that CUBIC does to itself.

use crate::args;
use crate::failure::Outcome;
use crate::interrupt::Interrupt;
use crate::output::print_results;
use crate::progress::Progress;
use millpond_lab::{CompetingFlows, HarmRow, HarmTo, harm as harm_of};
use millpond_law::Card;
use millpond_protocols::Registry;
use millpond_report::terminal::{self, HarmCells};
use millpond_results::Estimate;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

pub(super) fn harm(card: &Card, args: &args::Coexistence, registry: &Registry) -> Outcome {
    let competitions = CompetingFlows::BESIDE_CUBIC;
    let seeds = usize::try_from(args.seeds).unwrap_or(usize::MAX);
    let runs = (competitions.len() * HarmRow::RUNS).saturating_mul(seeds);
    let progress = Progress::of_all(runs, Interrupt::install()?);
    let rows = harm_of(card, &competitions, args.seeds, registry, &progress);
    progress.clear();
    let rows = rows?;
    let json = || serde_json::to_string_pretty(&Harms::of(card.name, args.seeds, &rows));
    let shown = |row: &HarmRow| (row.competition.label(), [row.goodput, row.delay].map(cells));
    print_results(&args.form, json, || terminal::harm(card.name, rows.iter().map(shown)))?;
    Ok(ExitCode::SUCCESS)
}

fn cells(harm: HarmTo) -> HarmCells {
    (harm.by_protocol, harm.by_cubic, harm.verdict.name())
}

/// The harm of a protocol to a flow of CUBIC: how much worse the flow does beside others than alone at the same link, from 0
/// (no harm) to 1; below 0 it does better.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Harms {
    /// The protocol.
    protocol: String,
    /// The number of seeds for each set of flows.
    seeds: u64,
    /// One for each set of flows.
    rows: Vec<HarmJson>,
}

/// The harm by one set of flows.
#[derive(Serialize, JsonSchema)]
struct HarmJson {
    /// The flows that share the link.
    flows: String,
    /// The harm to goodput: (alone - beside) / alone.
    goodput: HarmToJson,
    /// The harm to the 95th percentile of the one-way times of data: (beside - alone) / beside.
    delay: HarmToJson,
}

/// The harm to one quantity.
#[derive(Serialize, JsonSchema)]
struct HarmToJson {
    /// By the flows of the protocol; null if the quantity was measured under no seed.
    by_protocol: Option<Estimate>,
    /// By as many flows of CUBIC.
    by_cubic: Option<Estimate>,
    /// Whether the protocol does more harm than CUBIC, at 95 % confidence over the seeds: `no more`, `more` or
    /// `undecided`. Harms that differ by at most 0.01 are equal.
    verdict: String,
}

impl Harms {
    fn of(protocol: &str, seeds: u64, rows: &[HarmRow]) -> Self {
        let to = |harm: HarmTo| HarmToJson {
            by_protocol: harm.by_protocol,
            by_cubic: harm.by_cubic,
            verdict: harm.verdict.name().to_owned(),
        };
        let row = |row: &HarmRow| HarmJson {
            flows: row.competition.label(),
            goodput: to(row.goodput),
            delay: to(row.delay),
        };
        Self { protocol: protocol.to_owned(), seeds, rows: rows.iter().map(row).collect() }
    }
}
