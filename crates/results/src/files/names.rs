//! The names of a run's files.

/// The scenario with all defaults.
pub(super) const SCENARIO: &str = "scenario.toml";
/// The numbers of the run.
pub(super) const SUMMARY: &str = "summary.json";
/// Elapsed time and processor time.
pub(super) const TIMING: &str = "timing.json";
/// Quantities over time.
pub(super) const SERIES: &str = "series.parquet";
/// Every transfer.
pub(super) const FLOWS: &str = "flows.parquet";
/// What the runs of the dataset of a sweep share, in its directory.
pub const SWEEP: &str = "sweep.json";
/// The rows of a comparison, in its directory.
pub(super) const COMPARISON: &str = "comparison.json";
/// Distributions of queueing delay.
pub(super) const DISTRIBUTIONS: &str = "distributions.parquet";
