//! `--at`: the capacity at which links with a varying capacity are analyzed.

use crate::failure::Failure;
use millpond_scenario::Scenario;
use millpond_theory::{AnalyzedCapacity, ConstantCapacities, NamedCapacity, with_constant_capacities};
use millpond_units::Span;

/// The scenario with constant capacities: those at a time of the run, or the means over the run.
pub(super) fn held(scenario: &Scenario, at: Option<Span>) -> Result<ConstantCapacities, Failure> {
    let duration = scenario.duration;
    match at {
        Some(at) if at >= duration => {
            Err(Failure::input(format!("--at {at}: the run ends at {duration}; name an earlier time")))
        }
        Some(at) => Ok(with_constant_capacities(scenario, AnalyzedCapacity::At(at.secs()))),
        None => Ok(with_constant_capacities(scenario, AnalyzedCapacity::mean_of_run(scenario))),
    }
}

/// A line for each link with a varying capacity.
pub(super) fn capacity_lines(capacities: &[NamedCapacity]) -> String {
    capacities.iter().map(|capacity| format!("{capacity}\n")).collect()
}
