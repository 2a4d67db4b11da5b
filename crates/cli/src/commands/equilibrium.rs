//! `millpond equilibrium`: where a scenario settles.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::print;
use crate::scenario::load;

use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_report::terminal;
use std::process::ExitCode;

pub(crate) fn equilibrium(args: &args::Equilibrium, registry: &Registry) -> Outcome {
    let scenario = load(&args.scenario)?;
    let plan = fluid::plan(&scenario, registry)?;
    if let Some(utility) = args.utility {
        let shared = millpond_theory::share_out(&plan, utility, &args.weights)?;
        show(args.json.then(|| millpond_theory::shared_json(&shared)), terminal::shared(&shared))?;
    } else {
        let settled = millpond_theory::settle(&plan)?;
        show(
            args.json.then(|| millpond_theory::equilibrium_json(&settled)),
            terminal::equilibrium(&settled),
        )?;
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

impl From<millpond_theory::Refusal> for Failure {
    fn from(refusal: millpond_theory::Refusal) -> Self {
        match refusal {
            millpond_theory::Refusal::Scenario(faults) => Self::Scenario(faults),
            other => Self::input(other),
        }
    }
}
