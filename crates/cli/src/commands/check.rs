//! `millpond check`: is the scenario right?

use crate::args;
use crate::failure::Outcome;
use crate::output::print_line;
use crate::scenario::load;
use millpond_lab::plan::plan;
use millpond_protocols::Registry;
use std::process::ExitCode;

pub(crate) fn check(args: &args::Scenario, registry: &Registry) -> Outcome {
    let scenario = load(args)?;
    let plan = plan(&scenario, registry)?;
    for warning in plan.warnings() {
        print_line(format_args!("warning: {warning}"))?;
    }
    print_line(format_args!("{}: right: {}", args.file.display(), plan.outline()))?;
    Ok(ExitCode::SUCCESS)
}
