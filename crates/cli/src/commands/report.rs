//! `millpond report`: a page about finished runs.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::print_line;
use millpond_report::page;
use millpond_results::Run;
use millpond_results::files::{load, write_atomically};
use std::process::ExitCode;

pub(crate) fn report(args: &args::Report) -> Outcome {
    let mut runs: Vec<Run> = Vec::new();
    for directory in &args.directories {
        runs.extend(load(directory).map_err(Failure::input)?);
    }
    let title = runs.first().map_or("", |run| run.summary.scenario.as_str()).to_owned();
    write_atomically(&args.out, page::runs(&runs, &title).as_bytes()).map_err(Failure::input)?;
    print_line(args.out.display())?;
    Ok(ExitCode::SUCCESS)
}
