//! `millpond compare`: the same network and random samples under several protocols, at several queues or in several worlds;
//! tables and a report.

use super::comparison_report::{finish_report, new_report};
use super::harm::harm_by_group;
use super::perturb::perturb;
use crate::args;
use crate::command_line::{VERSION, origin};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::messages::note;
use crate::output::{print_results, trust};
use crate::progress::Progress;
use crate::scenario::{load, world};
use millpond_diagnosis::agreement::Agreement;
use millpond_lab::compare as compare_runs;
use millpond_lab::{
    Choice, ComparisonCase, Deployment, cases, is_run_of, labels_without_randomness, live_agreements,
    notes_on_queues, world_agreements,
};
use millpond_protocols::Registry;
use millpond_report as page;
use millpond_results::files::load as load_run;
use millpond_results::files::{ComparisonDirectory, Extras, OutputError, comparison_json};
use millpond_results::{Comparison, Finished, Run};
use millpond_scenario::join_settings;
use millpond_terminal::{self as terminal, Document};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn compare(args: &args::Compare, registry: &Registry) -> Outcome {
    let scenario = load(&args.scenario, registry)?;
    if let Some(group) = &args.harm {
        return harm_by_group(group, scenario, args, registry);
    }
    if !args.perturb.is_empty() {
        return perturb(scenario, args, registry);
    }
    let choice = choice(args);
    let cases = cases(&scenario, registry, &choice)?;
    let interrupt = Interrupt::install()?;
    // Outputs that cannot be written are refused before the runs.
    let directory = args.out.as_deref().map(begin(args)).transpose().map_err(Failure::input)?;
    let page = new_report(args)?;
    let runs = run_all(&cases, registry, directory.as_ref(), interrupt)?;
    warn(&runs);
    let mut comparison = Comparison::of(&runs).made_by(origin().command, &args.scenario.sets);
    comparison.findings.extend(notes_on_queues(&cases, registry)?);
    if let Some(directory) = &directory {
        directory.write_comparison(&comparison).map_err(Failure::input)?;
    }
    let agreements = world_agreements(&cases, &runs, registry);
    let live = live_agreements(&cases, &runs);
    let document = || {
        let of = |document: Document, (_, one): &(_, Agreement)| document.then(terminal::agreement(one));
        let worlds = agreements.iter().fold(terminal::comparison(&comparison), of);
        worlds.then(terminal::live_agreement(&live))
    };
    print_results(&args.form, || comparison_json(&comparison), document)?;
    let html = page::comparison(&runs, &scenario.title, &agreements, &live, &comparison.findings);
    finish_report(args, page, &html)?;
    Ok(trust(runs.iter().map(|run| &run.summary)))
}

/// How the directory of `--out` is begun.
fn begin(args: &args::Compare) -> fn(&Path) -> Result<ComparisonDirectory, OutputError> {
    match (args.resume, args.existing.force) {
        (true, _) => ComparisonDirectory::resume,
        (false, true) => ComparisonDirectory::replace,
        (false, false) => ComparisonDirectory::create,
    }
}

/// Which protocols, deployed at which shares, at which queues, in which worlds, under how many seeds.
fn choice(args: &args::Compare) -> Choice {
    let typed = if args.worlds.is_empty() { vec![args.world] } else { args.worlds.clone() };
    let mut worlds = typed.into_iter().map(world).collect::<Vec<_>>();
    worlds.sort_unstable();
    worlds.dedup();
    let deployment = (!args.deploy.is_empty()).then(|| Deployment {
        percentages: args.deploy.clone(),
        baseline: args.baseline.clone(),
        links: args.deploy_at.clone(),
    });
    Choice {
        protocols: join_settings(&args.protocols),
        queues: args.queues.clone(),
        deployment,
        worlds,
        seeds: args.seeds,
    }
}

/// Runs every case. Each run is written into `directory` as soon as it has ended.
fn run_all(
    cases: &[ComparisonCase],
    registry: &Registry,
    directory: Option<&ComparisonDirectory>,
    interrupt: Interrupt,
) -> Result<Vec<Run>, Failure> {
    let mut runs = cases
        .iter()
        .map(|case| directory.map_or(Ok(None), |directory| finished_run(case, directory)))
        .collect::<Result<Vec<Option<Run>>, Failure>>()?;
    let is_missing = |(case, run): (&ComparisonCase, &Option<Run>)| run.is_none().then(|| case.clone());
    let cases: Vec<ComparisonCase> = cases.iter().zip(&runs).filter_map(is_missing).collect();
    let labels: Vec<String> = cases.iter().map(|case| case.directory.clone()).collect();
    let progress = Progress::of_each(&labels, interrupt);
    let keep = |case: &ComparisonCase, finished: &Finished| -> Result<(), OutputError> {
        let Some(directory) = directory else { return Ok(()) };
        directory.keep(&case.directory, &finished.run, &finished.timing, Extras::default())
    };
    let finished = compare_runs(&cases, registry, &origin(), &keep, &progress);
    progress.clear();
    let mut finished = finished?.into_iter();
    for run in runs.iter_mut().filter(|run| run.is_none()) {
        *run = finished.next().map(|finished| finished.run);
    }
    Ok(runs.into_iter().flatten().collect())
}

/// The run of this case that an interrupted comparison has written.
///
/// # Errors
/// A run of another scenario, of another trace or of another version.
fn finished_run(case: &ComparisonCase, directory: &ComparisonDirectory) -> Result<Option<Run>, Failure> {
    let Some(path) = directory.finished(&case.directory) else { return Ok(None) };
    let run = load_run(&path).map_err(Failure::input)?.into_iter().next();
    let is_same = |Run { summary, .. }: &Run| {
        summary.world == case.world.name() && summary.version == VERSION && is_run_of(summary, &case.scenario)
    };
    match run {
        Some(run) if is_same(&run) => {
            Ok(Some(Run { label: case.label.clone(), command: origin().command, ..run }))
        }
        Some(_) => Err(Failure::input(format!(
            "{}: a run of another scenario, trace or version of Millpond; give --out another name, or replace it with --force",
            path.display()
        ))),
        None => Ok(None),
    }
}

/// Prints each warning once.
fn warn(runs: &[Run]) {
    let warnings: BTreeSet<&String> = runs.iter().flat_map(|run| &run.summary.warnings).collect();
    for warning in warnings {
        note(format_args!("warning: {warning}"));
    }
    let fixed = labels_without_randomness(runs);
    if !fixed.is_empty() {
        let labels = fixed.into_iter().collect::<Vec<_>>().join(", ");
        note(format_args!(
            "warning: all seeds give the same results for {labels}: nothing in these runs is random"
        ));
    }
}
