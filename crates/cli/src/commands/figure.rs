//! `millpond figure`: one figure of finished runs or of a sweep for a paper.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::{finish, load_runs, new_file, print_line};
use crate::values::{ChosenFigure, FigureFormat};
use millpond_analysis_report::sweep_figure;
use millpond_report::{Figure, PAPER_RULES, PaperWidth, figure as figure_of};
use millpond_sweep::{Dataset, means};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn figure(args: &args::Figure) -> Outcome {
    let file = new_file(&args.out.path, args.existing)?;
    let figure = match args.kind {
        ChosenFigure::Runs(kind) => {
            let runs =
                load_runs(&args.directories).map_err(|failure| with_hint(failure, &args.directories))?;
            figure_of(&runs, kind, args.run.as_deref())
        }
        ChosenFigure::Sweep(kind) => {
            let [directory] = args.directories.as_slice() else {
                return Err(Failure::input("a figure of a sweep shows one dataset: name one directory"));
            };
            sweep_figure(&means(&Dataset::read(directory)?), kind, args.run.as_deref())
        }
    };
    finish(file, &content(&figure.map_err(Failure::input)?, args.out.format, args.columns))?;
    print_line(args.out.path.display())?;
    Ok(ExitCode::SUCCESS)
}

/// The bytes of a figure's file.
pub(super) fn content(figure: &Figure, format: FigureFormat, columns: PaperWidth) -> Vec<u8> {
    match format {
        FigureFormat::Pdf => figure.to_pdf(columns, PAPER_RULES),
        FigureFormat::Svg => figure.to_svg(columns, PAPER_RULES).into_bytes(),
    }
}

/// A sweep keeps a dataset, and no directories of runs.
fn with_hint(failure: Failure, directories: &[PathBuf]) -> Failure {
    match directories.iter().find(|directory| Dataset::is_at(directory)) {
        Some(sweep) => Failure::input(format!(
            "{}: is the dataset of a sweep; its figures are of the kinds sweep, sweep-utilization, sweep-goodput, \
             sweep-delay, sweep-fairness and sweep-completions",
            sweep.display()
        )),
        None => failure,
    }
}
