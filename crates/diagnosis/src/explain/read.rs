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

/// Reads the only run of a directory, or of the directory of a file, with its scenario.
///
/// # Errors
/// There is no run, there are several, or the scenario cannot be read.
pub fn read_run(path: &Path) -> Result<StoredRun, RunReadError> {
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    let mut runs = files::load(directory).map_err(|error| RunReadError::Run(ExplainError::NoRun(error)))?;
    match (runs.pop(), runs.is_empty()) {
        (Some(run), true) => {
            let scenario =
                Scenario::load(&files::scenario_of(directory), &[]).map_err(RunReadError::Scenario)?;
            Ok(StoredRun { run, scenario })
        }
        (last, _) => {
            let all = runs.iter().chain(&last);
            let runs = all.map(|run| directory.join(&run.label).display().to_string()).collect();
            Err(RunReadError::Run(ExplainError::Several { runs }))
        }
    }
}
