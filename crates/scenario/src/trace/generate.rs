//! Synthetic traces: a Gaussian process mapped through a recording's distribution, plus long outages.
//!
//! 1. `z(t) = sqrt(fast) F(t) + sqrt(slow) S(t) + sqrt(white) N(t)`: F and S are Ornstein-Uhlenbeck processes of unit
//!    variance, N is white noise.
//! 2. `rate = Q(Phi(z))`, Q interpolated linearly between the preset's quantiles.
//! 3. Outages at Poisson times, each of a second plus an exponential time, override the second step.
//! 4. All rates are scaled so that the mean is exact.
//!
//! Each process has its own random stream, so that the samples of one do not depend on another.

use super::presets::{LEVELS, SHORTEST_OUTAGE};
use super::process::{GaussianState, Outage, RateProcess, level};
use super::{Format, Preset, Trace};
use millpond_stats::Random;
use millpond_units::{Rate, Span, Time};
use std::fmt;

/// Most samples of a trace.
const MAX_SAMPLES: u64 = 10_000_000;
/// The highest mean that is accepted.
const FASTEST_MEAN: Rate = Rate::from_bps(1_000_000_000_000);

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
        self.process().map(|process| process.trace)
    }

    /// Follows the recipe, and keeps the states of the random process at each sample.
    ///
    /// # Errors
    /// Those of [`Self::generate`].
    pub fn process(&self) -> Result<RateProcess, TraceRecipeError> {
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
        let states = self.states(step, samples);
        let outages = self.outages();
        let mut levels: Vec<f64> =
            states.iter().map(|state| level(&distribution, state.score(self.preset))).collect();
        for outage in &outages {
            levels[outage.samples(step, samples as usize)].fill(0.0);
        }
        let average = millpond_stats::mean(&levels);
        let rates = scaled(&levels, average, mean)?;
        let mut steps: Vec<_> = (0..).map(|i| Time::ZERO + step * i).zip(rates.iter().copied()).collect();
        steps.dedup_by_key(|&mut (_, rate)| rate);
        let trace = Trace { format: Format::Csv, steps, length: step * samples, sampling: step };
        let unit = mean.as_f64() / average;
        Ok(RateProcess { preset: self.preset, trace, step, rates, distribution, unit, states, outages })
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

    /// The states of the Gaussian process, one per step.
    fn states(&self, step: Span, samples: u64) -> Vec<GaussianState> {
        let Preset { fast_tau, slow_tau, .. } = *self.preset;
        let mut fast = OrnsteinUhlenbeck::new(fast_tau, step, self.stream(1));
        let mut slow = OrnsteinUhlenbeck::new(slow_tau, step, self.stream(2));
        let mut noise = self.stream(3);
        let state = |_| GaussianState { fast: fast.step(), slow: slow.step(), white: noise.normal() };
        (0..samples).map(state).collect()
    }

    /// The outages that begin within the duration, in their order.
    fn outages(&self) -> Vec<Outage> {
        let mut random = self.stream(4);
        let mut outages = Vec::new();
        if self.preset.outages <= 0.0 {
            return outages;
        }
        let gap = 60.0 / self.preset.outages;
        let mut start = random.exponential(gap);
        while start < self.duration.secs() {
            let length = SHORTEST_OUTAGE + random.exponential(self.preset.outage_spread());
            outages.push(Outage { start, length });
            start += random.exponential(gap);
        }
        outages
    }
}

/// Rates in proportion to `levels`, whose mean is `average`, with exactly this mean, but for rounding to whole bits per second.
fn scaled(levels: &[f64], average: f64, mean: Rate) -> Result<Vec<Rate>, TraceRecipeError> {
    if average <= 0.0 {
        return Err(TraceRecipeError::new(
            "an outage fills the whole trace: try another seed or a longer duration",
        ));
    }
    Ok(levels.iter().map(|level| mean.scale(level / average)).collect())
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
