//! Executes trials: iterates a recurrence, runs or analyses a scenario, or loads a finished run from the cache.

use super::analysis::AnalysisResult;
use super::analyze::AnalysisRequest;
use super::trial::Trial;
use millpond_lab::{Error, WantedRun};
use millpond_protocols::Registry;
use millpond_results::{Run, Watch};
use std::path::PathBuf;

/// Options of a check of recipes.
#[derive(Clone)]
pub struct CheckOptions {
    /// The protocols and queues that scenarios may use.
    pub registry: Registry,
    /// Whether the extent `[full]` is run instead of `[quick]`.
    pub full: bool,
    /// Overrides of every scenario, in the form of `--set`.
    pub set: Vec<String>,
    /// A trace that replaces every trace of the recipes.
    pub trace: Option<PathBuf>,
    /// The folder of finished runs, from which an interrupted check continues.
    pub keep: Option<PathBuf>,
    /// Whether one result of each case is returned, for charts.
    pub draw: bool,
}

impl CheckOptions {
    /// The options of a quick check with the built-in registry and without a cache.
    pub fn quick() -> Self {
        Self {
            registry: Registry::builtin(),
            full: false,
            set: Vec::new(),
            trace: None,
            keep: None,
            draw: false,
        }
    }
}

/// The result of a trial.
#[derive(Clone, Debug)]
pub enum TrialResult {
    /// A run.
    Run(Box<Run>),
    /// The result of an analysis.
    Analysis(AnalysisResult),
    /// The reason why there is neither.
    Refused(String),
}

/// Executes one trial; `index` is its number for `watch`.
///
/// # Errors
/// The faults of the scenario, a cache that cannot be written, or the interruption by `watch`.
pub fn execute(
    trial: &Trial<'_>,
    index: usize,
    options: &CheckOptions,
    watch: &dyn Watch,
) -> Result<TrialResult, Error> {
    if let Some(recurrence) = trial.recurrence() {
        return Ok(TrialResult::Run(Box::new(recurrence.run(&trial.label()))));
    }
    let scenario = trial.scenario(&options.set, options.trace.as_deref())?;
    if let Some(analysis) = trial.case.analysis {
        let request =
            AnalysisRequest { trial, scenario: &scenario, registry: &options.registry, index, watch };
        return Ok(TrialResult::Analysis(request.analyze(analysis)?));
    }
    let wanted = WantedRun {
        name: format!("{} {} seed {}", trial.case.name, trial.reading.name, trial.seed),
        scenario: &scenario,
        registry: &options.registry,
        about: trial.about(index, trial.case.world),
    };
    let folder = options.keep.as_ref().map(|folder| folder.join(&trial.recipe.name));
    Ok(TrialResult::Run(Box::new(wanted.load_or_make(folder.as_deref(), watch)?)))
}
