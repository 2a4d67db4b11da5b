//! Executes trials: iterates a recurrence, runs or analyses a scenario, or loads a finished run from the cache.

use super::analysis::AnalysisResult;
use super::analyze::AnalysisRequest;
use super::trial::Trial;
use millpond_lab::{Error, run};
use millpond_protocols::Registry;
use millpond_results::files::{Extras, RunDirectory, load, save};
use millpond_results::{Run, Watch};
use millpond_scenario::Scenario;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

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
    Ok(TrialResult::Run(Box::new(run_or_load(trial, &scenario, index, options, watch)?)))
}

fn run_or_load(
    trial: &Trial<'_>,
    scenario: &Scenario,
    index: usize,
    options: &CheckOptions,
    watch: &dyn Watch,
) -> Result<Run, Error> {
    let cached = options.keep.as_ref().map(|folder| folder.join(cache_name(trial, &format!("{scenario:?}"))));
    if let Some(found) = cached.as_ref().and_then(|directory| load(directory).ok()?.pop()) {
        return Ok(found);
    }
    let about = trial.about(index, trial.case.world);
    let finished = run(scenario, &options.registry, about, watch)?;
    if let Some(directory) = cached {
        let directory = RunDirectory::create(&directory)?;
        save(&finished.run, &finished.timing, Extras::default(), &directory)?;
        directory.finish()?;
    }
    Ok(finished.run)
}

/// The relative path of a trial's directory in the cache: readable, and different if the scenario, its traces, the
/// seed or this program differ.
fn cache_name(trial: &Trial<'_>, scenario: &str) -> PathBuf {
    let mut digest = Sha256::new();
    digest.update(env!("CARGO_PKG_VERSION"));
    digest.update(program_digest());
    digest.update(trial.case.world.name());
    digest.update(scenario);
    let mut short = String::new();
    for byte in digest.finalize().iter().take(8) {
        // Writing to a String cannot fail.
        let _ = write!(short, "{byte:02x}");
    }
    let name = format!("{} {} seed {}", trial.case.name, trial.reading.name, trial.seed);
    let parts: Vec<_> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).collect();
    Path::new(&trial.recipe.name).join(format!("{}-{short}", parts.join("-")))
}

/// The digest of this program's file, so that results of another build are not reused; empty if it cannot be read.
fn program_digest() -> &'static [u8] {
    use std::sync::OnceLock;
    static DIGEST: OnceLock<Vec<u8>> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        Sha256::digest(bytes).to_vec()
    })
}
