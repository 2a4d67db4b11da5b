//! `millpond coexistence --harm` and `millpond compare --harm`: the harm of flows to others, beside the harm that the others'
//! own protocol does to them.

use crate::args;
use crate::command_line::origin;
use crate::failure::Outcome;
use crate::interrupt::Interrupt;
use crate::output::print_results;
use crate::progress::Progress;
use millpond_lab::{CompetingFlows, HarmPlan, HarmRow, HarmTo};
use millpond_law::Card;
use millpond_protocols::Registry;
use millpond_results::Estimate;
use millpond_scenario::{Faults, Scenario, join_settings};
use millpond_terminal::{self as terminal, Document, HarmCells};
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// The harm of a protocol to CUBIC.
pub(super) fn harm(card: &Card, args: &args::Coexistence, registry: &Registry) -> Outcome {
    let plan = HarmPlan::to_cubic(&args.protocol, card, &CompetingFlows::BESIDE_CUBIC)?;
    let rows = run(&plan, args.seeds, registry)?;
    let json = || serde_json::to_string_pretty(&Harms::of(&args.protocol, args.seeds, &rows));
    print_results(&args.form, json, || terminal::harm(&args.protocol, "CUBIC", rows.iter().map(shown)))?;
    Ok(ExitCode::SUCCESS)
}

/// The harm of a group of a scenario to the others.
pub(super) fn harm_by_group(
    group: &str,
    scenario: Scenario,
    args: &args::Compare,
    registry: &Registry,
) -> Outcome {
    let plan = HarmPlan::by_group(scenario, group, &join_settings(&args.protocols)).map_err(Faults::from)?;
    let rows = run(&plan, args.seeds, registry)?;
    let json = || serde_json::to_string_pretty(&GroupHarms::of(group, args.seeds, &rows));
    let document = || {
        rows.chunk_by(|one, next| one.by == next.by).fold(Document::default(), |document, of_protocol| {
            let subject = of_protocol.first().map_or("", |row| row.by.as_str());
            document.then(terminal::harm(subject, "own kind", of_protocol.iter().map(shown_with_protocol)))
        })
    };
    print_results(&args.form, json, document)?;
    Ok(ExitCode::SUCCESS)
}

fn run(plan: &HarmPlan, seeds: u64, registry: &Registry) -> Result<Vec<HarmRow>, crate::failure::Failure> {
    let progress = Progress::of_all(plan.run_count(seeds), Interrupt::install()?);
    let rows = plan.run(seeds, registry, &progress);
    progress.clear();
    Ok(rows?)
}

fn shown(row: &HarmRow) -> (String, [HarmCells; 2]) {
    let cells = |harm: HarmTo| (harm.by_flows, harm.by_own_kind, harm.verdict.name());
    (row.label.clone(), [row.goodput, row.delay].map(cells))
}

fn shown_with_protocol(row: &HarmRow) -> (String, [HarmCells; 2]) {
    let (label, cells) = shown(row);
    (format!("{label} ({})", row.own_kind), cells)
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
            by_protocol: harm.by_flows,
            by_cubic: harm.by_own_kind,
            verdict: harm.verdict.name().to_owned(),
        };
        let row = |row: &HarmRow| HarmJson {
            flows: row.label.clone(),
            goodput: to(row.goodput),
            delay: to(row.delay),
        };
        Self { protocol: protocol.to_owned(), seeds, rows: rows.iter().map(row).collect() }
    }
}

/// The harm of a group of a scenario to each other group: how much worse the others do beside it than without it, from 0 (no
/// harm) to 1; below 0 they do better.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GroupHarms {
    /// The command, without the options that change no result.
    command: String,
    /// The group that does harm.
    group: String,
    /// The number of seeds.
    seeds: u64,
    /// For each protocol of the group one for each other group.
    rows: Vec<GroupHarmJson>,
}

/// The harm to one group.
#[derive(Serialize, JsonSchema)]
struct GroupHarmJson {
    /// The protocol of the group that does harm.
    protocol: String,
    /// The harmed group.
    harmed: String,
    /// The protocol of the harmed group, which replaces `protocol` in the runs of comparison.
    own_kind: String,
    /// The harm to goodput: (alone - beside) / alone.
    goodput: GroupHarmToJson,
    /// The harm to the 95th percentile of the one-way times of data: (beside - alone) / beside.
    delay: GroupHarmToJson,
}

/// The harm to one quantity of a group.
#[derive(Serialize, JsonSchema)]
struct GroupHarmToJson {
    /// By the group; null if the quantity was measured under no seed.
    by_group: Option<Estimate>,
    /// By as many flows of the harmed group's own protocol in the same place.
    by_own_kind: Option<Estimate>,
    /// Whether the group does more harm than the own kind, at 95 % confidence over the seeds: `no more`, `more` or
    /// `undecided`. Harms that differ by at most 0.01 are equal.
    verdict: String,
}

impl GroupHarms {
    fn of(group: &str, seeds: u64, rows: &[HarmRow]) -> Self {
        let to = |harm: HarmTo| GroupHarmToJson {
            by_group: harm.by_flows,
            by_own_kind: harm.by_own_kind,
            verdict: harm.verdict.name().to_owned(),
        };
        let row = |row: &HarmRow| GroupHarmJson {
            protocol: row.by.clone(),
            harmed: row.label.clone(),
            own_kind: row.own_kind.clone(),
            goodput: to(row.goodput),
            delay: to(row.delay),
        };
        let rows = rows.iter().map(row).collect();
        Self { command: origin().command, group: group.to_owned(), seeds, rows }
    }
}
