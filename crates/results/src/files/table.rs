//! Tables in columns, the input of the Parquet and CSV writers.

use crate::{Distribution, Run, Series, Transfer};
use std::borrow::Cow;
use std::rc::Rc;

/// A column with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, as `docs/results.md` has it.
    pub name: Cow<'static, str>,
    /// Its cells.
    pub cells: Cells,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers, or no value.
    Numbers(Vec<Option<f64>>),
    /// Whole numbers, or no value.
    Counts(Vec<Option<i64>>),
    /// Texts, as indices into the distinct ones.
    Texts {
        /// The distinct texts.
        distinct: Vec<String>,
        /// For each row an index.
        rows: Rc<[u32]>,
    },
}

impl Column {
    fn numbers(name: &'static str, cells: impl Iterator<Item = Option<f64>>) -> Self {
        Self { name: name.into(), cells: Cells::Numbers(cells.collect()) }
    }

    fn texts(name: &'static str, distinct: Vec<String>, rows: &Rc<[u32]>) -> Self {
        Self { name: name.into(), cells: Cells::Texts { distinct, rows: Rc::clone(rows) } }
    }
}

/// `series`: one row per sample with a value, series after series.
pub(super) fn series(run: &Run) -> Vec<Column> {
    let kept = || {
        let samples = |(i, s)| samples(s).map(move |(time, value)| (i, time, value));
        (0..).zip(&run.series).flat_map(samples)
    };
    let rows: Rc<[u32]> = kept().map(|(i, ..)| i).collect();
    let texts = |name, of: fn(&Series) -> &str| {
        Column::texts(name, run.series.iter().map(|s| of(s).to_owned()).collect(), &rows)
    };
    vec![
        Column::numbers("time", kept().map(|(_, time, _)| Some(time))),
        texts("entity", |s| &s.entity),
        texts("quantity", |s| &s.quantity),
        Column::numbers("value", kept().map(|(.., value)| Some(value))),
        texts("unit", |s| &s.unit),
        texts("kind", |s| s.kind.name()),
    ]
}

/// The times and values of a series where it has values.
fn samples(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    let samples = series.times.iter().copied().zip(series.values.iter().copied());
    samples.filter(|(_, value)| !value.is_nan())
}

/// `distributions`: one row per point, distribution after distribution.
pub(super) fn distributions(run: &Run) -> Vec<Column> {
    let of = |(i, d): (u32, &Distribution)| d.points.iter().map(|&point| (i, point)).collect::<Vec<_>>();
    let points: Vec<(u32, (f64, f64))> = (0..).zip(&run.distributions).flat_map(of).collect();
    let rows: Rc<[u32]> = points.iter().map(|&(i, _)| i).collect();
    let texts = |name, of: fn(&Distribution) -> &str| {
        Column::texts(name, run.distributions.iter().map(|d| of(d).to_owned()).collect(), &rows)
    };
    vec![
        Column::numbers("share", points.iter().map(|&(_, (share, _))| Some(share))),
        texts("entity", |d| &d.entity),
        texts("quantity", |d| &d.quantity),
        Column::numbers("value", points.iter().map(|&(_, (_, value))| Some(value))),
        texts("unit", |d| &d.unit),
        texts("kind", |d| d.kind.name()),
    ]
}

/// `flows`: one row per transfer.
pub(super) fn flows(run: &Run) -> Vec<Column> {
    let all = &run.transfers;
    let rows: Rc<[u32]> = (0..).zip(all).map(|(i, _)| i).collect();
    let texts = |name, of: fn(&Transfer) -> &String| {
        Column::texts(name, all.iter().map(|t| of(t).clone()).collect(), &rows)
    };
    let counts = |name, of: fn(&Transfer) -> Option<u64>| {
        let cells = all.iter().map(|t| of(t).and_then(|x| i64::try_from(x).ok())).collect();
        Column { name: Cow::Borrowed(name), cells: Cells::Counts(cells) }
    };
    vec![
        texts("name", |t| &t.name),
        texts("group", |t| &t.group),
        texts("protocol", |t| &t.protocol),
        counts("size_bytes", |t| t.size_bytes),
        counts("delivered_bytes", |t| Some(t.delivered_bytes)),
        Column::numbers("start_s", all.iter().map(|t| Some(t.start_s))),
        Column::numbers("completed_s", all.iter().map(|t| t.completed_s)),
        Column::numbers("completion_ms", all.iter().map(Transfer::completion_ms)),
    ]
}
