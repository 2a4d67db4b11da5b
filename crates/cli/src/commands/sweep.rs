//! `millpond sweep`: a scenario for many values of some keys, into a dataset.

use crate::args;
use crate::command_line::VERSION;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::messages::note;
use crate::output::print_results;
use crate::progress::Progress;
use crate::scenario::world;
use millpond_analysis_report::SweepPage;
use millpond_protocols::Registry;
use millpond_results::World;
use millpond_scenario::join_settings;
use millpond_sweep::{Dataset, MeanRow, SweepPlan, SweepSpec, means, number_without_randomness, run_cells};
use millpond_terminal as terminal;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// Exit code 1 if a run has no results.
pub(crate) fn sweep(args: &args::Sweep, registry: &Registry) -> Outcome {
    let plan = SweepPlan::new(spec(args)?, registry, VERSION)?;
    let interrupt = Interrupt::install()?;
    if args.existing.force {
        Dataset::remove(&args.out)?;
    }
    let dataset = Dataset::open(&args.out, &plan)?;
    let (missing, all) = (dataset.missing().len(), plan.cells().len());
    if missing < all {
        note(format_args!("{}: has {} of {all} runs", args.out.display(), all - missing));
    }
    let progress = Progress::of_all(missing, interrupt);
    let ended = run_cells(&plan, &dataset, &progress);
    progress.clear();
    ended?;
    let records = dataset.records()?;
    dataset.write_tables(&records)?;
    let found = SweepMeans { rows: means(&records) };
    warn_of_fixed(number_without_randomness(&records), found.rows.len());
    drop(records);
    let page =
        SweepPage { rows: &found.rows, title: plan.title(), made: &plan.origin(), runs_of_command: all };
    let report = dataset.write_report(&millpond_analysis_report::sweep(&page))?;
    note(format_args!("report: {}", report.display()));
    let json = || serde_json::to_string_pretty(&found);
    print_results(&args.form, json, || terminal::sweep(&found.rows))?;
    let has_failed = found.rows.iter().any(|row| row.failed > 0);
    Ok(ExitCode::from(u8::from(has_failed)))
}

/// A warning that the intervals of this many rows are no estimates of an uncertainty.
fn warn_of_fixed(rows: usize, all: usize) {
    if rows > 0 {
        note(format_args!(
            "warning: all seeds give the same results in {rows} of {all} rows: nothing in these runs is random"
        ));
    }
}

fn spec(args: &args::Sweep) -> Result<SweepSpec, Failure> {
    let world = world(args.world);
    if world == World::Live {
        return Err(Failure::input(
            "--world live: a sweep makes many runs at once, and a live run needs the machine for itself; use millpond run or compare",
        ));
    }
    Ok(SweepSpec {
        file: args.scenario.file.clone(),
        sets: args.scenario.sets.clone(),
        seed: args.scenario.seed,
        varied: args.vary.clone(),
        samples: args.samples,
        protocols: join_settings(&args.protocols),
        world,
        seeds: args.seeds,
    })
}

/// The runs of a dataset: a row for each combination of settings and protocol.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SweepMeans {
    /// In the order of their settings.
    rows: Vec<MeanRow>,
}
