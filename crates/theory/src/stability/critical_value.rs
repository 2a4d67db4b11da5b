//! Critical values: where stability ends when a parameter is varied.

use super::analysis::check_analyzable;
use super::parameter::VariedParameter;
use crate::equilibrium::{find_equilibrium, longest_rtt};
use crate::{AnalysisError, Study};
use millpond_fluid::stability::{StabilityBoundary, rightmost, search_boundaries};

/// A value of a parameter at which stability changes.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalValue {
    /// The varied parameter.
    pub parameter: VariedParameter,
    /// Its value in the scenario.
    pub current: f64,
    /// The value at which a root crosses the imaginary axis.
    pub value: f64,
    /// Whether the network is stable below it.
    pub stable_below: bool,
}

/// A range of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRange {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// The result of a search for critical values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalValueSearch {
    /// The varied parameter.
    pub parameter: VariedParameter,
    /// Its value in the scenario.
    pub current: f64,
    /// The nearest critical values, above and below.
    pub found: Vec<CriticalValue>,
    /// The values that were searched.
    pub range: ValueRange,
}

/// Finds the critical values nearest to the current value, above and below. The equilibrium is computed again for each
/// value; values up to a hundred times larger and smaller are searched.
///
/// # Errors
/// The stability of the scenario itself cannot be analyzed.
pub fn find_critical_values(
    study: Study<'_>,
    parameter: &VariedParameter,
) -> Result<CriticalValueSearch, AnalysisError> {
    let plan = study.plan()?;
    check_analyzable(&find_equilibrium(&plan)?)?;
    let current = parameter.current_value(study, longest_rtt(&plan));
    let growth = |factor| {
        let scenario = parameter.scaled(study.scenario, current, factor);
        rightmost_growth_rate(study.with_scenario(&scenario)).ok()
    };
    let [up, down] = search_boundaries(1.0, growth);
    let critical = |found: StabilityBoundary| CriticalValue {
        parameter: parameter.clone(),
        current,
        value: current * found.value,
        stable_below: found.stable_below,
    };
    let found = [up, down].iter().filter_map(|way| way.boundary).map(critical).collect();
    let range = ValueRange { low: parameter.at_least_one(current * down.to), high: current * up.to };
    Ok(CriticalValueSearch { parameter: parameter.clone(), current, found, range })
}

/// The real part of the rightmost root that is not zero, in 1/s; infinite at a jump, where the network has a limit cycle.
pub(super) fn rightmost_growth_rate(study: Study<'_>) -> Result<f64, AnalysisError> {
    let plan = study.plan()?;
    let equilibrium = find_equilibrium(&plan)?;
    if !equilibrium.frozen.sliding().is_empty() {
        return Ok(f64::INFINITY);
    }
    Ok(rightmost(&equilibrium.linearize().system)?.rightmost_nonzero())
}
