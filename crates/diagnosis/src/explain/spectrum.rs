//! The spectrum of a series: its peak, whether the peak could be chance, and how its amplitude grows.

use millpond_stats::{mean, root_mean_square};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use std::f64::consts::PI;

/// The peak of a spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectralPeak {
    /// Its frequency, in Hz.
    pub frequency: f64,
    /// Amplitude of the best-fitting sinusoid of this frequency, in the unit of the series.
    pub amplitude: f64,
    /// The share of the variance that this sinusoid explains.
    pub variance_share: f64,
    /// The probability that a flat spectrum has a peak as high as this at some frequency.
    pub false_alarm_probability: f64,
    /// How the amplitude changes from one cycle to the next; none if there are too few cycles.
    pub growth: Option<CycleGrowth>,
}

impl SpectralPeak {
    /// Whether fewer than one of a thousand flat spectra have such a peak.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        const SIGNIFICANCE: f64 = 1e-3;
        self.false_alarm_probability < SIGNIFICANCE
    }

    /// Whether the series oscillates at this frequency: the peak is significant and explains at least a tenth of the variance.
    /// Random fluctuations that are correlated in time have no flat spectrum, so that their highest peak is significant
    /// as well, but it explains little.
    #[must_use]
    pub fn dominates(&self) -> bool {
        const SHARE: f64 = 0.1;
        self.is_significant() && self.variance_share >= SHARE
    }
}

/// The growth of an oscillation per cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleGrowth {
    /// The factor of its amplitude from one cycle to the next.
    pub per_cycle: f64,
    /// The standard error of the natural logarithm of the factor.
    pub log_standard_error: f64,
}

impl CycleGrowth {
    /// Whether the factor is below one by at least two standard errors.
    #[must_use]
    pub fn decays(&self) -> bool {
        self.per_cycle.ln() + 2.0 * self.log_standard_error < 0.0
    }
}

/// Frequencies in Hz, with two-sided power densities per Hz.
pub type PowerSpectrum = Vec<(f64, f64)>;

/// The values less their mean and linear trend.
pub(super) fn without_trend(values: &[f64]) -> Vec<f64> {
    LineFit::of(values).residuals
}

/// A straight line by least squares through values at times 0, 1, 2, ...
struct LineFit {
    slope: f64,
    /// Sum of the squared distances of the times from their mean.
    spread: f64,
    /// The values less the line.
    residuals: Vec<f64>,
}

impl LineFit {
    fn of(values: &[f64]) -> Self {
        let (middle, mean) = ((values.len() as f64 - 1.0) / 2.0, mean(values));
        let offsets = || (0..values.len()).map(|i| i as f64 - middle);
        let spread: f64 = offsets().map(|x| x * x).sum();
        let slope =
            offsets().zip(values).map(|(x, y)| x * (y - mean)).sum::<f64>() / spread.max(f64::MIN_POSITIVE);
        let residuals = offsets().zip(values).map(|(x, y)| y - mean - slope * x).collect();
        Self { slope, spread, residuals }
    }

    /// The standard error of the slope.
    fn slope_error(&self) -> f64 {
        let squares: f64 = self.residuals.iter().map(|residual| residual.powi(2)).sum();
        (squares / (self.residuals.len() as f64 - 2.0) / self.spread).sqrt()
    }
}

/// The periodogram of a series with mean zero, sampled at this interval in seconds.
pub(super) fn periodogram(values: &[f64], interval: f64) -> PowerSpectrum {
    let n = values.len();
    let power = powers(values);
    let frequency = |k: usize| k as f64 / (n as f64 * interval);
    let density = |(k, power): (usize, f64)| (frequency(k), power * interval / n as f64);
    power.into_iter().enumerate().skip(1).map(density).collect()
}

/// Squared magnitudes of the Fourier coefficients from frequency zero to half the sampling rate; empty without values.
fn powers(values: &[f64]) -> Vec<f64> {
    let mut spectrum: Vec<Complex<f64>> = values.iter().map(Complex::from).collect();
    FftPlanner::new().plan_fft_forward(values.len()).process(&mut spectrum);
    spectrum.iter().take(values.len() / 2 + 1).map(Complex::norm_sqr).collect()
}

/// The spectral peak of a series without mean and trend; none if the series is constant.
pub(super) fn peak(values: &[f64], interval: f64) -> Option<SpectralPeak> {
    if root_mean_square(values) == 0.0 {
        return None;
    }
    let frequency = fundamental(values, interval, peak_frequency(values, interval)?);
    let fit = Sinusoid::fit(values, frequency * interval);
    let total = root_mean_square(values).powi(2);
    Some(SpectralPeak {
        frequency,
        amplitude: fit.amplitude(),
        variance_share: (1.0 - fit.mean_square / total).clamp(0.0, 1.0),
        false_alarm_probability: false_alarm_probability(values, interval),
        growth: growth(values, frequency * interval),
    })
}

/// The frequency of the highest peak in Hz, of at least two cycles in the series: by a Hann window, zero padding to four times
/// the length, and a parabola between the bins.
fn peak_frequency(values: &[f64], interval: f64) -> Option<f64> {
    const PADDED: usize = 4;
    let n = values.len();
    let hann = |i: usize| (PI * (i as f64 + 0.5) / n as f64).sin().powi(2);
    let mut padded: Vec<f64> = values.iter().enumerate().map(|(i, x)| x * hann(i)).collect();
    padded.resize(PADDED * n, 0.0);
    let power = powers(&padded);
    let top = (2 * PADDED..power.len().saturating_sub(1)).max_by(|a, b| power[*a].total_cmp(&power[*b]))?;
    let [before, here, after] = [power[top - 1], power[top], power[top + 1]].map(|p| p.max(1e-300).ln());
    let bend = before - 2.0 * here + after;
    let shift = if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 };
    Some((top as f64 + shift) / (PADDED as f64 * n as f64 * interval))
}

/// The fundamental of an oscillation whose strongest harmonic has this frequency in Hz. A series repeats itself after the
/// period of its fundamental: its autocorrelation is greater there than after the period of a harmonic.
fn fundamental(values: &[f64], interval: f64, strongest: f64) -> f64 {
    /// The highest harmonic that may be the strongest one.
    const HARMONICS: u32 = 6;
    /// A longer period must increase the autocorrelation by at least this.
    const GAIN: f64 = 0.1;
    let strongest_lag = 1.0 / (strongest * interval);
    let mut best = (autocorrelation(values, strongest_lag), 1.0);
    for harmonic in (2..=HARMONICS).map(f64::from) {
        let lag = harmonic * strongest_lag;
        // At least two periods fit in.
        if 2.0 * lag > values.len() as f64 {
            break;
        }
        let correlation = autocorrelation(values, lag);
        if correlation > best.0 + GAIN {
            best = (correlation, harmonic);
        }
    }
    strongest / best.1
}

/// The greatest correlation coefficient of the series with itself, shifted by about this number of samples: a
/// twentieth of it more or less.
fn autocorrelation(values: &[f64], lag: f64) -> f64 {
    const TOLERANCE: f64 = 0.05;
    // Lags between one and the number of samples.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let near = |lag: f64| lag.round().max(1.0) as usize;
    let coefficient = |lag: usize| {
        let (early, late) = (&values[..values.len().saturating_sub(lag)], &values[lag.min(values.len())..]);
        let product: f64 = early.iter().zip(late).map(|(a, b)| a * b).sum();
        let squares = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>();
        let size = (squares(early) * squares(late)).sqrt();
        if size > 0.0 { product / size } else { 0.0 }
    };
    let (least, most) = (near(lag * (1.0 - TOLERANCE)), near(lag * (1.0 + TOLERANCE)));
    (least..=most).map(coefficient).fold(f64::NEG_INFINITY, f64::max)
}

/// Fisher's test (Proc. Royal Society A 125, 1929): the greatest of m ordinates of a flat spectrum exceeds the share g of
/// their sum with a probability of about m (1 - g)^(m-1).
fn false_alarm_probability(values: &[f64], interval: f64) -> f64 {
    let mut ordinates: Vec<f64> =
        periodogram(values, interval).into_iter().map(|(_, density)| density).collect();
    if values.len().is_multiple_of(2) {
        ordinates.pop();
    }
    let sum: f64 = ordinates.iter().sum();
    let share = ordinates.iter().copied().fold(0.0, f64::max) / sum;
    let m = ordinates.len() as f64;
    (m * (1.0 - share).powf(m - 1.0)).min(1.0)
}

/// The growth per cycle: the slope of a line through the logarithms of the amplitudes of single cycles.
fn growth(values: &[f64], cycles_per_sample: f64) -> Option<CycleGrowth> {
    const LEAST_CYCLES: usize = 4;
    let length = (1.0 / cycles_per_sample).round();
    // Between 2 and the number of samples, since two cycles fit in.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let cycles = values.chunks_exact(length as usize);
    let logs: Vec<f64> =
        cycles.map(|cycle| Sinusoid::fit(cycle, cycles_per_sample).amplitude().max(1e-300).ln()).collect();
    if logs.len() < LEAST_CYCLES || length < 4.0 {
        return None;
    }
    let line = LineFit::of(&logs);
    Some(CycleGrowth { per_cycle: line.slope.exp(), log_standard_error: line.slope_error() })
}

/// `a cos + b sin` of a given frequency by least squares.
struct Sinusoid {
    a: f64,
    b: f64,
    /// Of the residuals.
    mean_square: f64,
}

impl Sinusoid {
    fn fit(values: &[f64], cycles_per_sample: f64) -> Self {
        let mean = mean(values);
        let basis = |i: usize| (2.0 * PI * cycles_per_sample * i as f64).sin_cos();
        let [mut ss, mut cc, mut sc, mut sy, mut cy] = [0.0; 5];
        for (i, y) in values.iter().enumerate() {
            let ((sin, cos), y) = (basis(i), y - mean);
            ss += sin * sin;
            cc += cos * cos;
            sc += sin * cos;
            sy += sin * y;
            cy += cos * y;
        }
        let det = ss * cc - sc * sc;
        let (b, a) =
            if det > 0.0 { ((sy * cc - cy * sc) / det, (cy * ss - sy * sc) / det) } else { (0.0, 0.0) };
        let residual = |(i, y): (usize, &f64)| {
            let (sin, cos) = basis(i);
            (y - mean - a * cos - b * sin).powi(2)
        };
        let mean_square = values.iter().enumerate().map(residual).sum::<f64>() / values.len() as f64;
        Self { a, b, mean_square }
    }

    fn amplitude(&self) -> f64 {
        self.a.hypot(self.b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 300 samples of 0.1 s.
    fn sampled(of: impl Fn(f64) -> f64) -> Vec<f64> {
        without_trend(&(0..300).map(|i| of(f64::from(i) * 0.1)).collect::<Vec<_>>())
    }

    /// A generator of pseudo-random numbers, the same in every run of the test.
    fn noise() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        }
    }

    #[test]
    fn a_series_without_values_has_no_spectrum() {
        assert!(periodogram(&[], 0.1).is_empty());
    }

    #[test]
    fn frequency_and_amplitude_of_a_sinusoid_on_a_trend_are_found() {
        let found =
            peak(&sampled(|t| 7.0 + 0.05 * t + 3.0 * (2.0 * PI * 0.413 * t + 1.0).sin()), 0.1).unwrap();
        assert!((found.frequency - 0.413).abs() < 1e-3, "{found:?}");
        assert!((found.amplitude / 3.0 - 1.0).abs() < 0.01, "{found:?}");
        assert!(found.variance_share > 0.98 && found.false_alarm_probability < 1e-20, "{found:?}");
        let growth = found.growth.unwrap();
        assert!((growth.per_cycle - 1.0).abs() < 0.01, "{found:?}");
    }

    /// The second harmonic is twice as strong as the fundamental.
    #[test]
    fn the_fundamental_is_found_where_a_harmonic_is_stronger() {
        let wave = |t: f64| (2.0 * PI * 0.5 * t).sin() + 2.0 * (2.0 * PI * 1.0 * t).sin();
        let found = peak(&without_trend(&sampled(wave)), 0.1).unwrap();
        assert!((found.frequency / 0.5 - 1.0).abs() < 0.01, "{found:?}");
        // A single sinusoid, also one that decays, is its own fundamental.
        for decay in [0.0, 0.05] {
            let wave = |t: f64| (-decay * t).exp() * (2.0 * PI * 1.0 * t).sin();
            let found = peak(&sampled(wave), 0.1).unwrap();
            assert!((found.frequency - 1.0).abs() < 0.01, "{found:?}");
        }
    }

    /// First-order autoregressive noise, alone and with a sinusoid that has half of the variance.
    #[test]
    fn the_peak_of_correlated_noise_is_significant_but_does_not_dominate() {
        let (mut random, mut state) = (noise(), 0.0);
        let mut correlated = || {
            state = 0.95 * state + random();
            state
        };
        let noise: Vec<f64> = (0..4000).map(|_| correlated()).collect();
        let found = peak(&without_trend(&noise), 0.1).unwrap();
        assert!(found.is_significant() && !found.dominates(), "{found:?}");
        let amplitude = root_mean_square(&without_trend(&noise)) * 2_f64.sqrt();
        let wave = |(i, noise): (usize, &f64)| noise + amplitude * (2.0 * PI * 0.413 * i as f64 * 0.1).sin();
        let found =
            peak(&without_trend(&noise.iter().enumerate().map(wave).collect::<Vec<_>>()), 0.1).unwrap();
        assert!(found.dominates() && (found.frequency - 0.413).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn growth_is_the_factor_between_cycles() {
        for factor in [0.8_f64, 1.25] {
            let wave = |t: f64| factor.powf(t * 0.4) * (2.0 * PI * 0.4 * t).cos();
            let growth = peak(&sampled(wave), 0.1).unwrap().growth.unwrap();
            assert!((growth.per_cycle / factor - 1.0).abs() < 0.02, "{growth:?}");
            assert_eq!(growth.decays(), factor < 1.0);
        }
    }

    /// The logarithm of 0.9 is -0.105: a standard error of 0.06 is more than half of it, one of 0.05 is less.
    #[test]
    fn an_oscillation_decays_if_its_growth_is_two_standard_errors_below_one() {
        let decays = |log_standard_error| CycleGrowth { per_cycle: 0.9, log_standard_error }.decays();
        assert_eq!([0.05, 0.06].map(decays), [true, false]);
    }

    /// Fisher's bound is a probability: at most 5 of 100 flat spectra reach 0.05, up to sampling error.
    #[test]
    fn white_noise_has_a_significant_peak_as_rarely_as_the_bound_says() {
        let mut sample = noise();
        let mut series = || without_trend(&(0..300).map(|_| sample()).collect::<Vec<_>>());
        let significant =
            (0..400).filter(|_| peak(&series(), 0.1).unwrap().false_alarm_probability < 0.05).count();
        // 400 samples of 0.05: 20 +- 3 x 4.4.
        assert!((7..=33).contains(&significant), "{significant}");
    }

    /// Parseval: twice the sum of the densities times the width of a bin is the variance.
    #[test]
    fn the_sum_of_a_periodogram_is_the_variance() {
        let mut sample = noise();
        let values = without_trend(&(0..301).map(|_| sample()).collect::<Vec<_>>());
        let sum: f64 = periodogram(&values, 0.1).iter().map(|(_, density)| density).sum();
        let variance = 2.0 * sum / (301.0 * 0.1);
        assert!((variance / root_mean_square(&values).powi(2) - 1.0).abs() < 1e-9, "{variance}");
    }

    #[test]
    fn a_constant_series_has_no_peak() {
        assert_eq!(peak(&[0.0; 100], 0.1), None);
    }
}
