//! Tables in columns, the input of the Parquet and CSV writers.

use super::groups::{GROUP, count_same};
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
    Lists(Vec<NumberList<'a>>),
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

/// Numbers of a run, which are not copied.
#[derive(Clone, Debug)]
pub enum NumberList<'a> {
    /// All of them.
    All(&'a [f64]),
    /// Those where a value is present.
    Present {
        /// The numbers.
        numbers: &'a [f64],
        /// The positions of these, ascending.
        positions: Rc<[u32]>,
    },
}

/// Most numbers that are copied at once.
const BLOCK: usize = 1 << 12;

impl<'a> NumberList<'a> {
    /// The number of its numbers.
    pub fn len(&self) -> usize {
        match self {
            Self::All(numbers) => numbers.len(),
            Self::Present { positions, .. } => positions.len(),
        }
    }

    /// True if it has no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its numbers.
    pub fn iter(&self) -> impl Iterator<Item = f64> + use<'a> {
        let (all, numbers, positions) = match self {
            Self::All(numbers) => (*numbers, &[][..], Rc::default()),
            Self::Present { numbers, positions } => (&[][..], *numbers, Rc::clone(positions)),
        };
        let present = (0..positions.len()).map(move |index| numbers[positions[index] as usize]);
        all.iter().copied().chain(present)
    }

    /// Calls `handle` with its numbers in blocks.
    ///
    /// # Errors
    /// The first error of `handle`.
    pub(super) fn try_blocks<E>(&self, mut handle: impl FnMut(&[f64]) -> Result<(), E>) -> Result<(), E> {
        let (numbers, positions) = match self {
            Self::All(numbers) => return handle(numbers),
            Self::Present { numbers, positions } => (numbers, positions),
        };
        let mut block = Vec::with_capacity(BLOCK);
        for positions in positions.chunks(BLOCK) {
            block.clear();
            block.extend(positions.iter().map(|position| numbers[*position as usize]));
            handle(&block)?;
        }
        Ok(())
    }
}

/// The positions at which a value is present.
fn present(values: &[f64]) -> Rc<[u32]> {
    let mut positions = Vec::new();
    let mut examine = |first: usize, values: &[f64]| {
        let present = (first as u32..).zip(values).filter(|(_, value)| !value.is_nan());
        positions.extend(present.map(|(position, _)| position));
    };
    let (groups, rest) = values.as_chunks::<GROUP>();
    // Where values are absent, several in succession mostly are.
    let is_absent = |group: &[f64; GROUP]| group.iter().all(|value| value.is_nan());
    let some_present = groups.iter().enumerate().filter(|(_, group)| !is_absent(group));
    some_present.for_each(|(number, group)| examine(GROUP * number, group));
    examine(GROUP * groups.len(), rest);
    positions.into()
}

/// True if a value is absent.
fn has_gap(values: &[f64]) -> bool {
    count_same(values, |value| u64::from(value.is_nan())) < values.len()
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
    let runs = runs(values.iter().map(NumberList::len));
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
fn samples(series: &Series) -> (NumberList<'_>, NumberList<'_>) {
    let count = series.times.len().min(series.values.len());
    let (times, values) = (&series.times[..count], &series.values[..count]);
    if !has_gap(values) {
        return (NumberList::All(times), NumberList::All(values));
    }
    let positions = present(values);
    let of = |numbers| NumberList::Present { numbers, positions: Rc::clone(&positions) };
    (of(times), of(values))
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
        Column::numbers("shortest_ms", all.iter().map(|t| t.shortest_ms)),
        Column::numbers("slowdown", all.iter().map(Transfer::slowdown)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_that_are_not_numbers_are_absent(lengths in prop::collection::vec(0_usize..20, 0..20)) {
            let run = |(number, length): (usize, &usize)| {
                std::iter::repeat_n(if number % 2 == 0 { 0.5 } else { f64::NAN }, *length)
            };
            let values: Vec<f64> = lengths.iter().enumerate().flat_map(run).collect();
            let expected: Vec<u32> = (0..).zip(&values).filter(|(_, value)| !value.is_nan()).map(|(n, _)| n).collect();
            prop_assert_eq!(&*present(&values), &expected[..]);
            prop_assert_eq!(has_gap(&values), expected.len() < values.len());
        }
    }
}
