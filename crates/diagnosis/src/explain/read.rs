//! The run that a path names.

use super::error::ExplainError;
use millpond_results::{Run, files};
use millpond_scenario::{Faults, Scenario};
use std::path::Path;

/// Why a run was not read.
pub enum RunReadError {
    /// The path does not name a single run.
    Run(ExplainError),
    /// The scenario of the run is wrong.
    Scenario(Faults),
}

/// A finished run with its scenario.
pub struct StoredRun {
    /// The run.
    pub run: Run,
    /// Its scenario.
    pub scenario: Scenario,
}

/// Reads the only run in a directory or below it, or of the directory of a file, with its scenario.
///
/// # Errors
/// There is no run, there are several, or the scenario cannot be read.
pub fn read_run(path: &Path) -> Result<StoredRun, RunReadError> {
    let no_run = |error| RunReadError::Run(ExplainError::NoRun(error));
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    let directories = files::run_directories(directory).map_err(no_run)?;
    if let [directory] = directories.as_slice()
        && let Some(run) = files::load(directory).map_err(no_run)?.pop()
    {
        let scenario = Scenario::load(&files::scenario_of(directory), &[]).map_err(RunReadError::Scenario)?;
        return Ok(StoredRun { run, scenario });
    }
    let runs = directories.iter().map(|directory| directory.display().to_string()).collect();
    Err(RunReadError::Run(ExplainError::Several { runs }))
}
