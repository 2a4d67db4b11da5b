//! `millpond equilibrium`: rates, prices and queues of a scenario in equilibrium.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::print;
use crate::scenario::load;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_report::terminal;
use millpond_theory::equilibrium::{
    allocate_by_utility, equilibrium_json, find_equilibrium, utility_allocation_json,
};
use millpond_theory::{AnalysisError, json_value};
use std::process::ExitCode;

pub(crate) fn equilibrium(args: &args::Equilibrium, registry: &Registry) -> Outcome {
    let scenario = load(&args.scenario)?;
    let plan = fluid::plan(&scenario, registry)?;
    if let Some(utility) = args.utility {
        let found = allocate_by_utility(&plan, utility, &args.weights)?;
        let json = args.json.then(|| json_value(&utility_allocation_json(&found)));
        show(json, terminal::utility_allocation(&found))?;
    } else {
        let found = find_equilibrium(&plan)?;
        let json = args.json.then(|| json_value(&equilibrium_json(&found)));
        show(json, terminal::equilibrium(&found))?;
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

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Scenario(faults) => Self::Scenario(faults),
            other => Self::input(other),
        }
    }
}
