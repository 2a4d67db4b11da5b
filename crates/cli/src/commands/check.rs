//! `millpond check`: whether a scenario is valid.

use crate::args;
use crate::failure::Outcome;
use crate::output::print_line;
use crate::scenario::{load, world};
use millpond_live::check_live;
use millpond_plan::{fluid, packets};
use millpond_protocols::Registry;
use millpond_results::World;
use millpond_scenario::Faults;
use std::process::ExitCode;

pub(crate) fn check(args: &args::Check, registry: &Registry) -> Outcome {
    let scenario = load(&args.scenario, registry)?;
    let (warnings, outline) = match world(args.world) {
        World::Packets | World::Live => {
            if world(args.world) == World::Live {
                check_live(&scenario).map_err(Faults::from)?;
            }
            let packets::PacketCheck { warnings, outline } = packets::check(&scenario, registry)?;
            (warnings, outline)
        }
        World::Fluid => {
            let plan = fluid::plan(&scenario, registry)?;
            fluid::check_method(&scenario, &plan)?;
            (plan.warnings.clone(), plan.outline())
        }
    };
    for warning in warnings {
        print_line(format_args!("warning: {warning}"))?;
    }
    print_line(format_args!("{}: valid: {outline}", args.scenario.file.display()))?;
    Ok(ExitCode::SUCCESS)
}
