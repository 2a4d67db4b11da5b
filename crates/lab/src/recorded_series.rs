//! Series while they are recorded. The time of a sample is stored once for all series.

use millpond_results::{EntityKind, Series, Times};

/// The times of the samples so far, in seconds; a sample is a position in them.
#[derive(Clone, Default)]
pub(crate) struct SampleTimes(Vec<f64>);

impl SampleTimes {
    /// Begins a sample.
    pub(crate) fn push(&mut self, seconds: f64) {
        self.0.push(seconds);
    }

    /// The position of the present sample.
    pub(crate) fn present(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// These times, for the series of a run.
    pub(crate) fn shared(&self) -> Times {
        self.0.as_slice().into()
    }
}

/// No sample has this position.
const NONE: usize = usize::MAX;

/// The samples at which there are values.
#[derive(Clone)]
struct RecordedSamples {
    /// The sample that follows the last one; [`NONE`] before the first value and once a sample has been left out.
    expected: usize,
    /// The sample of the first value.
    first: usize,
    /// The samples of all values, once a sample has been left out.
    separate: Vec<usize>,
}

impl RecordedSamples {
    fn new() -> Self {
        Self { expected: NONE, first: 0, separate: Vec::new() }
    }

    /// Records the sample of the next value, which follows `count` values.
    #[inline]
    fn push(&mut self, sample: usize, count: usize) {
        if sample == self.expected {
            self.expected += 1;
        } else {
            self.push_separate(sample, count);
        }
    }

    /// Records a sample which is the first one or does not follow the last one.
    #[cold]
    fn push_separate(&mut self, sample: usize, count: usize) {
        if count == 0 {
            (self.first, self.expected) = (sample, sample + 1);
            return;
        }
        if self.separate.is_empty() {
            self.separate = (self.first..self.first + count).collect();
            self.expected = NONE;
        }
        self.separate.push(sample);
    }

    /// The times of `count` values; `times`: those of all samples.
    fn times(&self, count: usize, times: &Times) -> Times {
        if self.separate.is_empty() {
            times.part(self.first..self.first + count)
        } else {
            self.separate.iter().filter_map(|sample| times.get(*sample).copied()).collect()
        }
    }
}

/// A series while it is recorded.
#[derive(Clone)]
pub(crate) struct RecordedSeries {
    pub(crate) kind: EntityKind,
    pub(crate) entity: String,
    pub(crate) quantity: String,
    pub(crate) unit: String,
    values: Vec<f64>,
    samples: RecordedSamples,
}

impl RecordedSeries {
    /// A series without values.
    pub(crate) fn new(kind: EntityKind, entity: String, quantity: String, unit: String) -> Self {
        Self { kind, entity, quantity, unit, values: Vec::new(), samples: RecordedSamples::new() }
    }

    /// Takes memory for this many values.
    pub(crate) fn reserve(&mut self, values: usize) {
        self.values.reserve_exact(values);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds the value at a sample.
    #[inline]
    pub(crate) fn push(&mut self, sample: usize, value: f64) {
        self.samples.push(sample, self.values.len());
        self.values.push(value);
    }

    /// The series; `times`: those of all samples.
    pub(crate) fn into_series(self, times: &Times) -> Series {
        let Self { kind, entity, quantity, unit, values, samples } = self;
        let times = samples.times(values.len(), times);
        Series { kind, entity, quantity, unit, times, values }
    }
}

/// Quantities of one entity that have values at the same samples, while they are recorded: one row per sample, so that a
/// sample needs one place in memory instead of one for each quantity.
#[derive(Clone)]
pub(crate) struct RecordedRows<const QUANTITIES: usize> {
    rows: Vec<[f64; QUANTITIES]>,
    samples: RecordedSamples,
}

impl<const QUANTITIES: usize> RecordedRows<QUANTITIES> {
    /// Rows without values.
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), samples: RecordedSamples::new() }
    }

    /// Takes memory for this many rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.rows.reserve_exact(rows);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds the values at a sample.
    #[inline]
    pub(crate) fn push(&mut self, sample: usize, values: [f64; QUANTITIES]) {
        self.samples.push(sample, self.rows.len());
        self.rows.push(values);
    }

    /// The series of the quantities, each with its name and unit.
    pub(crate) fn into_series(
        self,
        kind: EntityKind,
        entity: String,
        quantities: [(&'static str, &'static str); QUANTITIES],
    ) -> impl Iterator<Item = RecordedSeries> {
        let Self { rows, samples } = self;
        quantities.into_iter().enumerate().map(move |(place, (quantity, unit))| RecordedSeries {
            kind,
            entity: entity.clone(),
            quantity: quantity.to_owned(),
            unit: unit.to_owned(),
            values: rows.iter().map(|row| row[place]).collect(),
            samples: samples.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The series that has a value at each of these samples of five.
    fn series(samples: &[usize]) -> (Series, Times) {
        let mut recorded =
            RecordedSeries::new(EntityKind::Link, "L".into(), "queue".into(), "packets".into());
        let mut times = SampleTimes::default();
        for sample in 0..5 {
            times.push(sample as f64 / 2.0);
            assert_eq!(times.present(), sample);
            samples
                .iter()
                .filter(|one| **one == sample)
                .for_each(|one| recorded.push(*one, *one as f64 + 0.5));
        }
        let shared = times.shared();
        (recorded.into_series(&shared), shared)
    }

    #[test]
    fn each_value_has_the_time_of_its_sample() {
        for samples in [&[0, 1, 2, 3, 4][..], &[2, 3], &[4], &[], &[0, 2], &[1, 2, 4], &[1, 1, 2], &[0, 3, 4]]
        {
            let (series, _) = series(samples);
            let times: Vec<f64> = samples.iter().map(|sample| *sample as f64 / 2.0).collect();
            let values: Vec<f64> = samples.iter().map(|sample| *sample as f64 + 0.5).collect();
            assert_eq!((&*series.times, series.values), (&times[..], values), "{samples:?}");
        }
    }

    #[test]
    fn each_quantity_of_a_row_has_a_series_of_its_own() {
        let mut times = SampleTimes::default();
        let mut rows = RecordedRows::new();
        assert!(rows.is_empty());
        for (sample, value) in [(1, 0.5), (2, 0.25), (4, 0.125)] {
            rows.push(sample, [value, -value]);
        }
        (0..5).for_each(|sample| times.push(f64::from(sample)));
        let quantities = [("goodput", "bit/s"), ("queueing", "ms")];
        let series = rows.into_series(EntityKind::Flow, "f".into(), quantities);
        let series: Vec<Series> = series.map(|series| series.into_series(&times.shared())).collect();
        let expected = [[0.5, 0.25, 0.125], [-0.5, -0.25, -0.125]];
        assert_eq!(series.len(), 2);
        for ((series, (quantity, unit)), values) in series.iter().zip(quantities).zip(expected) {
            assert_eq!((series.kind, series.entity.as_str()), (EntityKind::Flow, "f"));
            assert_eq!((series.quantity.as_str(), series.unit.as_str()), (quantity, unit));
            assert_eq!((&*series.times, series.values.as_slice()), (&[1.0, 2.0, 4.0][..], &values[..]));
        }
    }

    #[test]
    fn series_without_gaps_share_one_list() {
        for (samples, shares) in [(&[0, 1, 2, 3, 4][..], true), (&[2, 3], true), (&[2, 4], false)] {
            let (series, times) = series(samples);
            assert_eq!(series.times.shares_list_with(&times), shares, "{samples:?}");
        }
    }
}
