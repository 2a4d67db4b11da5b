//! The numbers by which runs are compared, the best of each column set off.

use super::subject::Subject;
use super::units::RateUnit;
use crate::chart::markup::{Text, short};
use millpond_results::Headline;
use millpond_units::format::fixed;

/// Which end of a column is the good one.
#[derive(Clone, Copy)]
enum Better {
    More,
    Less,
}

struct Column {
    /// What several neighbours are called together; their own name if they stand alone.
    family: &'static str,
    head: &'static str,
    unit: &'static str,
    better: Better,
    value: fn(&Headline) -> f64,
    show: fn(f64) -> String,
}

/// The table, one row per run.
pub(super) fn headline_table(subjects: &[Subject]) -> String {
    let peak = subjects.iter().map(|subject| subject.headline.goodput_bps).fold(0.0, f64::max);
    let rate = RateUnit::for_peak(peak);
    let columns = columns(rate.label);
    let values: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| {
            let factor = if column.head == GOODPUT { rate.factor } else { 1.0 };
            subjects.iter().map(|subject| factor * (column.value)(&subject.headline)).collect()
        })
        .collect();
    let rows: String = subjects
        .iter()
        .enumerate()
        .map(|(row, subject)| table_row(subject, row, &columns, &values))
        .collect();
    format!(
        concat!(
            r#"<div class="scrolls" tabindex="0" role="region" aria-label="Numbers of each run">"#,
            r#"<table class="headline"><thead>{}</thead><tbody>{}</tbody></table></div>"#
        ),
        heads(&columns),
        rows
    )
}

/// Neighbours of one family share a heading above their own.
fn heads(columns: &[Column]) -> String {
    let unit = |unit: &str| {
        if unit.is_empty() { String::new() } else { format!(r#"<span class="unit">{unit}</span>"#) }
    };
    let (mut upper, mut lower) = (r#"<th scope="col" rowspan="2">Run</th>"#.to_string(), String::new());
    for family in columns.chunk_by(|one, next| one.family == next.family) {
        let Column { family: name, unit: of, .. } = &family[0];
        if let [only] = family {
            upper += &format!(r#"<th scope="col" rowspan="2">{}{}</th>"#, only.head, unit(of));
            continue;
        }
        upper += &format!(
            r#"<th scope="colgroup" class="family" colspan="{}">{name}{}</th>"#,
            family.len(),
            unit(of)
        );
        lower += &family
            .iter()
            .map(|column| format!(r#"<th scope="col">{}</th>"#, column.head))
            .collect::<String>();
    }
    format!("<tr>{upper}</tr><tr>{lower}</tr>")
}

const GOODPUT: &str = "Goodput";

fn columns(rate_unit: &'static str) -> [Column; 7] {
    const DELAY: &str = "Queueing delay";
    let column =
        |(family, head), unit, better, value, show| Column { family, head, unit, better, value, show };
    let alone = |head| (head, head);
    let percent = |value| fixed(value, 1);
    [
        column(alone("Utilization"), "%", Better::More, |line| 100.0 * line.utilization, percent),
        column(alone(GOODPUT), rate_unit, Better::More, |line| line.goodput_bps, short),
        column((DELAY, "mean"), "ms", Better::Less, |line| line.queueing_ms.mean, short),
        column((DELAY, "95 %"), "ms", Better::Less, |line| line.queueing_ms.p95, short),
        column((DELAY, "99 %"), "ms", Better::Less, |line| line.queueing_ms.p99, short),
        column(alone("Jain’s index"), "", Better::More, |line| line.jain, |value| fixed(value, 3)),
        column(alone("Loss"), "%", Better::Less, |line| 100.0 * line.loss, short),
    ]
}

fn table_row(subject: &Subject, row: usize, columns: &[Column], values: &[Vec<f64>]) -> String {
    let cells: String = columns
        .iter()
        .zip(values)
        .map(|(column, values)| {
            let class = if is_best(values, row, column) { r#" class="best""# } else { "" };
            format!("<td{class}>{}</td>", (column.show)(values[row]))
        })
        .collect();
    format!(r#"<tr><th scope="row">{}{}</th>{cells}</tr>"#, subject.look.badge(), Text(&subject.run.label))
}

/// Whether this row shows the best of a column in which the rows differ at all.
fn is_best(values: &[f64], row: usize, column: &Column) -> bool {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let best = match column.better {
        Better::More => finite().reduce(f64::max),
        Better::Less => finite().reduce(f64::min),
    };
    let shown = |value: f64| (column.show)(value);
    let differ = finite().any(|value| shown(value) != shown(values[0]));
    differ && best.is_some_and(|best| shown(best) == shown(values[row]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_set_off_with_its_ties_and_only_where_rows_differ() {
        let columns = columns("Mbit/s");
        let (utilization, delay) = (&columns[0], &columns[2]);
        let best = |values: &[f64], column| {
            (0..values.len()).filter(|&row| is_best(values, row, column)).collect::<Vec<_>>()
        };
        assert_eq!(best(&[98.0, 99.51, 99.52], utilization), [1, 2]);
        assert_eq!(best(&[3.0, f64::NAN, 20.0], delay), [0]);
        assert!(best(&[5.0, 5.0], delay).is_empty());
        assert!(best(&[5.0], delay).is_empty());
    }
}
