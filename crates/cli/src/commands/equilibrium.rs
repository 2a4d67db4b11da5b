//! `millpond equilibrium`: rates, prices and queues of a scenario in equilibrium.

use super::capacity::held;
use crate::args;
use crate::failure::{Failure, Outcome};
use crate::messages::note;
use crate::output::print_results;
use crate::scenario::load;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_terminal as terminal;
use millpond_theory::classification::{analyze_steady_state, equilibrium_output_json};
use millpond_theory::equilibrium::{allocate_by_utility, utility_allocation_json};
use millpond_theory::steady_state::SteadyState;
use millpond_theory::{AnalysisError, ConstantCapacities, json_value};
use serde_json::to_string_pretty as pretty;
use std::process::ExitCode;

pub(crate) fn equilibrium(args: &args::Equilibrium, registry: &Registry) -> Outcome {
    let ConstantCapacities { scenario, named } = held(&load(&args.scenario, registry)?, args.at)?;
    let plan = fluid::plan_steady_state(&scenario, registry)?;
    if let Some(utility) = args.utility {
        let found = allocate_by_utility(&plan, utility, &args.weights)?;
        let json = || pretty(&json_value(&utility_allocation_json(&found)));
        print_results(&args.form, json, || terminal::utility_allocation(&found))?;
    } else {
        let found = analyze_steady_state(&plan)?;
        if let SteadyState::None { reason } = &found.state {
            return Err(Failure::input(reason));
        }
        let json = || pretty(&json_value(&equilibrium_output_json(&found, &named)));
        print_results(&args.form, json, || terminal::steady_state(&found, &named))?;
    }
    for warning in &plan.warnings {
        note(format_args!("warning: {warning}"));
    }
    Ok(ExitCode::SUCCESS)
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Scenario(faults) => Self::Scenario(faults),
            other => Self::input(other),
        }
    }
}
