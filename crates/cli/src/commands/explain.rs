//! `millpond stability --explain RUN`: why a run oscillates.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_line};
use millpond_diagnosis::explain::{self as theory, ExplainError, RunReadError};
use millpond_protocols::Registry;
use millpond_report::{page, terminal};
use millpond_results::files::write_atomically;
use millpond_theory::{AnalysisError, Study, json_value};
use millpond_units::Span;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn explain(run: &Path, args: &args::Stability, registry: &Registry) -> Outcome {
    let about = |reason: ExplainError| match reason {
        ExplainError::Analysis(AnalysisError::Scenario(faults)) => Failure::Scenario(faults),
        ExplainError::NoRun(_) => Failure::input(reason),
        reason => Failure::input(format!("{}: {reason}", run.display())),
    };
    let (read, scenario) = theory::read_run(run).map_err(|error| match error {
        RunReadError::Run(reason) => about(reason),
        RunReadError::Scenario(faults) => Failure::Scenario(faults),
    })?;
    let explained =
        theory::explain_at(&read, Study::new(&scenario, registry), args.at.map(Span::secs)).map_err(about)?;
    let sentence = theory::explanation_sentence(&explained);
    if args.json {
        let json = theory::explanation_json(&sentence, &explained);
        print(format_args!("{:#}\n", json_value(&json)))?;
    } else {
        print_line(&sentence)?;
        print(terminal::explanation(&explained))?;
    }
    if let Some(path) = &args.report {
        let page = page::explanation(&scenario.title, &sentence, &explained);
        write_atomically(path, page.as_bytes()).map_err(Failure::input)?;
    }
    Ok(ExitCode::SUCCESS)
}
