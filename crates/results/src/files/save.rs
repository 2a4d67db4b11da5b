//! What a run directory holds.

use super::directory::{OutputError, RunDirectory};
use super::{csv, parquet, table};
use crate::{Run, Timing};
use serde::Serialize;

/// What is written beside the usual files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Each table as `.csv` too.
    pub csv: bool,
}

/// The text of `summary.json`.
pub fn summary_json(run: &Run) -> Result<String, serde_json::Error> {
    json(&run.summary)
}

/// The names of a run's files.
pub(super) mod name {
    /// The scenario as resolved, re-runnable.
    pub(crate) const SCENARIO: &str = "scenario.toml";
    /// The numbers.
    pub(crate) const SUMMARY: &str = "summary.json";
    /// Wall and processor time.
    pub(crate) const TIMING: &str = "timing.json";
    /// Quantities over time.
    pub(crate) const SERIES: &str = "series.parquet";
    /// Every transfer.
    pub(crate) const FLOWS: &str = "flows.parquet";
    /// Distributions of queueing delay.
    pub(crate) const DISTRIBUTIONS: &str = "distributions.parquet";
}

/// Writes a run's files. `timing.json` is the one that may differ between runs of the same scenario and seed.
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
