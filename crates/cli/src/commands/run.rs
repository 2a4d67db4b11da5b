//! `millpond run`: one run, with its tables and its files.

use crate::args;
use crate::command_line::origin;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{print_results, trust};
use crate::progress::Progress;
use crate::qlog::QlogFiles;
use crate::scenario::{load, world};
use millpond_lab::run_observed;
use millpond_protocols::Registry;
use millpond_report::terminal;
use millpond_results::files::{Extras, RunDirectory, save, summary_json};
use millpond_results::{About, Finished, World};

pub(crate) fn run(args: &args::Run, registry: &Registry) -> Outcome {
    let world = world(args.world);
    if args.qlog && world == World::Fluid {
        return Err(Failure::input("--qlog: the fluid world has no packets; run in packets or live"));
    }
    let scenario = load(&args.scenario)?;
    let interrupt = Interrupt::install()?;
    // An output that cannot be written is refused before the run.
    let begin = if args.existing.force { RunDirectory::replace } else { RunDirectory::create };
    let directory = args.out.as_deref().map(begin).transpose().map_err(Failure::input)?;
    let progress = Progress::of_each(std::slice::from_ref(&scenario.title), interrupt);
    let about = About { label: scenario.title.clone(), origin: origin(), index: 0, world };
    let qlog = directory.as_ref().filter(|_| args.qlog);
    let qlog = qlog.map(|directory| QlogFiles::create(directory.path(), &scenario.title)).transpose()?;
    let finished = match &qlog {
        Some(files) => run_observed(&scenario, registry, about, &progress, &|observed| {
            Ok(Box::new(files.begin(observed)?))
        }),
        None => millpond_lab::run(&scenario, registry, about, &progress),
    };
    progress.clear();
    let Finished { run, timing } = finished?;
    qlog.map_or(Ok(()), QlogFiles::finish)?;
    if let Some(directory) = directory {
        save(&run, &timing, Extras { csv: args.csv_files }, &directory).map_err(Failure::input)?;
        directory.finish().map_err(Failure::input)?;
    }
    print_results(&args.form, || summary_json(&run), || terminal::summary(&run.summary))?;
    Ok(trust([&run.summary]))
}
