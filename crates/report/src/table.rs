//! The table of the numbers by which runs are compared, with a row for each group; the best number of each column is bold.

use super::conclusion::candidates;
use super::rate_unit::RateUnit;
use super::run_view::RunView;
use maud::{Markup, html};
use millpond_results::{ComparisonRow, Estimate};
use millpond_units::format::{fixed, number, two_digits};

/// Which values of a column are better.
#[derive(Clone, Copy)]
enum Better {
    Greater,
    Smaller,
}

struct HeadlineColumn {
    /// The quantity.
    quantity: &'static str,
    /// Which statistic of the quantity it is, if there are columns for several.
    statistic: Option<&'static str>,
    unit: &'static str,
    /// None if no value is marked as the best.
    better: Option<Better>,
    value: fn(&ComparisonRow) -> Option<Estimate>,
    /// From what [`Self::value`] returns to the unit.
    factor: f64,
    show: fn(f64) -> String,
}

/// A column with the means of all runs in its unit.
struct FilledColumn {
    column: HeadlineColumn,
    values: Vec<f64>,
    /// Which of the runs can have the best value.
    candidates: Vec<bool>,
}

/// The table, one row per run, and below it one per group.
pub(super) fn headline_table(views: &[RunView]) -> Markup {
    let peak = views.iter().map(|view| view.row.total_goodput_bps.mean).fold(0.0, f64::max);
    let candidates = candidates(views);
    let fill = |column: HeadlineColumn| {
        let mean = |view: &RunView| column.estimate(&view.row).map_or(f64::NAN, |estimate| estimate.mean);
        FilledColumn { values: views.iter().map(mean).collect(), candidates: candidates.clone(), column }
    };
    let rows = || views.iter().flat_map(|view| std::iter::once(&view.row).chain(&view.groups));
    let mut columns = columns(RateUnit::for_peak(peak));
    if rows().any(|row| row.completion_ms.is_some()) {
        columns.extend(completion_columns());
    }
    if rows().any(|row| row.slowdown.is_some()) {
        columns.extend(slowdown_columns());
    }
    let columns: Vec<FilledColumn> = columns.into_iter().map(fill).collect();
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Results of each run" {
            table.headline {
                thead { (headings(&columns)) }
                @for (row, view) in views.iter().enumerate() {
                    tbody {
                        (table_row(view, row, &columns))
                        @for group in &view.groups { (group_row(group, &columns)) }
                    }
                }
            }
        }
    }
}

/// Columns of one quantity share a heading above those of their statistics.
fn headings(columns: &[FilledColumn]) -> Markup {
    let quantities = || columns.chunk_by(|one, next| one.column.quantity == next.column.quantity);
    html! {
        tr {
            th scope="col" rowspan="2" { "Run" }
            @for columns in quantities() {
                @let HeadlineColumn { quantity, unit, .. } = columns[0].column;
                @if columns.len() == 1 {
                    th scope="col" rowspan="2" { (heading(quantity, unit)) }
                } @else {
                    th.family scope="colgroup" colspan=(columns.len()) { (heading(quantity, unit)) }
                }
            }
        }
        tr {
            @for statistic in columns.iter().filter_map(|filled| filled.column.statistic) {
                th scope="col" { (statistic) }
            }
        }
    }
}

fn heading(quantity: &str, unit: &str) -> Markup {
    html! { (quantity) @if !unit.is_empty() { span.unit { (unit) } } }
}

const UTILIZATION: HeadlineColumn = HeadlineColumn {
    quantity: "Utilization",
    statistic: None,
    unit: "%",
    better: Some(Better::Greater),
    value: |row| row.utilization,
    factor: 100.0,
    show: |value| fixed(value, 1),
};

const DELAY: HeadlineColumn = HeadlineColumn {
    quantity: "Queueing delay",
    statistic: Some("mean"),
    unit: "ms",
    better: Some(Better::Smaller),
    value: |row| row.queueing_ms.map(|times| times.mean),
    factor: 1.0,
    show: number,
};

const COMPLETION: HeadlineColumn = HeadlineColumn {
    quantity: "Completion time of transfers",
    value: |row| row.completion_ms.map(|times| times.mean),
    ..DELAY
};

fn completion_columns() -> [HeadlineColumn; 2] {
    let p95 = HeadlineColumn {
        statistic: Some("p95"),
        value: |row| row.completion_ms.map(|times| times.p95),
        show: two_digits,
        ..COMPLETION
    };
    [COMPLETION, p95]
}

fn slowdown_columns() -> [HeadlineColumn; 2] {
    let slowdown = HeadlineColumn { quantity: "Slowdown of transfers", unit: "", ..DELAY };
    [
        HeadlineColumn { statistic: Some("p50"), value: |row| Some(row.slowdown?.p50), ..slowdown },
        HeadlineColumn { statistic: Some("p99"), value: |row| Some(row.slowdown?.p99), ..slowdown },
    ]
}

fn columns(rate: RateUnit) -> Vec<HeadlineColumn> {
    let goodput = HeadlineColumn {
        quantity: "Goodput",
        unit: rate.label,
        factor: rate.factor,
        show: number,
        statistic: Some("total"),
        value: |row| Some(row.total_goodput_bps),
        ..UTILIZATION
    };
    vec![
        UTILIZATION,
        HeadlineColumn { ..goodput },
        // Each flow counts in the time in which it ran: the mean times the number of flows is not the total.
        HeadlineColumn {
            statistic: Some("per flow while it runs"),
            value: |row| Some(row.flow_goodput_bps),
            better: None,
            ..goodput
        },
        HeadlineColumn { statistic: Some("least"), value: |row| Some(row.least_goodput_bps), ..goodput },
        DELAY,
        HeadlineColumn {
            statistic: Some("p95"),
            value: |row| row.queueing_ms.map(|times| times.p95),
            show: two_digits,
            ..DELAY
        },
        HeadlineColumn {
            statistic: Some("p99"),
            value: |row| row.queueing_ms.map(|times| times.p99),
            show: two_digits,
            ..DELAY
        },
        HeadlineColumn {
            quantity: "Jain’s index",
            unit: "",
            value: |row| row.jain,
            factor: 1.0,
            show: |value| fixed(value, 3),
            ..UTILIZATION
        },
        HeadlineColumn {
            quantity: "Loss",
            better: Some(Better::Smaller),
            value: ComparisonRow::measured_loss,
            show: number,
            ..UTILIZATION
        },
    ]
}

fn table_row(view: &RunView, row: usize, columns: &[FilledColumn]) -> Markup {
    html! {
        tr {
            th scope="row" { (view.style.badge()) (view.run.label) }
            @for filled in columns {
                td class=[filled.is_best(row).then_some("best")] { (filled.column.cell(&view.row)) }
            }
        }
    }
}

fn group_row(group: &ComparisonRow, columns: &[FilledColumn]) -> Markup {
    let name = group.group.as_deref().unwrap_or_default();
    let protocols = group.protocols.join(", ");
    html! {
        tr.group {
            th scope="row" { (name) @if protocols != group.run { " (" (protocols) ")" } }
            @for filled in columns { td { (filled.column.cell(group)) } }
        }
    }
}

impl HeadlineColumn {
    /// The value in the unit of the column.
    fn estimate(&self, row: &ComparisonRow) -> Option<Estimate> {
        Some((self.value)(row)?.scaled(self.factor))
    }

    fn cell(&self, row: &ComparisonRow) -> Markup {
        estimate(self.estimate(row), self.show)
    }
}

/// The mean with half the width of its confidence interval, which has as many decimals; a dash without a value.
pub(super) fn estimate(estimate: Option<Estimate>, show: fn(f64) -> String) -> Markup {
    let Some(Estimate { mean, half_width }) = estimate else { return html! { "-" } };
    let shown = show(mean);
    let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    html! {
        (shown)
        @if let Some(half) = half_width { span.interval { " ± " (fixed(half, decimals)) } }
    }
}

impl FilledColumn {
    /// Whether this row shows the best finite value of the candidates, if these show different finite values.
    fn is_best(&self, row: usize) -> bool {
        let candidates =
            || self.values.iter().zip(&self.candidates).filter(|(_, is_candidate)| **is_candidate);
        let finite = || candidates().map(|(value, _)| *value).filter(|value| value.is_finite());
        let best = match self.column.better {
            Some(Better::Greater) => finite().reduce(f64::max),
            Some(Better::Smaller) => finite().reduce(f64::min),
            None => None,
        };
        let shown = |value: f64| if value.is_finite() { (self.column.show)(value) } else { String::new() };
        best.is_some_and(|best| {
            let differ = finite().any(|value| shown(value) != shown(best));
            differ && shown(best) == shown(self.values[row])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_rows_are_those_that_show_the_best_number_if_the_rows_differ() {
        let best_of = |index: usize, values: &[f64], candidates: &[bool]| {
            let column = columns(RateUnit::for_peak(1e6)).into_iter().nth(index).unwrap();
            let filled = FilledColumn { column, values: values.into(), candidates: candidates.into() };
            (0..values.len()).filter(|&row| filled.is_best(row)).collect::<Vec<_>>()
        };
        let best = |index: usize, values: &[f64]| best_of(index, values, &vec![true; values.len()]);
        let (utilization, per_flow, delay) = (0, 2, 4);
        assert_eq!(best(utilization, &[98.0, 99.51, 99.52]), [1, 2]);
        assert_eq!(best(delay, &[3.0, f64::NAN, 20.0]), [0]);
        assert_eq!(best(delay, &[f64::NAN, 20.0, 3.0]), [2]);
        assert!(best(delay, &[f64::NAN, 5.0, 5.0]).is_empty());
        assert!(best(delay, &[5.0, 5.0]).is_empty());
        assert!(best(delay, &[5.0]).is_empty());
        assert!(best(per_flow, &[34.1, 25.0]).is_empty(), "each flow counts in its own time");
        let of_two = |values: &[f64]| best_of(utilization, values, &[true, true, false]);
        assert_eq!(of_two(&[98.0, 99.51, 99.52]), [1, 2], "equal numbers look alike");
        assert_eq!(of_two(&[98.0, 99.0, 99.5]), [1]);
    }
}
