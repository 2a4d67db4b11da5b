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
    let settled = analysis::settle(&plan)?;
    if args.json {
        print(format_args!("{:#}\n", analysis::equilibrium_json(&settled)))?;
    } else {
        print(tables::equilibrium(&settled))?;
    }
    for warning in &plan.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(ExitCode::SUCCESS)
}

impl From<analysis::Refusal> for Failure {
    fn from(refusal: analysis::Refusal) -> Self {
        match refusal {
            analysis::Refusal::Scenario(faults) => Self::Scenario(faults),
            other => Self::input(other),
        }
    }
}
