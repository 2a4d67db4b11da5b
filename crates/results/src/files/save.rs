//! Writing the files of a run.

use super::directory::{OutputError, RunDirectory};
use super::{csv, parquet, table};
use crate::{Comparison, Run, Timing};
use serde::Serialize;

/// Optional files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Each table also as a `.csv` file.
    pub csv: bool,
}

/// The text of `summary.json`.
pub fn summary_json(run: &Run) -> Result<String, serde_json::Error> {
    json(&run.summary)
}

/// The text of `comparison.json`.
pub fn comparison_json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    json(comparison)
}

/// The names of a run's files.
pub(super) mod name {
    /// The scenario with all defaults.
    pub(crate) const SCENARIO: &str = "scenario.toml";
    /// The numbers of the run.
    pub(crate) const SUMMARY: &str = "summary.json";
    /// Elapsed time and processor time.
    pub(crate) const TIMING: &str = "timing.json";
    /// Quantities over time.
    pub(crate) const SERIES: &str = "series.parquet";
    /// Every transfer.
    pub(crate) const FLOWS: &str = "flows.parquet";
    /// Distributions of queueing delay.
    pub(crate) const DISTRIBUTIONS: &str = "distributions.parquet";
}

/// Writes the files of a run. Only `timing.json` differs between two executions of the same run.
///
/// # Errors
/// A file that cannot be written.
pub fn save(run: &Run, timing: &Timing, extras: Extras, directory: &RunDirectory) -> Result<(), OutputError> {
    let tables = [
        (name::SERIES, table::series(run)),
        (name::FLOWS, table::flows(run)),
        (name::DISTRIBUTIONS, table::distributions(run)),
    ];
    let failed = |error: &dyn std::fmt::Display| OutputError {
        path: directory.path().to_owned(),
        fault: format!("cannot encode the results: {error}"),
    };
    directory.write(name::SCENARIO, run.scenario_toml.as_bytes())?;
    directory.write(name::SUMMARY, summary_json(run).map_err(|e| failed(&e))?.as_bytes())?;
    directory.write(name::TIMING, json(timing).map_err(|e| failed(&e))?.as_bytes())?;
    for (name, table) in &tables {
        directory.write(name, &parquet::bytes(table).map_err(|e| failed(&e))?)?;
        if extras.csv {
            directory.write(&name.replace(".parquet", ".csv"), csv::text(table).as_bytes())?;
        }
    }
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}
