//! The explanation of a run: the linear loop at the run's own operating point and the noise of its packets, compared with its
//! series.
//!
//! ```text
//!   Run --StationaryInterval--> series without joins, leaves, steps --Fluctuation--> deviation, peak, growth per cycle
//!    \--scenario--> equilibrium with the run's own queueing delays --LinearModel--> roots, margins, noise floor
//! ```

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
    explanation_json,
};
pub use model::{LinearModel, NoiseFloor};
pub use operating_point::OperatingPointRow;
pub use read::{RunReadError, read_run};
pub use sentence::{explanation_sentence, format_fluctuation, format_time};
pub use spectrum::{CycleGrowth, PowerSpectrum, SpectralPeak};
pub use verdict::{ExplanationVerdict, Finding};

use crate::Study;
use crate::equilibrium::find_equilibrium_at;
use millpond_results::Run;
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
    /// Time between samples of the series, in seconds.
    pub sample_interval: f64,
    /// The linear loop at the run's operating point.
    pub model: LinearModel,
    /// The equilibrium of the model beside the means of the series.
    pub operating_point: Vec<OperatingPointRow>,
    /// How rates and queues fluctuate.
    pub fluctuations: Vec<Fluctuation>,
    /// What follows from both.
    pub verdict: ExplanationVerdict,
}

/// Explains a run of the scenario of `study`, as resolved.
///
/// # Errors
/// [`ExplainError`] says what is missing and what would work.
pub fn explain(run: &Run, study: Study<'_>) -> Result<Explanation, ExplainError> {
    let plan = study.plan()?;
    let interval = StationaryInterval::longest(&plan, study.scenario);
    let series = IntervalSeries::new(run, &interval, study.scenario.measure.every.secs());
    check_samples(&interval, &series)?;
    let equilibrium = find_equilibrium_at(&plan, f64::midpoint(interval.start, interval.end))?;
    let subject = Subject::new(run, &equilibrium, &series);
    let model = LinearModel::at(&equilibrium, &subject.queueing_delays(), subject.granularity().as_deref())?;
    check_cycles(&interval, &series, &model)?;
    let fluctuations = fluctuation::fluctuations(&subject, &model)?;
    let operating_point = operating_point::operating_point(&subject);
    let verdict = verdict::verdict(&subject, &model, &operating_point, &fluctuations);
    Ok(Explanation {
        run: run.label.clone(),
        world: run.summary.world.clone(),
        sample_interval: series.interval,
        model,
        operating_point,
        fluctuations,
        verdict,
        interval,
    })
}

fn check_samples(interval: &StationaryInterval, series: &IntervalSeries<'_>) -> Result<(), ExplainError> {
    const LEAST: usize = 64;
    let samples = series.count();
    if samples >= LEAST {
        return Ok(());
    }
    let reason = format!("{LEAST} samples of {} s", series.interval);
    let needed = LEAST as f64 * series.interval;
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
