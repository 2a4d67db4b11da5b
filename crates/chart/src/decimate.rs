//! Decimation: a curve with fewer points that looks the same.

use std::ops::Range;

/// A point of a curve: x and y. A value of y that is not a number breaks the curve.
pub type Point = (f64, f64);

/// The curve with at most two points per slice of time, its lowest and its highest value, in the order of time. A slice
/// without any number gives one point that breaks the curve. A curve of at most `2 * slices` points is returned as it is.
pub fn decimate(times: &[f64], values: &[f64], slices: usize) -> Vec<Point> {
    let samples = times.iter().copied().zip(values.iter().copied());
    let samples = samples.filter(|(time, _)| time.is_finite());
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Vec::new() };
    if times.len() <= 2 * slices {
        return samples.collect();
    }
    let slice_of = |time| slice_of(time, *first..*last, slices);
    let mut kept = Vec::with_capacity(2 * slices);
    let mut slice = Slice::default();
    for (time, value) in samples {
        let index = slice_of(time);
        if index != slice.index {
            slice.close(&mut kept);
            slice = Slice { index, ..Slice::default() };
        }
        slice.add((time, value));
    }
    slice.close(&mut kept);
    kept
}

/// The index of the slice that holds `time`.
fn slice_of(time: f64, span: Range<f64>, slices: usize) -> usize {
    ((slices as f64 * (time - span.start) / (span.end - span.start)) as usize).min(slices - 1)
}

#[derive(Default)]
struct Slice {
    index: usize,
    /// Time of the first sample that is not a number.
    gap: Option<f64>,
    low: Option<Point>,
    high: Option<Point>,
}

impl Slice {
    fn add(&mut self, point: Point) {
        if !point.1.is_finite() {
            self.gap.get_or_insert(point.0);
            return;
        }
        if self.low.is_none_or(|low| point.1 < low.1) {
            self.low = Some(point);
        }
        if self.high.is_none_or(|high| point.1 > high.1) {
            self.high = Some(point);
        }
    }

    fn close(self, kept: &mut Vec<Point>) {
        match (self.low, self.high) {
            (Some(low), Some(high)) if low == high => kept.push(low),
            (Some(low), Some(high)) if low.0 <= high.0 => kept.extend([low, high]),
            (Some(low), Some(high)) => kept.extend([high, low]),
            _ => kept.extend(self.gap.map(|time| (time, f64::NAN))),
        }
    }
}

/// Means over consecutive samples, at most `slices` of them, at the middle times.
pub fn slice_means(times: &[f64], values: &[f64], slices: usize) -> Vec<Point> {
    let samples = times.len().div_ceil(slices).max(1);
    let mean = |(times, values): (&[f64], &[f64])| {
        (times[times.len() / 2], values.iter().sum::<f64>() / values.len() as f64)
    };
    times.chunks(samples).zip(values.chunks(samples)).map(mean).collect()
}

/// A longer time between two samples than this many usual ones is a gap.
const GAP: f64 = 1.5;

/// The times and values of the samples with values, and a sample that is not a number in each gap between them.
pub fn with_gaps(times: &[f64], values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let samples = times.iter().copied().zip(values.iter().copied());
    let samples: Vec<Point> = samples.filter(|(_, value)| value.is_finite()).collect();
    let mut steps: Vec<f64> = samples.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let middle = steps.len() / 2;
    let usual = match steps.get(middle) {
        Some(_) => *steps.select_nth_unstable_by(middle, f64::total_cmp).1,
        None => f64::INFINITY,
    };
    let mut kept: Vec<Point> = Vec::with_capacity(samples.len());
    for sample in samples {
        if let Some(last) = kept.last().filter(|last| sample.0 - last.0 > GAP * usual) {
            kept.push((f64::midpoint(last.0, sample.0), f64::NAN));
        }
        kept.push(sample);
    }
    kept.into_iter().unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SLICES: usize = 16;

    fn sample() -> impl Strategy<Value = f64> {
        prop_oneof![8 => -1e6..1e6, 1 => Just(f64::NAN)]
    }

    fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
        let finite = values.filter(|value| value.is_finite());
        finite
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    }

    proptest! {
        #[test]
        fn every_slice_keeps_its_extremes_in_order_and_at_most_two_points(
            values in prop::collection::vec(sample(), 2 * SLICES + 1..400),
        ) {
            let times: Vec<f64> = (0..values.len()).map(|step| step as f64 * 0.1).collect();
            let kept = decimate(&times, &values, SLICES);
            prop_assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let span = times[times.len() - 1];
            let slice_of = |time| slice_of(time, 0.0..span, SLICES);
            for slice in 0..SLICES {
                let before = times.iter().zip(&values).filter(|(time, _)| slice_of(**time) == slice);
                let after: Vec<Point> = kept.iter().copied().filter(|(time, _)| slice_of(*time) == slice).collect();
                prop_assert!(after.len() <= 2);
                prop_assert_eq!(extremes(before.map(|(_, value)| *value)), extremes(after.iter().map(|point| point.1)));
                for point in after {
                    let original = times.iter().position(|time| *time == point.0).map(|at| values[at]);
                    prop_assert!(original == Some(point.1) || point.1.is_nan());
                }
            }
        }
    }

    #[test]
    fn a_curve_of_few_points_is_returned_as_it_is() {
        assert_eq!(decimate(&[0.0, 1.0], &[5.0, 6.0], SLICES), [(0.0, 5.0), (1.0, 6.0)]);
        assert_eq!(decimate(&[], &[], SLICES), []);
    }

    #[test]
    fn a_gap_of_several_slices_breaks_the_curve_and_a_shorter_gap_does_not() {
        let times: Vec<f64> = (0..1600).map(f64::from).collect();
        let breaks = |from: usize, to: usize| {
            let values: Vec<f64> =
                (0..1600).map(|step| if (from..to).contains(&step) { f64::NAN } else { 1.0 }).collect();
            decimate(&times, &values, SLICES).iter().filter(|point| point.1.is_nan()).count()
        };
        assert_eq!(breaks(500, 510), 0);
        assert!(breaks(500, 900) > 0);
    }

    /// The value at 3 s is not a number; those at 6 s and 7 s have no sample.
    #[test]
    fn there_is_a_break_where_samples_are_missing_and_nowhere_else() {
        let breaks = |times: &[f64], values: &[f64]| {
            let (times, values) = with_gaps(times, values);
            times
                .into_iter()
                .zip(values)
                .filter(|(_, value)| value.is_nan())
                .map(|(time, _)| time)
                .collect::<Vec<_>>()
        };
        let values = [1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(breaks(&[1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 9.0, 10.0], &values), [3.0, 6.5]);
        assert!(breaks(&[1.0, 2.0, 3.0], &[1.0; 3]).is_empty());
        assert!(breaks(&[], &[]).is_empty());
    }

    #[test]
    fn a_single_peak_among_a_million_samples_is_kept() {
        let times: Vec<f64> = (0..1_000_000).map(f64::from).collect();
        let values: Vec<f64> = (0..1_000_000).map(|step| if step == 123_456 { 9.0 } else { 1.0 }).collect();
        let kept = decimate(&times, &values, 2048);
        assert!(kept.contains(&(123_456.0, 9.0)));
        assert!(kept.len() <= 2 * 2048);
    }
}
