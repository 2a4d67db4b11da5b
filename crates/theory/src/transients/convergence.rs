//! How long it takes to come to rest, over a knob.

use super::initial::{Starts, is_single};
use super::observable::{Observable, rates};
use super::{bottlenecks, horizon, observables, slowest};
use crate::Refusal;
use crate::equilibrium::{Settled, longest_rtt, present, settle};
use crate::stability::Axis;
use millpond_fluid::motion::{Component, record, time_to};
use millpond_fluid::{Accuracy, Solver};
use millpond_plan::fluid::{self, Plan};
use millpond_protocols::Registry;
use millpond_results::Watch;
use millpond_scenario::Scenario;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// How near all rates are to be to those at rest, as a share of them.
    pub within: f64,
    /// From where, as typed; none: as the scenario has it, counted from when its last flow starts.
    pub from: Option<String>,
}

/// Times of convergence over a knob.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// What is varied.
    pub over: Axis,
    /// What was asked.
    pub asked: Asked,
    /// In seconds; none where it does not settle while it is followed, or does not rest.
    pub times: Vec<Option<f64>>,
    /// ln(start / within) / |Re s| of the rightmost root, `start` being how far the rates are at first; none where that does
    /// not die out.
    pub predicted: Vec<Option<f64>>,
}

/// Computes it on all processors.
///
/// # Errors
/// The scenario as it is cannot be planned, or cannot start there.
pub fn converge(
    (scenario, registry): (&Scenario, &Registry),
    over: Axis,
    asked: Asked,
    watch: &dyn Watch,
) -> Result<Convergence, Refusal> {
    let plan = fluid::plan(scenario, registry)?;
    if let Some(from) = &asked.from {
        start(&settle(&plan)?, from).map_err(Refusal::Start)?;
    }
    let now = over.knob.now(scenario, registry, longest_rtt(&plan));
    let done = AtomicUsize::new(0);
    let point = |value: &f64| {
        let found = one(&over.knob.scaled(scenario, now, value / now), registry, &asked, watch);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        // Points are some hundreds.
        #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
        watch.progress(0, done as f64 / over.values.len() as f64);
        found.unwrap_or((None, None))
    };
    let (times, predicted) = over.values.par_iter().map(point).unzip();
    Ok(Convergence { over, asked, times, predicted })
}

/// The time of one scenario, and what its rightmost root predicts.
fn one(
    scenario: &Scenario,
    registry: &Registry,
    asked: &Asked,
    watch: &dyn Watch,
) -> Option<(Option<f64>, Option<f64>)> {
    const DIES: f64 = 10.0;
    const LOOKS: u32 = 20_000;
    let plan = fluid::plan(scenario, registry).ok()?;
    let settled = settle(&plan).ok()?;
    let root = slowest(&settled.frozen, &settled.moment);
    let seconds = horizon(root.as_ref(), &plan, DIES);
    let mut solver = begin(&plan, &settled, asked)?;
    let rates: Vec<Observable> = rates(&plan);
    let places: Vec<Component> = rates.iter().map(|one| one.place).collect();
    let motion = record(&mut solver, seconds, LOOKS, &places, &|| !watch.stopped());
    let active = || rates.iter().zip(&motion.values).filter(|(one, _)| rest(&settled, one) > 0.0);
    let away =
        |(one, values): (&Observable, &Vec<f64>)| Some((values.first()? / rest(&settled, one) - 1.0).abs());
    let start = active().filter_map(away).fold(asked.within, f64::max);
    let predicted = root.and_then(|root| time_to(&root, asked.within / start));
    if motion.error.is_some() {
        return Some((None, predicted));
    }
    let last =
        active().map(|(one, values)| arrival(&motion.times, values, rest(&settled, one), asked.within));
    let time = last.into_iter().try_fold(0.0_f64, |latest, one| one.map(|one| latest.max(one)));
    Some((time, predicted))
}

fn rest(settled: &Settled<'_>, of: &Observable) -> f64 {
    of.place.of(&settled.moment.x, &settled.moment.channels)
}

fn begin<'p>(plan: &'p Plan, settled: &Settled<'p>, asked: &Asked) -> Option<Solver<'p>> {
    match &asked.from {
        Some(from) => Solver::at(&settled.frozen, &start(settled, from).ok()?, Accuracy::default()).ok(),
        None => {
            let mut solver = Solver::new(&plan.assembly, Accuracy::default()).ok()?;
            solver.advance(present(plan)).ok()?;
            Some(solver)
        }
    }
}

/// The states of a single start.
fn start(settled: &Settled<'_>, from: &str) -> Result<Vec<f64>, String> {
    if !is_single(from) {
        return Err(format!("--from {from}: times of convergence have one start each, such as x=50%"));
    }
    let known = observables(settled.plan);
    let starts = Starts::read(from, 1, &[], (settled, &known, &bottlenecks(settled)))?;
    let mut states = starts.states(settled)?;
    states.pop().ok_or_else(|| "there is no start".to_owned())
}

/// When values last came within a share of `rest`; none if they are outside in the last tenth.
fn arrival(times: &[f64], values: &[f64], rest: f64, within: f64) -> Option<f64> {
    let end = *times.last()?;
    let away = |i: usize| (values[i] / rest - 1.0).abs();
    match (0..values.len()).rev().find(|i| away(*i) > within) {
        None => Some(0.0),
        Some(i) if times[i] > 0.9 * end => None,
        Some(i) => {
            let part = (away(i) - within) / (away(i) - away(i + 1));
            Some(times[i] + part * (times[i + 1] - times[i]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 (1 + 0.8 exp(-t)): within 5 % after ln 16.
    #[test]
    fn an_exponential_arrives_after_the_logarithm_of_how_far_it_came() {
        let times: Vec<f64> = (0..=10_000).map(|i| f64::from(i) * 1e-3).collect();
        let values: Vec<f64> = times.iter().map(|t| 10.0 * (1.0 + 0.8 * (-t).exp())).collect();
        let found = arrival(&times, &values, 10.0, 0.05).unwrap();
        assert!((found - 16_f64.ln()).abs() < 1e-6, "{found}");
        assert_eq!(arrival(&times, &values, 9.0, 0.05), None, "it rests elsewhere");
        assert_eq!(arrival(&times, &values, 10.0, 0.9), Some(0.0));
    }
}
