//! From a value to a position on an axis, and the round numbers beside the axis.

/// How values map to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisSpacing {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart.
    Log,
}

impl AxisSpacing {
    /// Its name in the script.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Log => "log",
        }
    }
}

/// The range of an axis and its spacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Linear or logarithmic.
    pub spacing: AxisSpacing,
    /// The value at the left or the lower end.
    pub low: f64,
    /// The value at the right or the upper end.
    pub high: f64,
    /// The greatest value, if it is beyond the upper end.
    pub beyond: Option<f64>,
}

/// Spikes are values of at most this share of the samples.
const SPIKES: f64 = 0.02;
/// An axis is shortened if its values without spikes fill less than this share of it.
const LEAST_FILLED: f64 = 0.25;
/// So much of a shortened axis is filled by the values that are no spikes.
const FILLED: f64 = 0.8;
/// Of fewer values none is a spike.
const LEAST_SAMPLES: usize = 50;

/// Values that differ by less than this share of the greatest one are equal up to rounding: an axis could not name their
/// differences.
const ROUNDING: f64 = 1e-6;
/// Smaller values are zero up to rounding in every unit of a result.
const NEGLIGIBLE: f64 = 1e-12;
/// Numbers that are all smaller than this have exponents.
const LEAST_WITHOUT_EXPONENT: f64 = 1e-3;

/// A greater ratio of values than this is drawn on a logarithmic axis.
const GREATEST_LINEAR_RATIO: f64 = 8.0;

/// Whether curves with these greatest values can be read on one linear axis.
pub fn are_of_one_order(peaks: &[f64]) -> bool {
    let (low, high) = extremes(peaks.iter().copied().filter(|peak| *peak > 0.0));
    high <= GREATEST_LINEAR_RATIO * low || high < low
}

impl Scale {
    /// Linear from `low` to `high`; from 0 to 1 if that is no range, so that an empty chart still has axes.
    pub fn linear(low: f64, high: f64) -> Self {
        let usable = low.is_finite() && high.is_finite() && high > low;
        let (low, high) = if usable { (low, high) } else { (0.0, 1.0) };
        Self { spacing: AxisSpacing::Linear, low, high, beyond: None }
    }

    /// Linear from zero to 4 % above the greatest of the values.
    pub fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let (_, high) = extremes(values);
        Self::linear(0.0, if high < NEGLIGIBLE { 0.0 } else { high * 1.04 })
    }

    /// Linear over all values. Zero is included if less than half of the axis is then empty. Constant values are in the
    /// middle.
    pub fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extremes(values);
        let size = low.abs().max(high.abs());
        let room = match high - low {
            _ if size < NEGLIGIBLE => 1.0,
            range if range <= ROUNDING * size => 0.5 * size,
            range => 0.05 * range,
        };
        if low >= 0.0 && low < 0.5 * high {
            Self::linear(0.0, high + room)
        } else {
            Self::linear(low - room, high + room)
        }
    }

    /// Logarithmic over the positive values, at most `decades` powers of ten; linear if all are zero up to rounding.
    pub fn log(values: impl IntoIterator<Item = f64>, decades: f64) -> Self {
        let (low, high) = extremes(values.into_iter().filter(|value| *value > NEGLIGIBLE));
        if !high.is_finite() {
            return Self::linear(0.0, 1.0);
        }
        let least = high / libm::pow(10.0, decades);
        let low = round_down(low.max(least));
        Self { spacing: AxisSpacing::Log, low, high: high.max(2.0 * low) * 1.15, beyond: None }
    }

    /// Logarithmic from `low` to `high`, both above zero.
    pub const fn decades(low: f64, high: f64) -> Self {
        Self { spacing: AxisSpacing::Log, low, high, beyond: None }
    }

    /// The same linear axis of `values`, but shortened if a few spikes would flatten all other values.
    #[must_use]
    pub fn without_spikes(self, values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        if values.len() < LEAST_SAMPLES || self.spacing == AxisSpacing::Log {
            return self;
        }
        let kept = values.len() - 1 - (SPIKES * values.len() as f64) as usize;
        let (_, &mut usual, spikes) = values.select_nth_unstable_by(kept, f64::total_cmp);
        let greatest = spikes.iter().copied().fold(usual, f64::max);
        if usual <= self.low || usual - self.low >= LEAST_FILLED * (greatest - self.low) {
            return self;
        }
        Self { high: self.low + (usual - self.low) / FILLED, beyond: Some(greatest), ..self }
    }

    /// What a reader must know about values beyond the upper end.
    pub(crate) fn beyond_text(&self) -> Option<String> {
        let greatest = tick_labels(AxisSpacing::Log, &[self.beyond?]).join("");
        Some(format!("cut at the top, greatest value {greatest}"))
    }

    /// The position of a value: 0 at the low end, 1 at the high end. A value outside is at the nearer end.
    pub fn fraction(&self, value: f64) -> f64 {
        let share = match self.spacing {
            AxisSpacing::Linear => (value - self.low) / (self.high - self.low),
            AxisSpacing::Log if value <= self.low => 0.0,
            AxisSpacing::Log => libm::log10(value / self.low) / libm::log10(self.high / self.low),
        };
        share.clamp(0.0, 1.0)
    }

    /// The value at a position: the inverse of [`Self::fraction`].
    pub fn at(&self, fraction: f64) -> f64 {
        match self.spacing {
            AxisSpacing::Linear => self.low + fraction * (self.high - self.low),
            AxisSpacing::Log => self.low * libm::pow(self.high / self.low, fraction),
        }
    }

    /// About `count` round numbers on the axis.
    pub fn ticks(&self, count: usize) -> Vec<f64> {
        match self.spacing {
            AxisSpacing::Linear => self.even_ticks(count),
            AxisSpacing::Log => self.decade_ticks(count),
        }
    }

    fn even_ticks(&self, count: usize) -> Vec<f64> {
        let step = round_step((self.high - self.low) / count as f64);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }

    /// Powers of ten, all of them or every second, third ...; with 2 and 5 between them while there is room.
    fn decade_ticks(&self, count: usize) -> Vec<f64> {
        let decades = libm::log10(self.high / self.low);
        let between: &[f64] = if decades * 3.0 <= count as f64 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let stride = libm::ceil(decades / count as f64).max(1.0) as i32;
        let from = (libm::floor(libm::log10(self.low)) as i32).div_euclid(stride) * stride;
        let to = libm::ceil(libm::log10(self.high)) as i32;
        let powers = (from..=to).step_by(stride as usize);
        let values = powers.flat_map(|power| between.iter().map(move |digit| digit * power_of_ten(power)));
        values.filter(|value| (self.low * 0.999..=self.high).contains(value)).collect()
    }
}

/// The numbers of one axis as text. Those of a linear axis have the decimals that their step needs; thousands are `k`, `M`,
/// `G`, and small numbers have exponents.
pub(crate) fn tick_labels(spacing: AxisSpacing, ticks: &[f64]) -> Vec<String> {
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let even = spacing == AxisSpacing::Linear;
    let greatest = ticks.iter().fold(0.0, |greatest: f64, tick| greatest.max(tick.abs()));
    let label = |tick: &f64| {
        let size = if even { greatest } else { tick.abs() };
        let finest = if even && step.is_finite() { step } else { *tick };
        if size < 0.999 * LEAST_WITHOUT_EXPONENT {
            return with_exponent(*tick, finest);
        }
        let (factor, suffix) = thousands(size);
        format!("{:.*}{}", decimals(finest * factor), tick * factor, if *tick == 0.0 { "" } else { suffix })
    };
    ticks.iter().map(label).collect()
}

/// A small number with the digits that a step needs: `5e-6`, `1.5e-5`.
fn with_exponent(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = |size: f64| libm::floor(libm::log10(size.abs() * 1.0001));
    let digits = (exponent(value) - exponent(step)).max(0.0) as usize;
    format!("{value:.digits$e}")
}

fn thousands(size: f64) -> (f64, &'static str) {
    match size {
        _ if size >= 1e10 => (1e-9, "G"),
        _ if size >= 1e7 => (1e-6, "M"),
        _ if size >= 1e4 => (1e-3, "k"),
        _ => (1.0, ""),
    }
}

/// The number of decimals that shows the first digit of a value.
fn decimals(value: f64) -> usize {
    if value <= 0.0 { 0 } else { (-libm::floor(libm::log10(value * 1.0001))).max(0.0) as usize }
}

fn extremes(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// 1, 2 or 5 times a power of ten, the least not below `raw`.
fn round_step(raw: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= raw * 0.999).unwrap_or(10.0);
    digit * power
}

/// 1, 2 or 5 times a power of ten, the greatest not above `value`.
fn round_down(value: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(value)));
    let digit = [5.0, 2.0].into_iter().find(|digit| digit * power <= value).unwrap_or(1.0);
    digit * power
}

fn power_of_ten(power: i32) -> f64 {
    libm::pow(10.0, f64::from(power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_of_an_axis_are_at_zero_and_one_and_values_outside_are_at_the_nearer_end() {
        let linear = Scale::linear(10.0, 30.0);
        assert_eq!([10.0, 20.0, 30.0, 99.0].map(|value| linear.fraction(value)), [0.0, 0.5, 1.0, 1.0]);
        let log = Scale { spacing: AxisSpacing::Log, low: 1.0, high: 100.0, beyond: None };
        assert_eq!([0.0, 1.0, 10.0, 100.0].map(|value| log.fraction(value)), [0.0, 0.0, 0.5, 1.0]);
        assert_eq!([0.0, 0.5, 1.0].map(|share| linear.at(share)), [10.0, 20.0, 30.0]);
        assert_eq!([0.0, 0.5, 1.0].map(|share| log.at(share)), [1.0, 10.0, 100.0]);
    }

    #[test]
    fn ticks_are_round_numbers_with_the_decimals_that_they_need() {
        let ticks = Scale::linear(0.0, 61.0).ticks(6);
        let (even, log) = (AxisSpacing::Linear, AxisSpacing::Log);
        assert_eq!(tick_labels(even, &ticks), ["0", "20", "40", "60"]);
        assert_eq!(tick_labels(even, &Scale::linear(0.0, 1.0).ticks(4)), ["0.0", "0.5", "1.0"]);
        let decades = Scale { spacing: log, low: 0.1, high: 200.0, beyond: None };
        assert_eq!(tick_labels(log, &decades.ticks(5)), ["0.1", "1", "10", "100"]);
        assert_eq!(tick_labels(log, &[0.1, 1.0]), ["0.1", "1"]);
        assert_eq!(tick_labels(even, &[0.0, 5e3, 1e4]), ["0", "5k", "10k"]);
        assert_eq!(tick_labels(log, &[1e3, 1e4, 1e7]), ["1000", "10k", "10M"]);
    }

    fn labels(scale: Scale, count: usize) -> Vec<String> {
        tick_labels(scale.spacing, &scale.ticks(count))
    }

    #[test]
    fn constant_values_have_round_numbers_around_them_and_rounding_is_no_range() {
        assert_eq!(labels(Scale::around([0.0; 3]), 4), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(Scale::around([-4e-13, 0.0, 4e-13]), 4), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(Scale::around([7.6, 7.6]), 4), ["4", "6", "8", "10"]);
        assert_eq!(labels(Scale::around([7.6, 7.6 + 1e-9]), 4), ["4", "6", "8", "10"]);
        assert_eq!(labels(Scale::around([-7.6, -7.6 - 1e-9]), 4), ["-10", "-8", "-6", "-4"]);
        assert_eq!(labels(Scale::from_zero([3e-13]), 4), ["0.0", "0.5", "1.0"]);
        assert_eq!(Scale::log([3e-13], 4.0), Scale::linear(0.0, 1.0));
    }

    #[test]
    fn small_numbers_have_exponents() {
        assert_eq!(labels(Scale::linear(0.0, 8e-5), 4), ["0", "2e-5", "4e-5", "6e-5", "8e-5"]);
        assert_eq!(labels(Scale::linear(0.0, 2e-5), 4), ["0", "5e-6", "1.0e-5", "1.5e-5", "2.0e-5"]);
        assert_eq!(
            labels(Scale::decades(1e-6, 1.0), 6),
            ["1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1", "1"]
        );
    }

    #[test]
    fn an_axis_of_many_powers_of_ten_has_only_some_of_them() {
        assert_eq!(labels(Scale::decades(1e-9, 2.0), 5), ["1e-8", "1e-6", "1e-4", "0.01", "1"]);
    }

    #[test]
    fn curves_of_one_order_can_share_a_linear_axis() {
        assert!(are_of_one_order(&[10.0, 30.0]) && !are_of_one_order(&[1.0, 300.0]));
    }

    /// 99 values up to 10 and one of 1000: the axis ends at 10 / 0.8.
    #[test]
    fn one_spike_does_not_flatten_the_other_values_and_the_axis_says_that_it_is_cut() {
        let mut values: Vec<f64> = (1..100).map(|value| f64::from(value) / 9.9).collect();
        let whole = Scale::from_zero(values.clone());
        assert_eq!(whole.without_spikes(values.clone()), whole);
        values.push(1000.0);
        let cut = Scale::from_zero(values.clone()).without_spikes(values.clone());
        assert!((cut.high - 98.0 / 9.9 / 0.8).abs() < 1e-9 && cut.fraction(1000.0) == 1.0, "{cut:?}");
        assert_eq!(cut.beyond_text().unwrap(), "cut at the top, greatest value 1000");
        // A burst of a tenth of the samples is no spike, and few values have none.
        values.extend([1000.0; 12]);
        assert_eq!(Scale::from_zero(values.clone()).without_spikes(values).beyond, None);
        assert_eq!(Scale::from_zero([1.0, 99.0]).without_spikes([1.0, 99.0]).beyond, None);
    }

    proptest! {
        #[test]
        fn every_axis_has_finite_ends_and_ticks_within_them(values in prop::collection::vec(prop::num::f64::ANY, 0..6)) {
            let values: Vec<f64> = values.into_iter().filter(|value| value.is_nan() || value.abs() < 1e100).collect();
            let all = || values.iter().copied();
            for scale in [Scale::from_zero(all()), Scale::around(all()), Scale::log(all(), 4.0), Scale::from_zero(all()).without_spikes(all())] {
                prop_assert!(scale.low.is_finite() && scale.high.is_finite() && scale.low < scale.high, "{scale:?}");
                let room = 1e-6 * (scale.high - scale.low);
                for tick in scale.ticks(5) {
                    prop_assert!(tick >= scale.low - room && tick <= scale.high + room, "{tick} in {scale:?}");
                }
            }
        }
    }
}
