//! `millpond evaluate`: protocols under the criteria of suites.

use super::protocols::unknown;
use crate::args;
use crate::command_line::{VERSION, origin};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{finish, new_file, print_results};
use crate::progress::Progress;
use millpond_evaluation::{EvaluationPlan, EvaluationRequest, Suites};
use millpond_protocols::Registry;
use millpond_report::page;
use millpond_report::terminal;
use std::process::ExitCode;

pub(crate) fn evaluate(args: &args::Evaluate, registry: &Registry) -> Outcome {
    let suites = Suites::builtin()?;
    let request = EvaluationRequest {
        suites: suites.select(&args.suite)?,
        sections: args.section.clone(),
        protocols: protocols(args, registry)?,
        registry: registry.clone(),
        full: args.full,
        set: args.sets.clone(),
    };
    request.check_sections()?;
    let plan = EvaluationPlan::new(request)?;
    let page = args.report.as_deref().map(|path| new_file(path, args.existing)).transpose()?;
    let progress = Progress::of_all(plan.run_count(), Interrupt::install()?);
    let evaluations = plan.run(VERSION, &progress);
    progress.clear();
    let evaluations = evaluations?;
    if let Some(page) = page {
        finish(page, page::evaluation(&evaluations, &origin().command).as_bytes())?;
    }
    let document = || match evaluations.as_slice() {
        [one] => terminal::evaluation(one),
        several => terminal::evaluation_matrix(several),
    };
    print_results(&args.form, || serde_json::to_string_pretty(&evaluations), document)?;
    Ok(ExitCode::SUCCESS)
}

/// The protocols that are evaluated, each once.
fn protocols(args: &args::Evaluate, registry: &Registry) -> Result<Vec<String>, Failure> {
    if args.all {
        return Ok(registry.protocols().map(|protocol| protocol.card().name.to_owned()).collect());
    }
    let mut names: Vec<String> = Vec::new();
    for name in &args.protocols {
        registry.protocol(name).map_err(|_| unknown(registry, name))?;
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(names)
}
