//! Synthetic traces: a Gaussian process mapped through a recording's distribution, plus long outages.
//!
//! 1. `z(t) = sqrt(fast) F(t) + sqrt(slow) S(t) + sqrt(white) N(t)`: F and S are Ornstein-Uhlenbeck processes of unit
//!    variance, N is white noise.
//! 2. `rate = Q(Phi(z))`, Q interpolated linearly between the preset's quantiles.
//! 3. Outages at Poisson times, each of a second plus an exponential time, override the second step.
//! 4. All rates are scaled so that the mean is exact.
//!
//! Each process has its own random stream, so that the samples of one do not depend on another.

use super::presets::LEVELS;
use super::{Format, Preset, Trace};
use millpond_stats::{Random, quantile_of_curve};
use millpond_units::{Rate, Span, Time};
use std::fmt;

/// Most samples of a trace.
const MAX_SAMPLES: u64 = 10_000_000;
/// The highest mean that is accepted.
const FASTEST_MEAN: Rate = Rate::from_bps(1_000_000_000_000);
/// The shortest outage in seconds.
const SHORTEST_OUTAGE: f64 = 1.0;

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct TraceRecipe {
    /// The kind of link.
    pub preset: &'static Preset,
    /// How long.
    pub duration: Span,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The mean, if not the preset's.
    pub mean: Option<Rate>,
    /// The highest quantile, if not the preset's.
    pub peak: Option<Rate>,
    /// Time between samples, if not the preset's.
    pub step: Option<Span>,
}

/// Why a recipe cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRecipeError(String);

impl TraceRecipeError {
    pub(super) fn new(fault: impl Into<String>) -> Self {
        Self(fault.into())
    }
}

impl fmt::Display for TraceRecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TraceRecipeError {}

impl TraceRecipe {
    /// The preset as recorded, for so long.
    pub fn new(preset: &'static Preset, duration: Span, seed: u64) -> Self {
        Self { preset, duration, seed, mean: None, peak: None, step: None }
    }

    /// Follows the recipe.
    ///
    /// # Errors
    /// If the duration holds no sample or too many, or mean and peak do not fit.
    pub fn generate(&self) -> Result<Trace, TraceRecipeError> {
        let step = self.step.unwrap_or(self.preset.step);
        let mean = self.mean.unwrap_or(self.preset.mean);
        if mean.is_zero() || mean > FASTEST_MEAN {
            return Err(TraceRecipeError::new(format!("a mean of {mean}: expected 1bps to {FASTEST_MEAN}")));
        }
        let distribution = self.distribution(mean)?;
        let samples = self.duration.picos() / step.picos().max(1);
        if step.is_zero() || !(1..=MAX_SAMPLES).contains(&samples) {
            let fault = format!("{} in steps of {step} are {samples} samples", self.duration);
            return Err(TraceRecipeError::new(format!("{fault}: expected 1 to {MAX_SAMPLES}")));
        }
        let level = |z| quantile_of_curve(&distribution, phi(z)).unwrap_or_default();
        let mut levels: Vec<f64> = self.scores(step, samples).map(level).collect();
        self.cut_outages(&mut levels, step);
        let rates = scaled(&levels, mean)?;
        let mut steps: Vec<_> = (0..).map(|i| Time::ZERO + step * i).zip(rates).collect();
        steps.dedup_by_key(|&mut (_, rate)| rate);
        Ok(Trace { format: Format::Csv, steps, length: step * samples, sampling: step })
    }

    /// Points (cumulative share, rate relative to the mean) of the preset's distribution; the highest rate is the peak
    /// of the recipe, if it has one.
    fn distribution(&self, mean: Rate) -> Result<[(f64, f64); 11], TraceRecipeError> {
        let mut points = std::array::from_fn(|i| (LEVELS[i], self.preset.quantiles[i]));
        let Some(peak) = self.peak else { return Ok(points) };
        let [.., (_, below), (_, highest)] = &mut points;
        *highest = peak.as_f64() / mean.as_f64().max(1.0);
        if highest < below {
            let least = mean.scale(*below);
            return Err(TraceRecipeError::new(format!(
                "a peak of {peak}: at a mean of {mean} expected at least {least}"
            )));
        }
        Ok(points)
    }

    /// A stream of random numbers for one of the processes.
    fn stream(&self, process: u64) -> Random {
        Random::numbered(self.seed, process)
    }

    /// The Gaussian process, one value per step.
    fn scores(&self, step: Span, samples: u64) -> impl Iterator<Item = f64> {
        let Preset { white, fast, fast_tau, slow, slow_tau, .. } = *self.preset;
        let mut fast_process = OrnsteinUhlenbeck::new(fast_tau, step, self.stream(1));
        let mut slow_process = OrnsteinUhlenbeck::new(slow_tau, step, self.stream(2));
        let mut noise = self.stream(3);
        let (fast, slow, white) = (libm::sqrt(fast), libm::sqrt(slow), libm::sqrt(white));
        (0..samples)
            .map(move |_| fast * fast_process.step() + slow * slow_process.step() + white * noise.normal())
    }

    /// Sets what falls into an outage to zero.
    fn cut_outages(&self, levels: &mut [f64], step: Span) {
        let mut random = self.stream(4);
        if self.preset.outages <= 0.0 {
            return;
        }
        let gap = 60.0 / self.preset.outages;
        let spread = (self.preset.outage - SHORTEST_OUTAGE).max(0.0);
        let mut start = random.exponential(gap);
        while start < self.duration.secs() {
            let length = SHORTEST_OUTAGE + random.exponential(spread);
            let (first, last) = (start / step.secs(), (start + length) / step.secs());
            levels.iter_mut().take(last as usize).skip(first as usize).for_each(|level| *level = 0.0);
            start += random.exponential(gap);
        }
    }
}

/// Rates in proportion to `levels` with exactly this mean, but for rounding to whole bits per second.
fn scaled(levels: &[f64], mean: Rate) -> Result<Vec<Rate>, TraceRecipeError> {
    let average = millpond_stats::mean(levels);
    if average <= 0.0 {
        return Err(TraceRecipeError::new(
            "an outage fills the whole trace: try another seed or a longer duration",
        ));
    }
    Ok(levels.iter().map(|level| mean.scale(level / average)).collect())
}

/// The distribution function of the standard normal.
fn phi(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// A process of unit variance whose correlation decays exponentially.
struct OrnsteinUhlenbeck {
    value: f64,
    kept: f64,
    new: f64,
    random: Random,
}

impl OrnsteinUhlenbeck {
    fn new(tau: f64, step: Span, mut random: Random) -> Self {
        let kept = libm::exp(-step.secs() / tau);
        Self { value: random.normal(), kept, new: libm::sqrt(1.0 - kept * kept), random }
    }

    /// The value here; the process moves on by one step.
    fn step(&mut self) -> f64 {
        let next = self.value * self.kept + self.new * self.random.normal();
        std::mem::replace(&mut self.value, next)
    }
}
