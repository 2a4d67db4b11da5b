//! Stability over two parameters.

use super::axis::ParameterAxis;
use super::critical_value::rightmost_growth_rate;
use crate::equilibrium::longest_rtt;
use crate::progress::ProgressCounter;
use crate::{AnalysisError, Study};
use millpond_results::Watch;
use millpond_scenario::Scenario;
use rayon::prelude::*;

/// Real parts of the rightmost root over two parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct StabilityMap {
    /// The horizontal axis.
    pub horizontal: ParameterAxis,
    /// The vertical axis.
    pub vertical: ParameterAxis,
    /// The values of the scenario: horizontal, vertical.
    pub current: (f64, f64),
    /// In 1/s, row by row from the bottom; none where there is no equilibrium or no loop.
    pub growth_rates: Vec<Vec<Option<f64>>>,
}

/// Computes a map with all processors.
///
/// # Errors
/// The scenario itself cannot be planned.
pub fn compute_stability_map(
    study: Study<'_>,
    horizontal: ParameterAxis,
    vertical: ParameterAxis,
    watch: &dyn Watch,
) -> Result<StabilityMap, AnalysisError> {
    let longest = longest_rtt(&study.plan_steady_state()?);
    let progress = ProgressCounter::new(watch, vertical.values.len());
    let cell = |varied: &Scenario, x: f64| {
        if watch.stopped() {
            return None;
        }
        let varied = study.with_scenario(varied);
        let current = horizontal.parameter.current_value(varied, longest);
        let scenario = horizontal.parameter.scaled(varied.scenario, current, x / current);
        rightmost_growth_rate(study.with_scenario(&scenario)).ok()
    };
    let row = |y: &f64| {
        let current = vertical.parameter.current_value(study, longest);
        let varied = vertical.parameter.scaled(study.scenario, current, y / current);
        let row = horizontal.values.iter().map(|x| cell(&varied, *x)).collect();
        progress.count();
        row
    };
    let growth_rates = vertical.values.par_iter().map(row).collect();
    let current = [&horizontal, &vertical].map(|axis| axis.parameter.current_value(study, longest));
    Ok(StabilityMap { horizontal, vertical, current: (current[0], current[1]), growth_rates })
}
