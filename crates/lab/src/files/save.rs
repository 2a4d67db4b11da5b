//! What a run directory holds.

use super::directory::{OutputError, RunDirectory};
use super::{csv, parquet, table};
use crate::results::{Run, Timing};
use serde::Serialize;

/// What is written beside the usual files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// `series.csv` and `flows.csv` too.
    pub csv: bool,
}

/// The text of `summary.json`.
pub fn summary_json(run: &Run) -> Result<String, serde_json::Error> {
    json(&run.summary)
}

/// Writes a run's files: `scenario.toml`, `summary.json`, `series.parquet`, `flows.parquet` and `timing.json`, the
/// one file that may differ between runs of the same scenario and seed.
pub fn save(run: &Run, timing: &Timing, extras: Extras, directory: &RunDirectory) -> Result<(), OutputError> {
    let (series, flows) = (table::series(run), table::flows(run));
    let failed = |error: &dyn std::fmt::Display| OutputError {
        path: directory.path().to_owned(),
        fault: format!("cannot encode the results: {error}"),
    };
    directory.write("scenario.toml", run.scenario_toml.as_bytes())?;
    directory.write("summary.json", summary_json(run).map_err(|e| failed(&e))?.as_bytes())?;
    directory.write("timing.json", json(timing).map_err(|e| failed(&e))?.as_bytes())?;
    directory.write("series.parquet", &parquet::bytes(&series).map_err(|e| failed(&e))?)?;
    directory.write("flows.parquet", &parquet::bytes(&flows).map_err(|e| failed(&e))?)?;
    if extras.csv {
        directory.write("series.csv", csv::text(&series).as_bytes())?;
        directory.write("flows.csv", csv::text(&flows).as_bytes())?;
    }
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}
