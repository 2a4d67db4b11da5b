//! `millpond compare`: the same network and random samples under several protocols or in several worlds; tables and a
//! report.

use crate::args;
use crate::command_line::command_line;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::print_results;
use crate::progress::Progress;
use crate::scenario::{load, world};
use millpond_diagnosis::agreement::{Agreement, compute_agreement};
use millpond_lab::compare as compare_runs;
use millpond_lab::{Choice, ComparisonCase, cases, labels_without_randomness};
use millpond_protocols::Registry;
use millpond_report::page;
use millpond_report::terminal::{self, Document};
use millpond_results::files::{AtomicFile, ComparisonDirectory, Extras, OutputError, comparison_json};
use millpond_results::{Comparison, Finished, Run, World};
use millpond_theory::Study;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn compare(args: &args::Compare, registry: &Registry) -> Outcome {
    let interrupt = Interrupt::install()?;
    let scenario = load(&args.scenario)?;
    let choice = choice(args)?;
    let cases = cases(&scenario, registry, &choice)?;
    // Outputs that cannot be written are refused before the runs.
    let directory =
        args.out.as_deref().map(ComparisonDirectory::create).transpose().map_err(Failure::input)?;
    let page = AtomicFile::create(&report_path(args)).map_err(Failure::input)?;
    let runs = run_all(&cases, registry, directory.as_ref(), interrupt)?;
    warn(&runs);
    let comparison = Comparison::of(&runs);
    if let Some(directory) = &directory {
        directory.write_comparison(&comparison).map_err(Failure::input)?;
    }
    let agreements = agreements(&cases, &runs, registry);
    let document = || {
        let of = |document: Document, (_, one): &(_, Agreement)| document.then(terminal::agreement(one));
        agreements.iter().fold(terminal::comparison(&comparison), of)
    };
    print_results(&args.form, || comparison_json(&comparison), document)?;
    let html = page::comparison(&runs, &scenario.title, &agreements);
    page.write(html.as_bytes()).map_err(Failure::input)?;
    eprintln!("report: {}", page.path().display());
    page.finish().map_err(Failure::input)?;
    Ok(ExitCode::SUCCESS)
}

/// Which protocols, in which worlds, under how many seeds.
fn choice(args: &args::Compare) -> Result<Choice, Failure> {
    let (protocols, seeds) = (args.protocols.clone(), args.seeds);
    let typed = if args.worlds.is_empty() { vec![args.world] } else { args.worlds.clone() };
    let mut worlds = typed.into_iter().map(world).collect::<Result<Vec<_>, _>>()?;
    worlds.sort_unstable();
    worlds.dedup();
    Ok(Choice { protocols, worlds, seeds })
}

/// The agreement of each packet run with its fluid run and its equilibrium, with the label of the packet run.
fn agreements(cases: &[ComparisonCase], runs: &[Run], registry: &Registry) -> Vec<(String, Agreement)> {
    let of = |world: World| cases.iter().zip(runs).filter(move |(case, _)| case.world == world);
    let same =
        |packets: &ComparisonCase| of(World::Fluid).find(|(fluid, _)| fluid.scenario == packets.scenario);
    let pair = |(case, packets): (&ComparisonCase, &Run)| {
        let (_, fluid) = same(case)?;
        Some((
            case.directory.clone(),
            compute_agreement(Study::new(&case.scenario, registry), packets, fluid),
        ))
    };
    of(World::Packets).filter_map(pair).collect()
}

/// Runs every case. Each run is written into `directory` as soon as it has ended.
fn run_all(
    cases: &[ComparisonCase],
    registry: &Registry,
    directory: Option<&ComparisonDirectory>,
    interrupt: Interrupt,
) -> Result<Vec<Run>, Failure> {
    let labels: Vec<String> = cases.iter().map(|case| case.directory.clone()).collect();
    let progress = Progress::of_each(&labels, interrupt);
    let keep = |case: &ComparisonCase, finished: &Finished| -> Result<(), OutputError> {
        let Some(directory) = directory else { return Ok(()) };
        directory.keep(&case.directory, &finished.run, &finished.timing, Extras::default())
    };
    let finished = compare_runs(cases, registry, &command_line(), &keep, &progress);
    progress.clear();
    Ok(finished?.into_iter().map(|finished| finished.run).collect())
}

/// Prints each warning once.
fn warn(runs: &[Run]) {
    let warnings: BTreeSet<&String> = runs.iter().flat_map(|run| &run.summary.warnings).collect();
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    let fixed = labels_without_randomness(runs);
    if !fixed.is_empty() {
        let labels = fixed.into_iter().collect::<Vec<_>>().join(", ");
        eprintln!("warning: all seeds give the same results for {labels}: nothing in these runs is random");
    }
}

/// `report.html` in the output directory, else `SCENARIO-report.html` in the current directory. An existing file is
/// overwritten.
fn report_path(args: &args::Compare) -> PathBuf {
    if let Some(path) = &args.report {
        return path.clone();
    }
    if let Some(directory) = &args.out {
        return directory.join("report.html");
    }
    let stem = args.scenario.file.file_stem().unwrap_or("scenario".as_ref());
    PathBuf::from(format!("{}-report.html", stem.to_string_lossy()))
}
