//! Convergence times over a parameter.

use super::duration::{rightmost_nonzero_root, simulated_time};
use super::initial::{InitialConditions, InitialValues, is_single_condition};
use super::observable::{Observable, Observables, sending_rates};
use crate::equilibrium::{PlanEquilibrium, find_equilibrium, longest_rtt};
use crate::progress::ProgressCounter;
use crate::stability::ParameterAxis;
use crate::{AnalysisError, Study};
use millpond_fluid::motion::{Component, record, time_to};
use millpond_fluid::stability::Root;
use millpond_fluid::{Accuracy, Solver};
use millpond_results::Watch;
use rayon::prelude::*;

/// When all rates have converged, and from where they start.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvergenceCriterion {
    /// The largest relative difference between a rate and its equilibrium.
    pub tolerance: f64,
    /// The initial condition as written, such as `x=50%`; none: a grid around the equilibrium, in which all rates are the
    /// same share of their equilibrium, and of which the slowest start counts.
    pub initial_condition: Option<String>,
}

/// Convergence times over a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvergenceTimes {
    /// The values of the parameter.
    pub axis: ParameterAxis,
    /// When the rates have converged.
    pub criterion: ConvergenceCriterion,
    /// By value, in seconds; none if there is no equilibrium, or if the rates do not converge in the simulated time.
    pub times: Vec<Option<f64>>,
    /// By value, ln(d / tolerance) / |Re s| of the rightmost root s in seconds, d being the initial distance of the rates;
    /// none if the root does not decay.
    pub predicted_times: Vec<Option<f64>>,
}

/// Computes convergence times with all processors.
///
/// # Errors
/// The scenario cannot be planned, or cannot start from the initial condition.
pub fn compute_convergence_times(
    study: Study<'_>,
    axis: ParameterAxis,
    criterion: ConvergenceCriterion,
    watch: &dyn Watch,
) -> Result<ConvergenceTimes, AnalysisError> {
    let plan = study.plan()?;
    initial_states(&find_equilibrium(&plan)?, &criterion).map_err(AnalysisError::InitialCondition)?;
    let current = axis.parameter.current_value(study, longest_rtt(&plan));
    let progress = ProgressCounter::new(watch, axis.values.len());
    let point = |value: &f64| {
        let scenario = axis.parameter.scaled(study.scenario, current, value / current);
        let found = convergence_time(study.with_scenario(&scenario), &criterion, watch);
        progress.count();
        found.map_or((None, None), |found| (found.simulated, found.predicted))
    };
    let (times, predicted_times) = axis.values.par_iter().map(point).unzip();
    Ok(ConvergenceTimes { axis, criterion, times, predicted_times })
}

/// The convergence time of one scenario, in seconds.
struct ConvergenceTime {
    simulated: Option<f64>,
    /// By the rightmost root.
    predicted: Option<f64>,
}

/// The longest time over all starts; none if the scenario has no equilibrium or cannot be simulated.
fn convergence_time(
    study: Study<'_>,
    criterion: &ConvergenceCriterion,
    watch: &dyn Watch,
) -> Option<ConvergenceTime> {
    let plan = study.plan().ok()?;
    let equilibrium = find_equilibrium(&plan).ok()?;
    let search = SearchFromStart {
        equilibrium: &equilibrium,
        root: rightmost_nonzero_root(&equilibrium.frozen, &equilibrium.point),
        rates: sending_rates(&plan),
        tolerance: criterion.tolerance,
        watch,
    };
    let starts = initial_states(&equilibrium, criterion).ok()?;
    let found: Vec<ConvergenceTime> =
        starts.iter().map(|start| search.starting_at(start)).collect::<Option<Vec<_>>>()?;
    let longest = |time: &dyn Fn(&ConvergenceTime) -> Option<f64>| {
        found.iter().map(time).try_fold(0.0_f64, |longest, time| time.map(|time| longest.max(time)))
    };
    Some(ConvergenceTime {
        simulated: longest(&|found| found.simulated),
        predicted: longest(&|found| found.predicted),
    })
}

/// The search for the convergence time from one start.
struct SearchFromStart<'a, 'p> {
    equilibrium: &'a PlanEquilibrium<'p>,
    root: Option<Root>,
    rates: Vec<Observable>,
    tolerance: f64,
    watch: &'a dyn Watch,
}

impl SearchFromStart<'_, '_> {
    /// None if the network cannot be simulated from these states.
    fn starting_at(&self, states: &[f64]) -> Option<ConvergenceTime> {
        const TIME_CONSTANTS: f64 = 10.0;
        const SAMPLES: u32 = 20_000;
        // Laws whose time constants do not depend on the round-trip time need many of short ones.
        const MOST_RTTS: f64 = 1e4;
        let seconds = simulated_time(self.root.as_ref(), self.equilibrium.plan, TIME_CONSTANTS, MOST_RTTS);
        let mut solver = Solver::at(&self.equilibrium.frozen, states, Accuracy::default()).ok()?;
        let components: Vec<Component> = self.rates.iter().map(|rate| rate.component).collect();
        let trajectory = record(&mut solver, seconds, SAMPLES, &components, &|| !self.watch.stopped());
        let active = || {
            let rates = self.rates.iter().map(|rate| rate.equilibrium_value(self.equilibrium));
            rates.zip(&trajectory.values).filter(|(target, _)| *target > 0.0)
        };
        let distance = |(target, values): (f64, &Vec<f64>)| Some((values.first()? / target - 1.0).abs());
        let initial = active().filter_map(distance).fold(self.tolerance, f64::max);
        let predicted = self.root.and_then(|root| time_to(&root, self.tolerance / initial));
        if trajectory.error.is_some() {
            return Some(ConvergenceTime { simulated: None, predicted });
        }
        let mut times =
            active().map(|(target, values)| arrival(&trajectory.times, values, target, self.tolerance));
        let simulated = times.try_fold(0.0_f64, |latest, time| time.map(|time| latest.max(time)));
        Some(ConvergenceTime { simulated, predicted })
    }
}

/// The states of the single initial condition that is written, or of a grid around the equilibrium.
fn initial_states(
    equilibrium: &PlanEquilibrium<'_>,
    criterion: &ConvergenceCriterion,
) -> Result<Vec<Vec<f64>>, String> {
    match criterion.initial_condition.as_deref().filter(|text| text.trim() != "grid") {
        None => grid(equilibrium),
        Some(text) if is_single_condition(text) => {
            InitialConditions::parse(text, 1, &[], &Observables::new(equilibrium))?.states(equilibrium)
        }
        Some(text) => Err(format!(
            "--from {text}: convergence times need a single initial condition, such as x=50%, or grid"
        )),
    }
}

/// All rates at the same shares of their equilibrium; all other quantities that they do not determine at equilibrium.
fn grid(equilibrium: &PlanEquilibrium<'_>) -> Result<Vec<Vec<f64>>, String> {
    const SHARES: [f64; 4] = [0.2, 0.5, 1.5, 2.0];
    let rates = sending_rates(equilibrium.plan);
    let moving = || rates.iter().filter(|rate| rate.equilibrium_value(equilibrium) > 0.0);
    let start = |share: &f64| {
        let at = |rate: &Observable| InitialValues {
            observable: rate.clone(),
            values: vec![share * rate.equilibrium_value(equilibrium)],
        };
        InitialConditions { quantities: moving().map(at).collect() }.states(equilibrium)
    };
    let hint = |reason: String| format!("{reason}; name a start for --convergence, such as --from x=50%");
    Ok(SHARES.iter().map(start).collect::<Result<Vec<_>, _>>().map_err(hint)?.concat())
}

/// The time after which values stay within a relative distance of `target`; none if the last tenth is not within it.
fn arrival(times: &[f64], values: &[f64], target: f64, tolerance: f64) -> Option<f64> {
    let end = *times.last()?;
    let distance = |i: usize| (values[i] / target - 1.0).abs();
    match (0..values.len()).rev().find(|i| distance(*i) > tolerance) {
        None => Some(0.0),
        Some(i) if times[i] > 0.9 * end => None,
        Some(i) => {
            let part = (distance(i) - tolerance) / (distance(i) - distance(i + 1));
            Some(times[i] + part * (times[i + 1] - times[i]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 (1 + 0.8 exp(-t)): within 5 % after ln 16.
    #[test]
    fn an_exponential_converges_after_the_logarithm_of_its_initial_distance() {
        let times: Vec<f64> = (0..=10_000).map(|i| f64::from(i) * 1e-3).collect();
        let values: Vec<f64> = times.iter().map(|t| 10.0 * (1.0 + 0.8 * (-t).exp())).collect();
        let found = arrival(&times, &values, 10.0, 0.05).unwrap();
        assert!((found - 16_f64.ln()).abs() < 1e-6, "{found}");
        assert_eq!(arrival(&times, &values, 9.0, 0.05), None, "its limit is another");
        // Up to 3 s, the last tenth begins at 2.7 s, before ln 16 = 2.77 s.
        assert_eq!(arrival(&times[..=3000], &values[..=3000], 10.0, 0.05), None, "it may leave again");
        assert_eq!(arrival(&times, &values, 10.0, 0.9), Some(0.0));
    }
}
