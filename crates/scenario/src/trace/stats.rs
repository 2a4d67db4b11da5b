//! Statistics of a trace: level, variation, time scales, dropouts.

use super::{Format, OPPORTUNITY, Trace};
use crate::schedule::{End, Schedule};
use crate::served::ServedData;
use millpond_stats::{
    autocorrelation, coefficient_of_variation, mean, quantile_of_sorted, standard_deviation,
};
use millpond_units::{Rate, Span, Time};

/// A bin below this fraction of the mean is near zero.
const NEAR_ZERO: f64 = 0.05;
/// Bins of delivery opportunities are this long at least; bins of other traces are as long as their samples.
const FINE: Span = Span::from_millis(100);
/// Bins of a trace with more than this many are longer.
const MAX_BINS: u64 = 200_000;
/// Autocorrelations are sought up to this many bins.
const LONGEST_LAG: usize = 2000;
const SECOND: Span = Span::from_millis(1000);

/// The statistics of a trace. Bins that the trace does not fill are left out; without enough bins there is no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// How long the trace is.
    pub duration: Span,
    /// Length of a fine bin: 100 ms for delivery opportunities, else the distance of samples; longer in traces of
    /// many hours.
    pub fine: Span,
    /// Mean rate.
    pub mean: Rate,
    /// Least mean of a second.
    pub min: Option<Rate>,
    /// Greatest mean of a second.
    pub max: Option<Rate>,
    /// Standard deviation over mean: of fine bins, seconds and ten seconds.
    pub variation: [Option<f64>; 3],
    /// Autocorrelation: of fine bins at one bin, of seconds at 1 s and at 10 s (one bin if bins are longer).
    pub autocorrelation: [Option<f64>; 3],
    /// Where the autocorrelation falls below 1/e, in seconds: of fine bins, of seconds. `None` if it does not.
    pub decay: [Option<f64>; 2],
    /// Share of fine bins below 5 % of the mean.
    pub near_zero: Option<f64>,
    /// Standard deviation of the logarithm of next second over this one, both raised to 5 % of the mean.
    pub jump: Option<f64>,
    /// Share of steps from second to second that at least double.
    pub doubling: Option<f64>,
    /// Share that at least halve.
    pub halving: Option<f64>,
    /// Runs of fine bins near zero.
    pub dropouts: Dropouts,
    /// Of single delivery opportunities, if it is a trace of them.
    pub packets: Option<OpportunityStats>,
}

/// Runs of fine bins near zero. Without one there is no length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dropouts {
    /// How many per minute.
    pub per_minute: f64,
    /// Median length in seconds.
    pub median: Option<f64>,
    /// The 90th percentile of their lengths in seconds.
    pub p90: Option<f64>,
    /// The longest in seconds.
    pub longest: Option<f64>,
    /// How many of a second or more, per minute.
    pub long_per_minute: f64,
    /// The mean length of those, in seconds.
    pub long_mean: Option<f64>,
}

/// What is seen of delivery opportunities at the scale of milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct OpportunityStats {
    /// Share of milliseconds with at least one.
    pub busy: f64,
    /// Variance over mean of their number in 1, 10 and 100 ms: 1 for a Poisson process.
    pub dispersion: [Option<f64>; 3],
}

impl Trace {
    /// The statistics of the trace.
    pub fn stats(&self) -> Stats {
        let usual = if self.format == Format::Mahimahi { FINE } else { self.sampling };
        let fine = usual.max(self.length / MAX_BINS);
        let second = SECOND.max(fine);
        let bins = [fine, second, (SECOND * 10).max(fine)].map(|width| self.bins(width));
        let [fine_bins, seconds, _] = &bins;
        let (fine_scores, scores) = (normalized(fine_bins), normalized(seconds));
        let lag = |span: Span| (span.picos() / second.picos()).max(1) as usize;
        let average = self.mean();
        let floor = NEAR_ZERO * average.as_f64();
        let jumps = jumps(seconds, floor);
        Stats {
            duration: self.length,
            fine,
            mean: average,
            min: seconds.iter().copied().min_by(f64::total_cmp).map(Rate::from_bps_f64),
            max: seconds.iter().copied().max_by(f64::total_cmp).map(Rate::from_bps_f64),
            variation: bins.each_ref().map(|bins| variation(bins)),
            autocorrelation: [
                correlation(&fine_scores, 1),
                correlation(&scores, lag(SECOND)),
                correlation(&scores, lag(SECOND * 10)),
            ],
            decay: [decay(&fine_scores, fine.secs()), decay(&scores, second.secs())],
            near_zero: share(fine_bins, |bin| *bin < floor),
            jump: deviation(&jumps.iter().copied().map(libm::log).collect::<Vec<_>>()),
            doubling: share(&jumps, |jump| *jump >= 2.0),
            halving: share(&jumps, |jump| *jump <= 0.5),
            dropouts: dropouts(fine_bins, floor, fine, self.length),
            packets: (self.format == Format::Mahimahi).then(|| packets(self)),
        }
    }

    /// The mean rate.
    pub fn mean(&self) -> Rate {
        ServedData::new(&self.steps).mean(Time::ZERO, Time::ZERO + self.length)
    }

    /// Mean rates of whole bins, in bit/s.
    fn bins(&self, width: Span) -> Vec<f64> {
        let served = ServedData::new(&self.steps);
        let count = self.length.picos() / width.picos().max(1);
        let bin = |i: u64| served.mean(Time::ZERO + width * i, Time::ZERO + width * (i + 1)).as_f64();
        (0..count).map(bin).collect()
    }
}

/// The coefficient of variation of rates, zero if all of them are zero; none of less than two.
fn variation(rates: &[f64]) -> Option<f64> {
    let varies = mean(rates) > 0.0;
    (rates.len() > 1).then(|| if varies { coefficient_of_variation(rates) } else { 0.0 })
}

/// The standard deviation; none of an empty list.
fn deviation(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| standard_deviation(values))
}

/// The autocorrelation at a lag; none if the lag is as long as the list.
fn correlation(normalized: &[f64], lag: usize) -> Option<f64> {
    (lag < normalized.len()).then(|| autocorrelation(normalized, lag))
}

/// Deviations from the mean, in units of the standard deviation; zeros if nothing varies.
fn normalized(values: &[f64]) -> Vec<f64> {
    let (mean, deviation) = (mean(values), standard_deviation(values));
    values.iter().map(|x| if deviation > 0.0 { (x - mean) / deviation } else { 0.0 }).collect()
}

/// The lag at which the autocorrelation first falls below 1/e, interpolated between two bins; `None` if it does
/// not within the first [`LONGEST_LAG`] bins, or nothing varies.
fn decay(normalized: &[f64], width: f64) -> Option<f64> {
    let threshold = 1.0 / std::f64::consts::E;
    let mut above = autocorrelation(normalized, 0);
    if above <= 0.0 {
        return None;
    }
    for lag in 1..normalized.len().min(LONGEST_LAG) {
        let here = autocorrelation(normalized, lag);
        if here < threshold {
            return Some(width * (lag as f64 - (threshold - here) / (above - here)));
        }
        above = here;
    }
    None
}

/// The share of the values for which this is so; none of an empty list.
fn share<T>(values: &[T], is: impl Fn(&T) -> bool) -> Option<f64> {
    let count = values.iter().filter(|value| is(value)).count();
    (!values.is_empty()).then(|| count as f64 / values.len() as f64)
}

/// Each value over the one before, both raised to `floor`.
fn jumps(values: &[f64], floor: f64) -> Vec<f64> {
    let later = values.iter().skip(1);
    values.iter().zip(later).map(|(now, next)| next.max(floor) / now.max(floor)).collect()
}

fn dropouts(bins: &[f64], floor: f64, width: Span, length: Span) -> Dropouts {
    let runs = bins.chunk_by(|a, b| (*a < floor) == (*b < floor));
    let low = runs.filter(|run| run.first().is_some_and(|first| *first < floor));
    let mut lengths: Vec<f64> = low.map(|run| run.len() as f64 * width.secs()).collect();
    lengths.sort_by(f64::total_cmp);
    // Sums of bins may fall short of a second by rounding.
    let long: Vec<f64> = lengths.iter().copied().filter(|length| *length > 1.0 - 1e-9).collect();
    let minutes = length.secs() / 60.0;
    let quantile = |level| quantile_of_sorted(&lengths, level);
    Dropouts {
        per_minute: lengths.len() as f64 / minutes,
        median: quantile(0.5),
        p90: quantile(0.9),
        longest: quantile(1.0),
        long_per_minute: long.len() as f64 / minutes,
        long_mean: (!long.is_empty()).then(|| mean(&long)),
    }
}

fn packets(trace: &Trace) -> OpportunityStats {
    let in_windows = |millis: u64| {
        let width = Span::from_millis(millis);
        let one = OPPORTUNITY.per(width).as_f64();
        let counts: Vec<f64> = trace.bins(width).into_iter().map(|rate| rate / one).collect();
        variation(&counts).map(|variation| variation * standard_deviation(&counts))
    };
    let (busy, in_milliseconds) = milliseconds(trace);
    OpportunityStats { busy, dispersion: [Some(in_milliseconds), in_windows(10), in_windows(100)] }
}

/// Share of milliseconds with an opportunity, and variance over mean of how many. Computed by segments: a day has
/// too many milliseconds to list.
fn milliseconds(trace: &Trace) -> (f64, f64) {
    let schedule = Schedule { steps: trace.steps.clone(), length: trace.length, end: End::Stop };
    let one = OPPORTUNITY.per(Span::from_millis(1)).as_f64();
    let (mut busy, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (span, rate) in schedule.segments() {
        let count = rate.as_f64() / one;
        busy += if rate.is_zero() { 0.0 } else { span.millis() };
        sum += count * span.millis();
        squares += count * count * span.millis();
    }
    let all = trace.length.millis();
    let mean = sum / all;
    (busy / all, if mean > 0.0 { (squares / all - mean * mean) / mean } else { 0.0 })
}
