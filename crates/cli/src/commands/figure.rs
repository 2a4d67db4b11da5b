//! `millpond figure`: one figure of finished runs for a paper.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::{finish, load_runs, new_file, print_line};
use crate::values::FigureFormat;
use millpond_report::page::{PAPER_RULES, figure as figure_of};
use std::process::ExitCode;

pub(crate) fn figure(args: &args::Figure) -> Outcome {
    let file = new_file(&args.out.path, args.existing)?;
    let runs = load_runs(&args.directories)?;
    let figure = figure_of(&runs, args.kind, args.run.as_deref()).map_err(Failure::input)?;
    let content = match args.out.format {
        FigureFormat::Pdf => figure.to_pdf(args.columns, PAPER_RULES),
        FigureFormat::Svg => figure.to_svg(args.columns, PAPER_RULES).into_bytes(),
    };
    finish(file, &content)?;
    print_line(args.out.path.display())?;
    Ok(ExitCode::SUCCESS)
}
