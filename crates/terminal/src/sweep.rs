//! The table of a sweep.

use millpond_sweep::{Mean, MeanRow};
use millpond_tables::{Cell, Document, Table, table};
use millpond_units::format::{fixed, number, percent, two_digits};

/// The columns of metrics: heading, metric, factor from its unit to that of the heading, and form.
type MetricColumn = (&'static str, &'static str, f64, fn(f64) -> String);

const METRICS: [MetricColumn; 10] = [
    ("utilization", "utilization", 1.0, percent),
    ("total\ngoodput\nMbit/s", "total_goodput_bps", 1e-6, number),
    ("least\ngoodput\nMbit/s", "least_goodput_bps", 1e-6, number),
    ("queueing\ndelay, ms\nmean", "queueing_mean_ms", 1.0, number),
    ("queueing\ndelay, ms\np95", "queueing_p95_ms", 1.0, two_digits),
    ("Jain's\nindex", "jain", 1.0, |jain| fixed(jain, 3)),
    ("loss", "loss", 1.0, |share| format!("{:.3} %", 100.0 * share)),
    ("completion\ntime, ms\nmean", "completion_mean_ms", 1.0, number),
    ("completion\ntime, ms\np95", "completion_p95_ms", 1.0, number),
    ("slowdown\np99", "slowdown_p99", 1.0, number),
];

/// A sentence about runs without results, and a row for each combination of settings and protocol: means over the seeds
/// with half the width of their 95 % confidence interval. A metric that no run has is left out.
pub fn sweep(rows: &[MeanRow]) -> Document {
    Document::default().text(failures(rows)).table(means(rows))
}

fn failures(rows: &[MeanRow]) -> String {
    let failed: u64 = rows.iter().map(|row| row.failed).sum();
    let Some(error) = rows.iter().find_map(|row| row.error.as_ref()).filter(|_| failed > 0) else {
        return String::new();
    };
    let runs: u64 = rows.iter().map(|row| row.runs).sum();
    format!("{failed} of {runs} runs have no results. The first error is:\n{}\n", error.trim_end())
}

fn means(rows: &[MeanRow]) -> Table {
    let keys: Vec<&str> = rows.first().map_or_else(Vec::new, |row| row.settings.keys().collect());
    let has_protocols = rows.iter().any(|row| row.protocol.is_some());
    let is_present = |(_, metric, ..): &&MetricColumn| rows.iter().any(|row| row.means.contains_key(metric));
    let metrics: Vec<&MetricColumn> = METRICS.iter().filter(is_present).collect();
    let headings = keys.into_iter().chain(has_protocols.then_some("protocol")).chain(["runs"]);
    let mut table = table(&headings.chain(metrics.iter().map(|(heading, ..)| *heading)).collect::<Vec<_>>());
    for row in rows {
        let settings = row.settings.values().map(Into::into);
        let protocol = has_protocols.then(|| row.protocol.as_ref().map_or("", |name| name).into());
        let metrics = metrics.iter().map(|column| cell(row, column));
        table.add_row(settings.chain(protocol).chain([Cell::count(row.runs - row.failed)]).chain(metrics));
    }
    table
}

fn cell(row: &MeanRow, &(_, metric, factor, show): &MetricColumn) -> Cell {
    row.means.get(metric).map_or_else(Cell::absent, |Mean { mean, half_width }| {
        Cell::estimate(factor * mean, half_width.map(|half| factor * half), show)
    })
}
