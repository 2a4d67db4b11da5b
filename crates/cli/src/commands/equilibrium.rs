//! `millpond equilibrium`: where a scenario settles.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::print;
use crate::scenario::load;
use millpond_lab::{analysis, fluid, tables};
use millpond_protocols::Registry;
use std::process::ExitCode;

pub(crate) fn equilibrium(args: &args::Equilibrium, registry: &Registry) -> Outcome {
    let scenario = load(&args.scenario)?;
    let plan = fluid::plan(&scenario, registry)?;
    if let Some(utility) = args.utility {
        let shared = analysis::share_out(&plan, utility, &args.weights)?;
        show(args.json.then(|| analysis::shared_json(&shared)), tables::shared(&shared))?;
    } else {
        let settled = analysis::settle(&plan)?;
        show(args.json.then(|| analysis::equilibrium_json(&settled)), tables::equilibrium(&settled))?;
    }
    for warning in &plan.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(ExitCode::SUCCESS)
}

fn show(json: Option<serde_json::Value>, table: String) -> Result<(), Failure> {
    match json {
        Some(json) => print(format_args!("{json:#}\n")),
        None => print(table),
    }
}

impl From<analysis::Refusal> for Failure {
    fn from(refusal: analysis::Refusal) -> Self {
        match refusal {
            analysis::Refusal::Scenario(faults) => Self::Scenario(faults),
            other => Self::input(other),
        }
    }
}
