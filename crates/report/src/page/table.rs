//! The table of the numbers by which runs are compared; the best number of each column is bold.

use super::rate_unit::RateUnit;
use super::run_view::RunView;
use maud::{Markup, html};
use millpond_results::Headline;
use millpond_units::format::{fixed, number};

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
    better: Better,
    value: fn(&Headline) -> f64,
    /// From what [`Self::value`] returns to the unit.
    factor: f64,
    show: fn(f64) -> String,
}

/// A column with the values of all runs in its unit.
struct FilledColumn {
    column: HeadlineColumn,
    values: Vec<f64>,
}

/// The table, one row per run.
pub(super) fn headline_table(views: &[RunView]) -> Markup {
    let peak = views.iter().map(|view| view.headline.goodput_bps).fold(0.0, f64::max);
    let fill = |column: HeadlineColumn| {
        let value = |view: &RunView| column.factor * (column.value)(&view.headline);
        FilledColumn { values: views.iter().map(value).collect(), column }
    };
    let columns = columns(RateUnit::for_peak(peak)).map(fill);
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Results of each run" {
            table.headline {
                thead { (headings(&columns)) }
                tbody {
                    @for (row, view) in views.iter().enumerate() { (table_row(view, row, &columns)) }
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
    better: Better::Greater,
    value: |line| line.utilization,
    factor: 100.0,
    show: |value| fixed(value, 1),
};

const DELAY: HeadlineColumn = HeadlineColumn {
    quantity: "Queueing delay",
    statistic: Some("mean"),
    unit: "ms",
    better: Better::Smaller,
    value: |line| line.queueing_ms.mean,
    factor: 1.0,
    show: number,
};

fn columns(rate: RateUnit) -> [HeadlineColumn; 7] {
    [
        UTILIZATION,
        HeadlineColumn {
            quantity: "Goodput",
            unit: rate.label,
            value: |line| line.goodput_bps,
            factor: rate.factor,
            show: number,
            ..UTILIZATION
        },
        DELAY,
        HeadlineColumn { statistic: Some("p95"), value: |line| line.queueing_ms.p95, ..DELAY },
        HeadlineColumn { statistic: Some("p99"), value: |line| line.queueing_ms.p99, ..DELAY },
        HeadlineColumn {
            quantity: "Jain’s index",
            unit: "",
            value: |line| line.jain,
            factor: 1.0,
            show: |value| fixed(value, 3),
            ..UTILIZATION
        },
        HeadlineColumn {
            quantity: "Loss",
            better: Better::Smaller,
            value: |line| line.loss,
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
                td class=[filled.is_best(row).then_some("best")] { ((filled.column.show)(filled.values[row])) }
            }
        }
    }
}

impl FilledColumn {
    /// Whether this row shows the best finite value of the column, if rows show different finite values.
    fn is_best(&self, row: usize) -> bool {
        let finite = || self.values.iter().copied().filter(|value| value.is_finite());
        let best = match self.column.better {
            Better::Greater => finite().reduce(f64::max),
            Better::Smaller => finite().reduce(f64::min),
        };
        let shown = |value: f64| (self.column.show)(value);
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
        let best = |index: usize, values: &[f64]| {
            let column = columns(RateUnit::for_peak(1e6)).into_iter().nth(index).unwrap();
            let filled = FilledColumn { column, values: values.into() };
            (0..values.len()).filter(|&row| filled.is_best(row)).collect::<Vec<_>>()
        };
        let (utilization, delay) = (0, 2);
        assert_eq!(best(utilization, &[98.0, 99.51, 99.52]), [1, 2]);
        assert_eq!(best(delay, &[3.0, f64::NAN, 20.0]), [0]);
        assert_eq!(best(delay, &[f64::NAN, 20.0, 3.0]), [2]);
        assert!(best(delay, &[f64::NAN, 5.0, 5.0]).is_empty());
        assert!(best(delay, &[5.0, 5.0]).is_empty());
        assert!(best(delay, &[5.0]).is_empty());
    }
}
