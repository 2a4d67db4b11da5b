//! What a trace is like: its level, how much and how fast it varies, how often it falls silent.

use super::{Format, OPPORTUNITY, Trace};
use crate::served::Served;
use millpond_units::{Rate, Span, Time};

/// A bin below this fraction of the mean is near zero.
const NEAR_ZERO: f64 = 0.05;
/// Bins of delivery opportunities are this long at least; bins of other traces are as long as their samples.
const FINE: Span = Span::from_millis(100);
/// Autocorrelations are sought up to this many bins.
const LONGEST_LAG: usize = 2000;
const SECOND: Span = Span::from_millis(1000);

/// The statistics of a trace. Bins that the trace does not fill are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// How long the trace is.
    pub duration: Span,
    /// Length of a fine bin: 100 ms for delivery opportunities, else the distance of samples.
    pub fine: Span,
    /// Mean rate.
    pub mean: Rate,
    /// Least mean of a second.
    pub min: Rate,
    /// Greatest mean of a second.
    pub max: Rate,
    /// Standard deviation over mean: of fine bins, seconds and ten seconds.
    pub variation: [f64; 3],
    /// Autocorrelation: of fine bins at one bin, of seconds at 1 s and at 10 s.
    pub autocorrelation: [f64; 3],
    /// Where the autocorrelation falls below 1/e, in seconds: of fine bins, of seconds. `None` if it does not.
    pub decay: [Option<f64>; 2],
    /// Share of fine bins below 5 % of the mean.
    pub near_zero: f64,
    /// Standard deviation of the logarithm of next second over this one, both raised to 5 % of the mean.
    pub jump: f64,
    /// Share of steps from second to second that at least double.
    pub doubling: f64,
    /// Share that at least halve.
    pub halving: f64,
    /// Runs of fine bins near zero.
    pub dropouts: Dropouts,
    /// Of single delivery opportunities, if it is a trace of them.
    pub packets: Option<Packets>,
}

/// Runs of fine bins near zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dropouts {
    /// How many per minute.
    pub per_minute: f64,
    /// Median length in seconds.
    pub median: f64,
    /// The 90th percentile of their lengths in seconds.
    pub p90: f64,
    /// The longest in seconds.
    pub longest: f64,
    /// How many of a second or more, per minute.
    pub long_per_minute: f64,
    /// The mean length of those, in seconds.
    pub long_mean: f64,
}

/// What is seen of delivery opportunities at the scale of milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Packets {
    /// Share of milliseconds with at least one.
    pub busy: f64,
    /// Variance over mean of their number in 1, 10 and 100 ms: 1 for a Poisson process.
    pub dispersion: [f64; 3],
}

impl Trace {
    /// The statistics of the trace.
    pub fn stats(&self) -> Stats {
        let fine = if self.format == Format::Mahimahi { FINE } else { self.sampling };
        let bins = [fine, SECOND.max(fine), (SECOND * 10).max(fine)].map(|width| self.bins(width));
        let [fine_bins, seconds, _] = &bins;
        let average = self.mean();
        let floor = NEAR_ZERO * average.as_f64();
        let correlation = |bins: &[f64], lag: Span, width: Span| {
            autocorrelation(bins, (lag.picos() / width.picos().max(1)) as usize)
        };
        Stats {
            duration: self.length,
            fine,
            mean: average,
            min: seconds.iter().copied().min_by(f64::total_cmp).map_or(average, Rate::from_bps_f64),
            max: seconds.iter().copied().max_by(f64::total_cmp).map_or(average, Rate::from_bps_f64),
            variation: bins.each_ref().map(|bins| variation(bins)),
            autocorrelation: [
                correlation(fine_bins, fine, fine),
                correlation(seconds, SECOND, SECOND.max(fine)),
                correlation(seconds, SECOND * 10, SECOND.max(fine)),
            ],
            decay: [decay(fine_bins, fine.secs()), decay(seconds, SECOND.max(fine).secs())],
            near_zero: share(fine_bins, |bin| *bin < floor),
            jump: deviation(&jumps(seconds, floor).into_iter().map(libm::log).collect::<Vec<_>>()),
            doubling: share(&jumps(seconds, floor), |jump| *jump >= 2.0),
            halving: share(&jumps(seconds, floor), |jump| *jump <= 0.5),
            dropouts: dropouts(fine_bins, floor, fine, self.length),
            packets: (self.format == Format::Mahimahi).then(|| packets(self)),
        }
    }

    /// The mean rate.
    pub fn mean(&self) -> Rate {
        Served::new(&self.steps).mean(Time::ZERO, Time::ZERO + self.length)
    }

    /// Mean rates of whole bins, in bit/s.
    fn bins(&self, width: Span) -> Vec<f64> {
        let served = Served::new(&self.steps);
        let count = self.length.picos() / width.picos().max(1);
        let bin = |i: u64| served.mean(Time::ZERO + width * i, Time::ZERO + width * (i + 1)).as_f64();
        (0..count).map(bin).collect()
    }
}

fn average_of(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn variance(values: &[f64]) -> f64 {
    let mean = average_of(values);
    average_of(&values.iter().map(|x| (x - mean) * (x - mean)).collect::<Vec<_>>())
}

fn deviation(values: &[f64]) -> f64 {
    libm::sqrt(variance(values))
}

fn variation(values: &[f64]) -> f64 {
    let mean = average_of(values);
    if mean > 0.0 { deviation(values) / mean } else { 0.0 }
}

/// Mean product of deviations `lag` apart over the variance. Zero if nothing varies or nothing is so far apart.
fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    let mean = average_of(values);
    let later = values.iter().skip(lag);
    let products: Vec<_> = values.iter().zip(later).map(|(x, y)| (x - mean) * (y - mean)).collect();
    let variance = variance(values);
    if variance > 0.0 { average_of(&products) / variance } else { 0.0 }
}

/// The lag at which the autocorrelation first falls below 1/e, interpolated between two bins; `None` if it does
/// not within the first [`LONGEST_LAG`] bins, or nothing varies.
fn decay(values: &[f64], width: f64) -> Option<f64> {
    let threshold = 1.0 / std::f64::consts::E;
    let mut above = 1.0;
    for lag in 1..values.len().min(LONGEST_LAG) {
        let here = autocorrelation(values, lag);
        if here < threshold {
            let lag = lag as f64 - (threshold - here) / (above - here);
            return (variance(values) > 0.0).then_some(width * lag);
        }
        above = here;
    }
    None
}

fn share<T>(values: &[T], is: impl Fn(&T) -> bool) -> f64 {
    values.iter().filter(|value| is(value)).count() as f64 / values.len().max(1) as f64
}

/// Each value over the one before, both raised to `floor`.
fn jumps(values: &[f64], floor: f64) -> Vec<f64> {
    let later = values.iter().skip(1);
    values.iter().zip(later).map(|(now, next)| next.max(floor) / now.max(floor)).collect()
}

fn dropouts(bins: &[f64], floor: f64, width: Span, length: Span) -> Dropouts {
    let runs = bins.chunk_by(|a, b| (*a < floor) == (*b < floor));
    let silent = runs.filter(|run| run.first().is_some_and(|first| *first < floor));
    let mut lengths: Vec<f64> = silent.map(|run| run.len() as f64 * width.secs()).collect();
    lengths.sort_by(f64::total_cmp);
    // Sums of bins may fall short of a second by rounding.
    let long: Vec<f64> = lengths.iter().copied().filter(|length| *length > 1.0 - 1e-9).collect();
    let minutes = length.secs() / 60.0;
    Dropouts {
        per_minute: lengths.len() as f64 / minutes,
        median: quantile(&lengths, 0.5),
        p90: quantile(&lengths, 0.9),
        longest: quantile(&lengths, 1.0),
        long_per_minute: long.len() as f64 / minutes,
        long_mean: average_of(&long),
    }
}

/// Of sorted values, interpolated between two of them; zero if there are none.
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let position = level * sorted.len().saturating_sub(1) as f64;
    let (below, part) = (position as usize, position.fract());
    let at = |index: usize| sorted.get(index).or(sorted.last()).copied().unwrap_or(0.0);
    at(below) + part * (at(below + 1) - at(below))
}

fn packets(trace: &Trace) -> Packets {
    let counts = |millis: u64| -> Vec<f64> {
        let width = Span::from_millis(millis);
        let one = OPPORTUNITY.per(width).as_f64();
        trace.bins(width).into_iter().map(|rate| rate / one).collect()
    };
    let dispersion = |counts: &[f64]| variation(counts) * deviation(counts);
    let milliseconds = counts(1);
    let busy = share(&milliseconds, |count| *count > 0.0);
    Packets {
        busy,
        dispersion: [dispersion(&milliseconds), dispersion(&counts(10)), dispersion(&counts(100))],
    }
}
