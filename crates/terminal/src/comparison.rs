//! Several runs side by side.

use super::run_keys::{RUN_KEYS, of_row};
use super::summary::SLOWDOWNS;
use millpond_results::{Comparison, ComparisonRow, DelayEstimates, Estimate, TransferCounts};
use millpond_tables::{Cell, Document, Table, table};
use millpond_units::format::{fixed, number, percent, two_digits};

/// Sentences about starving and silent flows, then a row for each run and each of its groups. Values of runs with several
/// seeds are means with half the width of their 95 % confidence interval.
pub fn comparison(comparison: &Comparison) -> Document {
    let findings: String = comparison.findings.iter().map(|finding| format!("{finding}\n")).collect();
    let has_transfers = comparison.rows.iter().any(|row| row.transfers.is_some());
    let document = Document::default().text(findings).table(goodputs_and_delays(&comparison.rows));
    if has_transfers { document.table(completions(&comparison.rows)) } else { document }
}

/// The columns that follow the run in CSV alone.
const GROUP: [&str; 2] = ["group", "protocols"];

/// The headings of a table, with the columns of CSV.
fn with_keys(headings: &[&str]) -> Table {
    let (run, values) = headings.split_at(1);
    let all = [run, &GROUP, values, &["overrides"], &RUN_KEYS].concat();
    table(&all).only_in_csv(&[&GROUP[..], &["overrides"], &RUN_KEYS].concat())
}

/// A row of such a table.
fn keyed(row: &ComparisonRow, values: impl Iterator<Item = Cell>) -> impl Iterator<Item = Cell> {
    let group = row.group.as_deref().unwrap_or_default().into();
    let names = [name(row), group, row.protocols.join(" ").into()];
    names.into_iter().chain(values).chain([row.overrides.join(" ").into()]).chain(of_row(row))
}

const HEADINGS: &[&str] = &[
    "run",
    "flows",
    "utilization",
    "total\ngoodput\nMbit/s",
    "goodput\nper flow\nMbit/s",
    "least\ngoodput\nMbit/s",
    "queueing\ndelay, ms\nmean",
    "queueing\ndelay, ms\np95",
    "queueing\ndelay, ms\np99",
    "Jain's\nindex",
    "loss",
];

fn goodputs_and_delays(comparison: &[ComparisonRow]) -> Table {
    let mut rows = with_keys(HEADINGS);
    for row in comparison {
        let rates = [row.total_goodput_bps, row.flow_goodput_bps, row.least_goodput_bps];
        let delays = row.queueing_ms.map(|times| delay_cells(&times, |t| [t.mean, t.p95, t.p99]));
        let delays = delays.unwrap_or_else(|| [(); 3].map(|()| Cell::absent()));
        rows.add_row(keyed(
            row,
            [Cell::count(row.flows)]
                .into_iter()
                .chain([row.utilization.map_or_else(|| "".into(), |share| cell(share, percent))])
                .chain(rates.map(|rate| cell(rate.scaled(1e-6), number)))
                .chain(delays)
                .chain([jain(row), row.measured_loss().map_or(Cell::absent(), |share| cell(share, loss))]),
        ));
    }
    rows
}

const COMPLETIONS: &[&str] = &[
    "run",
    "transfers",
    "completed",
    "completion\ntime, ms\nmean",
    "completion\ntime, ms\np50",
    "completion\ntime, ms\np95",
    "completion\ntime, ms\np99",
];

/// The numbers, the completion times and the slowdown of transfers.
fn completions(comparison: &[ComparisonRow]) -> Table {
    let slowdowns =
        if comparison.iter().any(|row| row.slowdown.is_some()) { SLOWDOWNS } else { Default::default() };
    let mut rows = with_keys(&[COMPLETIONS, slowdowns].concat());
    for row in comparison {
        if let Some(TransferCounts { transfers, completed }) = row.transfers {
            let times =
                row.completion_ms.map(|t| [t.mean, t.p50, t.p95, t.p99].map(|time| cell(time, number)));
            let times = times.unwrap_or_else(|| [(); 4].map(|()| Cell::absent()));
            let slowdown =
                row.slowdown.map(|one| [one.p50, one.p95, one.p99].map(|ratio| cell(ratio, number)));
            let slowdown = slowdown.unwrap_or_else(|| [(); 3].map(|()| Cell::absent()));
            let counts = [transfers, completed].map(|count| cell(count, number_of_things));
            let slowdown = slowdown.into_iter().take(slowdowns.len());
            rows.add_row(keyed(row, counts.into_iter().chain(times).chain(slowdown)));
        }
    }
    rows
}

/// A whole number without decimals; a mean over seeds may have them.
fn number_of_things(count: f64) -> String {
    if count.fract() == 0.0 { fixed(count, 0) } else { number(count) }
}

/// The label of a run; a group below it is indented, and has the label of its run in CSV.
fn name(row: &ComparisonRow) -> Cell {
    let run = row.run.as_str();
    match &row.group {
        None => run.into(),
        Some(group) if row.protocols.as_slice() == [run] => Cell::text(format!("  {group}"), run),
        Some(group) => Cell::text(format!("  {group} ({})", row.protocols.join(", ")), run),
    }
}

/// A mean and two percentiles.
fn delay_cells(times: &DelayEstimates, of: fn(&DelayEstimates) -> [Estimate; 3]) -> [Cell; 3] {
    let [mean, p95, p99] = of(times);
    [cell(mean, number), cell(p95, two_digits), cell(p99, two_digits)]
}

fn cell(estimate: Estimate, show: impl Fn(f64) -> String) -> Cell {
    Cell::estimate(estimate.mean, estimate.half_width, show)
}

fn jain(row: &ComparisonRow) -> Cell {
    row.jain.map_or(Cell::absent(), |jain| cell(jain, |jain| fixed(jain, 3)))
}

fn loss(share: f64) -> String {
    format!("{:.3} %", 100.0 * share)
}
