//! The explanation of a run: the steady state of its laws, the linear loop at the run's own operating point and the noise of
//! its packets, compared with its series.
//!
//! ```text
//!   Run --StationaryInterval--> series without joins, leaves, steps --Fluctuation--> deviation, peak, growth per cycle
//!    \--scenario--> equilibrium with the run's own queueing delays --LinearModel--> roots, margins, noise floor
//! ```

mod cycle;
mod error;
mod fluctuation;
mod interval;
mod json;
mod model;
mod operating_point;
mod read;
mod sentence;
mod series;
mod spectrum;
mod subject;
mod verdict;

pub use error::ExplainError;
pub use fluctuation::{Fluctuation, FluctuationKind};
pub use interval::StationaryInterval;
pub use json::{
    CycleGrowthJson, ExplanationJson, FluctuationJson, IntervalJson, LinearModelJson, LoopGainJson,
    NoiseCausesJson, NoiseFloorJson, OperatingPointJson, RightmostRootJson, SpectralPeakJson,
    StabilityWithRunJson, explanation_json,
};
pub use model::{LinearModel, NoiseFloor};
pub use operating_point::OperatingPointRow;
pub use read::{RunReadError, StoredRun, read_run};
pub use sentence::{explanation_sentence, format_fluctuation, format_time};
pub use spectrum::{CycleGrowth, PowerSpectrum, SpectralPeak};
pub use verdict::{ExplanationVerdict, Finding};

use interval::{LEAST_SAMPLES, TimedAnalysis};
use millpond_fluid::Frozen;
use millpond_results::Run;
use millpond_scenario::Scenario;
use millpond_theory::classification::{SteadyStateAnalysis, analyze_steady_state_at};
use millpond_theory::equilibrium::PlanEquilibrium;
use millpond_theory::steady_state::SteadyState;
use millpond_theory::{AnalysisError, NamedCapacity, Study};
use series::IntervalSeries;
use subject::Subject;

/// The explanation of a run.
pub struct Explanation {
    /// Name of the run.
    pub run: String,
    /// Name of its world.
    pub world: String,
    /// The part of the run that was analyzed.
    pub interval: StationaryInterval,
    /// The capacity at which each link with a varying one was analyzed.
    pub capacities: Vec<NamedCapacity>,
    /// Time between samples of the series, in seconds.
    pub sample_interval: f64,
    /// What the laws do in the steady state.
    pub steady_state: SteadyState,
    /// The mean time between two reductions of a flow in seconds; only for a limit cycle or a sawtooth.
    pub measured_period: Option<f64>,
    /// The linear loop at the run's operating point; none for a limit cycle or a sawtooth.
    pub model: Option<LinearModel>,
    /// The equilibrium of the equations beside the means of the series.
    pub operating_point: Vec<OperatingPointRow>,
    /// How rates and queues fluctuate.
    pub fluctuations: Vec<Fluctuation>,
    /// What follows from all of these.
    pub verdict: ExplanationVerdict,
}

/// Explains a run of the scenario of `study`, as resolved, in its longest interval without changes.
///
/// # Errors
/// [`ExplainError`] says what is missing and what would work.
pub fn explain(run: &Run, study: Study<'_>) -> Result<Explanation, ExplainError> {
    explain_at(run, study, None)
}

/// Explains a run in the interval without changes that contains `at`, in seconds; none: in the longest one. If capacities
/// change too often for any interval, in the longest one without joins and leaves, at the mean capacity.
///
/// # Errors
/// As [`explain`].
pub fn explain_at(run: &Run, study: Study<'_>, at: Option<f64>) -> Result<Explanation, ExplainError> {
    check_time(study.scenario, at)?;
    let timed = TimedAnalysis::choose(study, at)?;
    let scenario = &timed.scenario;
    let plan = study.with_scenario(scenario).plan()?;
    let series = IntervalSeries::new(run, &timed.interval, scenario.measure.every.secs());
    check_samples(&timed.interval, &series)?;
    let time = f64::midpoint(timed.interval.start, timed.interval.end);
    let analysis = analyze_steady_state_at(&plan, time)?;
    let subject =
        Subject::new(run, &plan, Frozen::new(&plan.assembly, time), analysis.equilibrium.as_ref(), &series);
    let (state, model) = (analysis.state.clone(), model(&subject, &analysis)?);
    if let Some(model) = &model {
        check_cycles(&timed.interval, &series, model)?;
    }
    let fluctuations = fluctuation::fluctuations(&subject, model.as_ref())?;
    let operating_point = operating_point::operating_point(&subject);
    let verdict = match (&model, &state) {
        (Some(model), _) => verdict::verdict(&subject, model, &operating_point, &fluctuations),
        (None, SteadyState::Sawtooth(_)) => verdict::verdict_of_cycle(Finding::Sawtooth, &fluctuations),
        (None, _) => verdict::verdict_of_cycle(Finding::LimitCycle, &fluctuations),
    };
    Ok(Explanation {
        run: run.label.clone(),
        world: run.summary.world.clone(),
        sample_interval: series.interval,
        measured_period: state.oscillation().and_then(|found| cycle::measured_period(&subject, found)),
        steady_state: state,
        model,
        operating_point,
        fluctuations,
        verdict,
        capacities: timed.capacities.clone(),
        interval: timed.interval.clone(),
    })
}

/// The linear loop at the run's own queueing delays; none for a limit cycle or a sawtooth.
fn model(
    subject: &Subject<'_>,
    analysis: &SteadyStateAnalysis<'_>,
) -> Result<Option<LinearModel>, ExplainError> {
    let of = |equilibrium: &PlanEquilibrium<'_>| {
        LinearModel::at(equilibrium, &subject.queueing_delays(), subject.granularity().as_deref())
    };
    match (&analysis.state, &analysis.equilibrium) {
        (SteadyState::None { reason }, _) => Err(AnalysisError::NoEquilibrium(reason.clone()).into()),
        (SteadyState::FixedPoint(_) | SteadyState::Continuum { .. }, Some(equilibrium)) => {
            Ok(Some(of(equilibrium)?))
        }
        _ => Ok(None),
    }
}

/// An error if this time is not in the measured part of the run.
fn check_time(scenario: &Scenario, at: Option<f64>) -> Result<(), ExplainError> {
    let (from, until) = (scenario.measure.from.secs(), scenario.duration.secs());
    match at {
        Some(at) if !(from..until).contains(&at) => Err(ExplainError::NotMeasured { at, from, until }),
        _ => Ok(()),
    }
}

fn check_samples(interval: &StationaryInterval, series: &IntervalSeries<'_>) -> Result<(), ExplainError> {
    let samples = series.count();
    if samples >= LEAST_SAMPLES {
        return Ok(());
    }
    let reason = format!("{LEAST_SAMPLES} samples of {} s", series.interval);
    let needed = LEAST_SAMPLES as f64 * series.interval;
    Err(ExplainError::TooShort { interval: interval.clone(), samples, needed, reason })
}

fn check_cycles(
    interval: &StationaryInterval,
    series: &IntervalSeries<'_>,
    model: &LinearModel,
) -> Result<(), ExplainError> {
    const LEAST: f64 = 4.0;
    let cycle = model.frequency().map_or(0.0, |frequency| 1.0 / frequency);
    if interval.duration() >= LEAST * cycle {
        return Ok(());
    }
    let reason = format!("{LEAST} cycles of the loop, {cycle:.3} s each");
    let (samples, needed) = (series.count(), LEAST * cycle);
    Err(ExplainError::TooShort { interval: interval.clone(), samples, needed, reason })
}
