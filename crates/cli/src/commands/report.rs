//! `millpond report`: a page about finished runs.

use crate::args;
use crate::failure::Outcome;
use crate::output::{finish, load_runs, new_file, print_line};
use millpond_report as page;
use std::process::ExitCode;

pub(crate) fn report(args: &args::Report) -> Outcome {
    let file = new_file(&args.out, args.existing)?;
    let runs = load_runs(&args.directories)?;
    let title = runs.first().map_or("", |run| run.summary.scenario.as_str()).to_owned();
    finish(file, page::runs(&runs, &title).as_bytes())?;
    print_line(args.out.display())?;
    Ok(ExitCode::SUCCESS)
}
