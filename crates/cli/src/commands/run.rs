//! `millpond run`: one run, with its tables, its files and its page.

use crate::args;
use crate::command_line::origin;
use crate::event_files::EventFiles;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::messages::note;
use crate::output::{finish, new_file, print_results, trust};
use crate::progress::Progress;
use crate::scenario::{load, world};
use millpond_lab::run_observed;
use millpond_protocols::Registry;
use millpond_report as page;
use millpond_results::files::{Extras, RunDirectory, save, summary_json};
use millpond_results::{About, Finished, World};
use millpond_terminal as terminal;

pub(crate) fn run(args: &args::Run, registry: &Registry) -> Outcome {
    let world = world(args.world);
    if (args.qlog || args.pcap) && world == World::Fluid {
        let option = if args.qlog { "--qlog" } else { "--pcap" };
        return Err(Failure::input(format!(
            "{option}: the fluid world has no packets; run in packets or live"
        )));
    }
    let scenario = load(&args.scenario, registry)?;
    let interrupt = Interrupt::install()?;
    // An output that cannot be written is refused before the run.
    let begin = if args.existing.force { RunDirectory::replace } else { RunDirectory::create };
    let directory = args.out.as_deref().map(begin).transpose().map_err(Failure::input)?;
    let report = args.report.as_deref().map(|path| new_file(path, args.existing)).transpose()?;
    let progress = Progress::of_each(std::slice::from_ref(&scenario.title), interrupt);
    let about = About { label: scenario.title.clone(), origin: origin(), index: 0, world };
    let events = match &directory {
        Some(directory) => EventFiles::begin(args, directory.path(), &scenario.title)?,
        None => None,
    };
    let finished = match &events {
        Some(files) => {
            run_observed(&scenario, registry, about, &progress, &|observed| files.observer(observed))
        }
        None => millpond_lab::run(&scenario, registry, about, &progress),
    };
    progress.clear();
    let Finished { run, timing } = finished?;
    events.map_or(Ok(()), EventFiles::finish)?;
    if let Some(directory) = directory {
        save(&run, &timing, Extras { csv: args.csv_files }, &directory).map_err(Failure::input)?;
        directory.finish().map_err(Failure::input)?;
    }
    print_results(&args.form, || summary_json(&run), || terminal::summary(&run.summary))?;
    let code = trust([&run.summary]);
    if let Some(report) = report {
        note(format_args!("report: {}", report.path().display()));
        let title = run.summary.scenario.clone();
        finish(report, page::runs(&[run], &title).as_bytes())?;
    }
    Ok(code)
}
