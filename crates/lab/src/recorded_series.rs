//! Series while they are recorded. The time of a sample is stored once for all series.

use millpond_results::{EntityKind, Series, Times};

/// The times of the samples so far, in seconds; a sample is a position in them.
#[derive(Default)]
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

/// A series while it is recorded.
#[derive(Clone)]
pub(crate) struct RecordedSeries {
    pub(crate) kind: EntityKind,
    pub(crate) entity: String,
    pub(crate) quantity: String,
    pub(crate) unit: String,
    values: Vec<f64>,
    /// The sample that follows the last one; [`NONE`] before the first value and once a sample has been left out.
    expected: usize,
    /// The sample of the first value.
    first: usize,
    /// The samples of all values, once a sample has been left out.
    separate: Vec<usize>,
}

impl RecordedSeries {
    /// A series without values.
    pub(crate) fn new(kind: EntityKind, entity: String, quantity: String, unit: String) -> Self {
        let (values, separate) = (Vec::new(), Vec::new());
        Self { kind, entity, quantity, unit, values, expected: NONE, first: 0, separate }
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
        if sample == self.expected {
            self.expected += 1;
        } else {
            self.push_separate(sample);
        }
        self.values.push(value);
    }

    /// Records the sample of the next value, which is the first one or does not follow the last one.
    #[cold]
    fn push_separate(&mut self, sample: usize) {
        if self.values.is_empty() {
            (self.first, self.expected) = (sample, sample + 1);
            return;
        }
        if self.separate.is_empty() {
            self.separate = (self.first..self.first + self.values.len()).collect();
            self.expected = NONE;
        }
        self.separate.push(sample);
    }

    /// The series; `times`: those of all samples.
    pub(crate) fn into_series(self, times: &Times) -> Series {
        let Self { kind, entity, quantity, unit, values, first, separate, expected: _ } = self;
        let times = if separate.is_empty() {
            times.part(first..first + values.len())
        } else {
            separate.iter().filter_map(|sample| times.get(*sample).copied()).collect()
        };
        Series { kind, entity, quantity, unit, times, values }
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
    fn series_without_gaps_share_one_list() {
        for (samples, shares) in [(&[0, 1, 2, 3, 4][..], true), (&[2, 3], true), (&[2, 4], false)] {
            let (series, times) = series(samples);
            assert_eq!(series.times.shares_list_with(&times), shares, "{samples:?}");
        }
    }
}
