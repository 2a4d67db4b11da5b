//! Tables in columns, the input of the Parquet and CSV writers.

use crate::{Run, Series, Transfer};
use std::borrow::Cow;
use std::rc::Rc;

/// A column with its name.
pub struct Column<'a> {
    /// Its name, as `docs/results.md` has it.
    pub name: Cow<'static, str>,
    /// Its cells.
    pub cells: Cells<'a>,
}

/// The cells of a column, computed while they are written: a run may have many million samples.
pub enum Cells<'a> {
    /// Numbers, or no value.
    Numbers(Box<dyn Iterator<Item = Option<f64>> + 'a>),
    /// Lists of numbers, one after the other.
    Lists(Vec<Cow<'a, [f64]>>),
    /// Whole numbers, or no value.
    Counts(Box<dyn Iterator<Item = Option<i64>> + 'a>),
    /// Texts, which may be equal, and how many rows each takes.
    Texts {
        /// The texts.
        texts: Vec<&'a str>,
        /// Their rows, one run after the other.
        runs: Rc<[TextRun]>,
    },
}

/// Rows, one after the other, with the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRun {
    /// The index of the text.
    pub text: u32,
    /// The number of rows, at least one.
    pub rows: u64,
}

/// Of each text as many rows as `rows` has for it.
fn runs(rows: impl Iterator<Item = usize>) -> Rc<[TextRun]> {
    let run = |(text, rows)| TextRun { text, rows: rows as u64 };
    (0..).zip(rows).map(run).filter(|run| run.rows > 0).collect()
}

impl<'a> Column<'a> {
    fn numbers(name: &'static str, cells: impl Iterator<Item = Option<f64>> + 'a) -> Self {
        Self { name: name.into(), cells: Cells::Numbers(Box::new(cells)) }
    }

    fn texts<T: 'a>(
        name: &'static str,
        all: &'a [T],
        text: impl Fn(&'a T) -> &'a str,
        runs: &Rc<[TextRun]>,
    ) -> Self {
        Self {
            name: name.into(),
            cells: Cells::Texts { texts: all.iter().map(text).collect(), runs: Rc::clone(runs) },
        }
    }
}

/// `series`: one row per sample with a value, series after series.
pub(super) fn series(run: &Run) -> Vec<Column<'_>> {
    let all = &run.series;
    let (times, values): (Vec<_>, Vec<_>) = all.iter().map(samples).unzip();
    let runs = runs(values.iter().map(|values: &Cow<'_, [f64]>| values.len()));
    vec![
        Column { name: "time".into(), cells: Cells::Lists(times) },
        Column::texts("entity", all, |s| &s.entity, &runs),
        Column::texts("quantity", all, |s| &s.quantity, &runs),
        Column { name: "value".into(), cells: Cells::Lists(values) },
        Column::texts("unit", all, |s| &s.unit, &runs),
        Column::texts("kind", all, |s| s.kind.name(), &runs),
    ]
}

/// The times and values of a series where it has values.
fn samples(series: &Series) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
    let Series { times, values, .. } = series;
    if !values.iter().any(|value| value.is_nan()) {
        let count = times.len().min(values.len());
        return (times[..count].into(), values[..count].into());
    }
    let samples = times.iter().copied().zip(values.iter().copied());
    let (times, values): (Vec<f64>, Vec<f64>) = samples.filter(|(_, value)| !value.is_nan()).unzip();
    (times.into(), values.into())
}

/// `distributions`: one row per point, distribution after distribution.
pub fn distributions(run: &Run) -> Vec<Column<'_>> {
    let all = &run.distributions;
    let runs = runs(all.iter().map(|distribution| distribution.points.len()));
    let points = || all.iter().flat_map(|distribution| &distribution.points);
    vec![
        Column::numbers("share", points().map(|(share, _)| Some(*share))),
        Column::texts("entity", all, |d| &d.entity, &runs),
        Column::texts("quantity", all, |d| &d.quantity, &runs),
        Column::numbers("value", points().map(|(_, value)| Some(*value))),
        Column::texts("unit", all, |d| &d.unit, &runs),
        Column::texts("kind", all, |d| d.kind.name(), &runs),
    ]
}

/// `flows`: one row per transfer.
pub fn flows(run: &Run) -> Vec<Column<'_>> {
    let all = &run.transfers;
    let runs = runs(all.iter().map(|_| 1));
    let counts = |name, of: fn(&Transfer) -> Option<u64>| {
        let cells = all.iter().map(move |t| of(t).and_then(|x| i64::try_from(x).ok()));
        Column { name: Cow::Borrowed(name), cells: Cells::Counts(Box::new(cells)) }
    };
    vec![
        Column::texts("name", all, |t| &t.name, &runs),
        Column::texts("group", all, |t| &t.group, &runs),
        Column::texts("protocol", all, |t| &t.protocol, &runs),
        counts("size_bytes", |t| t.size_bytes),
        counts("delivered_bytes", |t| Some(t.delivered_bytes)),
        Column::numbers("start_s", all.iter().map(|t| Some(t.start_s))),
        Column::numbers("completed_s", all.iter().map(|t| t.completed_s)),
        Column::numbers("completion_ms", all.iter().map(Transfer::completion_ms)),
    ]
}
