//! Why a run swings: the loop at the run's own operating point, and the noise of its packets, against what its series show.
//!
//! ```text
//!   Run --Stretch--> series without joins, leaves, steps --Swing--> deviation, peak, growth per cycle
//!    \--scenario--> equations at rest there, with the run's own queues --Model--> roots, margins, noise floor
//! ```

mod fluctuation;
mod interval;
mod json;
mod model;
mod operating_point;
pub mod sentence;
mod series;
mod spectrum;
mod verdict;

pub use fluctuation::{Of, Swing};
pub use interval::Stretch;
pub use json::explanation_json;
pub use model::{Floor, Model};
pub use operating_point::Row;
pub use sentence::verdict_sentence;
pub use spectrum::{Density, Growth, Peak};
pub use verdict::{Finding, Verdict};

use crate::Refusal;
use crate::equilibrium::{Settled, settle_at};
use millpond_fluid::stability::PacketGranularity;
use millpond_plan::fluid::{self, Plan};
use millpond_protocols::Registry;
use millpond_results::files::LoadError;
use millpond_results::{Kind, Run, quantity};
use millpond_scenario::{Faults, Scenario};
use series::Sampled;
use std::fmt;

/// Why a run does what it does.
pub struct Explanation {
    /// What the run is called.
    pub run: String,
    /// Where it happened.
    pub world: String,
    /// Which part of it was looked at.
    pub stretch: Stretch,
    /// Seconds from sample to sample.
    pub interval: f64,
    /// The loop there.
    pub model: Model,
    /// Where the model rests, and where the series are in the mean.
    pub points: Vec<Row>,
    /// What moves.
    pub swings: Vec<Swing>,
    /// What that means.
    pub verdict: Verdict,
}

/// Why a run cannot be explained.
#[derive(Debug)]
pub enum Inexplicable {
    /// There is no run to be read.
    NoRun(LoadError),
    /// There are several.
    Several {
        /// Their names.
        runs: Vec<String>,
    },
    /// The law, or the scenario, has no linear model.
    Refusal(Refusal),
    /// A series is not there, or has gaps.
    Missing {
        /// Which.
        series: String,
        /// How many samples it has in the stretch.
        found: usize,
        /// How many it should have.
        needed: usize,
    },
    /// Too little to tell an oscillation from a trend.
    TooShort {
        /// What there is.
        stretch: Stretch,
        /// In samples.
        samples: usize,
        /// In seconds.
        needed: f64,
        /// Why so much.
        because: String,
    },
}

impl fmt::Display for Inexplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRun(error) => {
                write!(
                    f,
                    "{error}; --explain reads the directory of one run: millpond run SCENARIO.toml --out DIR"
                )
            }
            Self::Several { runs } => {
                write!(
                    f,
                    "there are {} runs in it; --explain takes one of them: {}",
                    runs.len(),
                    runs.join(", ")
                )
            }
            Self::Refusal(reason) => reason.fmt(f),
            Self::Missing { series, found, needed } => write!(
                f,
                "the series {series} has {found} of {needed} samples in the stretch looked at; run the scenario again with --out \
                 by this version of Millpond"
            ),
            Self::TooShort { stretch, samples, needed, because } => write!(
                f,
                "the longest stretch without a join, a leave or a capacity step, {stretch}, is {:.3} s with {samples} samples; \
                 {needed:.3} s are needed, {because}: run it longer with --set duration=..., or sample it more often with --set \
                 measure.every=...",
                stretch.length()
            ),
        }
    }
}

impl<E: Into<Refusal>> From<E> for Inexplicable {
    fn from(reason: E) -> Self {
        Self::Refusal(reason.into())
    }
}

/// What is explained.
struct Subject<'a> {
    run: &'a Run,
    plan: &'a Plan,
    settled: &'a Settled<'a>,
    /// Whether it has packets, or is fluid.
    has_packets: bool,
    /// Of which loops it has windows.
    windows: Vec<bool>,
    /// Of the stretch, in seconds.
    length: f64,
}

/// Explains one run; `scenario` is its own, as resolved.
///
/// # Errors
/// [`Inexplicable`] says what is missing and what would work.
pub fn explain(run: &Run, scenario: &Scenario, registry: &Registry) -> Result<Explanation, Inexplicable> {
    let plan = fluid::plan(scenario, registry)?;
    let stretch = Stretch::longest(&plan, scenario);
    let sampled = Sampled::new(run, &stretch, scenario.measure.every.secs());
    enough_samples(&stretch, &sampled)?;
    let settled = settle_at(&plan, f64::midpoint(stretch.from, stretch.to))?;
    let has_packets = run.summary.world == millpond_results::World::Packets.name();
    let windows: Vec<bool> =
        (0..plan.loops.len()).map(|l| has_packets && has_window(&plan, &sampled, l)).collect();
    let grains = has_packets.then(|| grains(&plan, &windows));
    let model = Model::at(&settled, &waiting(&plan, &sampled), grains.as_deref())?;
    enough_cycles(&stretch, &sampled, &model)?;
    let length = stretch.length();
    let subject = Subject { run, plan: &plan, settled: &settled, has_packets, windows, length };
    let swings = fluctuation::swings(&subject, &model, &sampled)?;
    let points = operating_point::points(&subject, &sampled);
    let verdict = verdict::verdict(&subject, &model, (&points, &swings), &sampled);
    Ok(Explanation {
        run: run.label.clone(),
        world: run.summary.world.clone(),
        interval: sampled.interval,
        model,
        points,
        swings,
        verdict,
        stretch,
    })
}

/// What packets wait at each link of the engine, in seconds.
fn waiting(plan: &Plan, sampled: &Sampled<'_>) -> Vec<f64> {
    let links = plan.links.iter().filter(|link| link.id.is_some());
    let wait = |link: &fluid::PlannedLink| sampled.mean(Kind::Link, &link.entity, quantity::QUEUEING);
    links.map(|link| wait(link).unwrap_or(0.0) / 1e3).collect()
}

/// Whether the law of a loop permitted a window in this run.
fn has_window(plan: &Plan, sampled: &Sampled<'_>, l: usize) -> bool {
    plan.flows.iter().any(|flow| {
        let position = flow.loops.iter().position(|id| id.0 == l);
        let name = position.map(|position| flow.loop_name(position));
        name.is_some_and(|name| sampled.mean(Kind::Flow, &name, quantity::WINDOW).is_some())
    })
}

fn grains(plan: &Plan, windows: &[bool]) -> Vec<PacketGranularity> {
    let grain = |(planned, has_window): (&fluid::PlannedLoop, &bool)| PacketGranularity {
        packet: planned.facts.packet,
        has_window: *has_window,
    };
    plan.loops.iter().zip(windows).map(grain).collect()
}

fn enough_samples(stretch: &Stretch, sampled: &Sampled<'_>) -> Result<(), Inexplicable> {
    const LEAST: usize = 64;
    let samples = sampled.count();
    if samples >= LEAST {
        return Ok(());
    }
    let because = format!("{LEAST} samples of {} s", sampled.interval);
    let needed = LEAST as f64 * sampled.interval;
    Err(Inexplicable::TooShort { stretch: stretch.clone(), samples, needed, because })
}

fn enough_cycles(stretch: &Stretch, sampled: &Sampled<'_>, model: &Model) -> Result<(), Inexplicable> {
    const LEAST: f64 = 4.0;
    let cycle = model.frequency().map_or(0.0, |frequency| 1.0 / frequency);
    if stretch.length() >= LEAST * cycle {
        return Ok(());
    }
    let because = format!("{LEAST} cycles of the loop's own {cycle:.3} s");
    let (samples, needed) = (sampled.count(), LEAST * cycle);
    Err(Inexplicable::TooShort { stretch: stretch.clone(), samples, needed, because })
}

/// Reads the one run that a directory, or one of its files, belongs to, with its scenario.
///
/// # Errors
/// No run, several, or one whose scenario cannot be read.
pub fn read_run(path: &std::path::Path) -> Result<(Run, Scenario), ReadError> {
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    let mut runs = millpond_results::files::load(directory)
        .map_err(|error| ReadError::Run(Inexplicable::NoRun(error)))?;
    match (runs.pop(), runs.is_empty()) {
        (Some(run), true) => {
            let scenario = Scenario::load(&millpond_results::files::scenario_of(directory), &[])
                .map_err(ReadError::Scenario)?;
            Ok((run, scenario))
        }
        (last, _) => {
            let all = runs.iter().chain(&last);
            let runs = all.map(|run| directory.join(&run.label).display().to_string()).collect();
            Err(ReadError::Run(Inexplicable::Several { runs }))
        }
    }
}

/// Why a run was not read.
pub enum ReadError {
    /// It is not one run.
    Run(Inexplicable),
    /// Its scenario is not right.
    Scenario(Faults),
}
