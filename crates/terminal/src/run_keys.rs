//! The columns of CSV that say from which runs a row is, so that rows of several commands can be joined.

use millpond_results::{ComparisonRow, Summary, TraceKey};
use millpond_tables::Cell;

/// The headings of [`of_row`] and [`of_run`], as the keys of `comparison.json` and `summary.json`.
pub(super) const RUN_KEYS: [&str; 5] = ["world", "seeds", "scenario_sha256", "trace_sha256", "version"];

/// The keys of a row of a comparison.
pub(super) fn of_row(row: &ComparisonRow) -> [Cell; 5] {
    cells(&row.world, &row.seeds, &row.scenario_sha256, &row.traces, &row.version)
}

/// The keys of one run.
pub(super) fn of_run(run: &Summary) -> [Cell; 5] {
    cells(&run.world, &[run.seed], &run.scenario_sha256, &run.traces, &run.version)
}

/// Several seeds and several traces have a blank between them.
fn cells(world: &str, seeds: &[u64], scenario: &str, traces: &[TraceKey], version: &str) -> [Cell; 5] {
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let traces: Vec<&str> = traces.iter().map(|trace| trace.sha256.as_str()).collect();
    [world.into(), seeds.join(" ").into(), scenario.into(), traces.join(" ").into(), version.into()]
}
