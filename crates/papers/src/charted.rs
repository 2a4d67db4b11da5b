//! What pictures of a checked recipe are drawn of. `millpond-report` draws them.

use super::expect::Expectation;
use super::verdict::{RowValues, RowVerdict};
use millpond_results::Run;

/// A run that is kept for charts.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartedRun {
    /// The case.
    pub case: String,
    /// The reading.
    pub reading: String,
    /// What its times count, with the unit.
    pub time_axis: &'static str,
    /// The run.
    pub run: Run,
}

/// A row with its values and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRow {
    /// The row.
    pub row: Expectation,
    /// Its case.
    pub case: String,
    /// Its case as it is shown: with the other one of a quotient.
    pub shown_case: String,
    /// The reading, empty if it is the paper's first.
    pub reading: String,
    /// Its values, one per seed.
    pub values: RowValues,
    /// The verdict on them.
    pub verdict: RowVerdict,
}
