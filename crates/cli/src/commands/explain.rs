//! `millpond stability --explain RUN`: why a run oscillates.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::{finish, new_file, print_results};
use millpond_analysis_report as analysis_report;
use millpond_diagnosis::explain::{self as theory, ExplainError, RunReadError, StoredRun};
use millpond_protocols::Registry;
use millpond_terminal::{self as terminal, Document};
use millpond_theory::{AnalysisError, Study, json_value};
use millpond_units::Span;
use serde_json::to_string_pretty as pretty;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn explain(run: &Path, args: &args::Stability, registry: &Registry) -> Outcome {
    let about = |reason: ExplainError| match reason {
        ExplainError::Analysis(AnalysisError::Scenario(faults)) => Failure::Scenario(faults),
        ExplainError::NoRun(_) => Failure::input(reason),
        reason => Failure::input(format!("{}: {reason}", run.display())),
    };
    let StoredRun { run: read, scenario } = theory::read_run(run).map_err(|error| match error {
        RunReadError::Run(reason) => about(reason),
        RunReadError::Scenario(faults) => Failure::Scenario(faults),
    })?;
    let explained =
        theory::explain_at(&read, Study::new(&scenario, registry), args.at.map(Span::secs)).map_err(about)?;
    let sentence = theory::explanation_sentence(&explained);
    let json = || pretty(&json_value(&theory::explanation_json(&sentence, &explained)));
    let document =
        || Document::default().text(format!("{sentence}\n")).then(terminal::explanation(&explained));
    print_results(&args.form, json, document)?;
    if let Some(path) = &args.report {
        let page = analysis_report::explanation(&scenario.title, &sentence, &explained);
        finish(new_file(path, args.existing)?, page.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
