//! `millpond report`: a page about finished runs.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::{finish, new_file, print_line};
use millpond_report::page;
use millpond_results::Run;
use millpond_results::files::load;
use std::process::ExitCode;

pub(crate) fn report(args: &args::Report) -> Outcome {
    let file = new_file(&args.out, args.existing)?;
    let mut runs: Vec<Run> = Vec::new();
    for directory in &args.directories {
        runs.extend(load(directory).map_err(Failure::input)?);
    }
    let title = runs.first().map_or("", |run| run.summary.scenario.as_str()).to_owned();
    finish(file, &page::runs(&runs, &title))?;
    print_line(args.out.display())?;
    Ok(ExitCode::SUCCESS)
}
