//! Writing the files of a run.

use super::directory::{OutputError, RunDirectory};
use super::{csv, names, parquet, table};
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

/// Writes the files of a run. Only `timing.json` differs between two executions of the same run.
///
/// # Errors
/// A file that cannot be written.
pub fn save(run: &Run, timing: &Timing, extras: Extras, directory: &RunDirectory) -> Result<(), OutputError> {
    type Table = fn(&Run) -> Vec<table::Column<'_>>;
    let tables: [(&str, Table); 3] = [
        (names::SERIES, table::series),
        (names::FLOWS, table::flows),
        (names::DISTRIBUTIONS, table::distributions),
    ];
    let failed = |error: &dyn std::fmt::Display| OutputError {
        path: directory.path().to_owned(),
        fault: format!("cannot encode the results: {error}"),
    };
    directory.write(names::SCENARIO, run.scenario_toml.as_bytes())?;
    directory.write_json(names::SUMMARY, &run.summary)?;
    directory.write_json(names::TIMING, timing)?;
    for (name, table) in tables {
        directory.write(name, &parquet::bytes(table(run)).map_err(|e| failed(&e))?)?;
        if extras.csv {
            directory.write(&name.replace(".parquet", ".csv"), csv::text(table(run)).as_bytes())?;
        }
    }
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}
