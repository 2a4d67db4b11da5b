//! From histograms in picoseconds and packets to what results say.

use millpond_results::metrics::{quantile, spread};
use millpond_results::{Distribution, Kind, Milliseconds, Packets, quantity};
use millpond_sim::Histogram;

/// Picoseconds in a millisecond.
const PICOS_PER_MS: f64 = 1e9;

/// A distribution drawn as a curve has at most so many points.
const POINTS: usize = 200;

/// A histogram of delays.
pub(super) fn milliseconds(delays: &Histogram) -> Milliseconds {
    let at = |share| delays.quantile(share) as f64 / PICOS_PER_MS;
    Milliseconds {
        min: delays.min() as f64 / PICOS_PER_MS,
        mean: delays.mean() / PICOS_PER_MS,
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        max: delays.max() as f64 / PICOS_PER_MS,
    }
}

/// A histogram of queue lengths, weighted by time.
pub(super) fn packets(lengths: &Histogram) -> Packets {
    let at = |share| lengths.quantile(share) as f64;
    Packets { mean: lengths.mean(), p50: at(0.5), p95: at(0.95), p99: at(0.99), max: lengths.max() as f64 }
}

/// A distribution of a few times; none of none.
pub(super) fn times(mut samples: Vec<f64>) -> Option<Milliseconds> {
    samples.sort_by(f64::total_cmp);
    let at = |share| quantile(&samples, share);
    let (mean, min) = (spread(&samples).mean, at(0.0)?);
    Some(Milliseconds { min, mean, p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)?, max: at(1.0)? })
}

/// All of these in one.
pub(super) fn merged<'a>(histograms: impl IntoIterator<Item = &'a Histogram>) -> Histogram {
    let mut all = Histogram::of_delays();
    histograms.into_iter().for_each(|histogram| all.merge(histogram));
    all
}

/// The distribution of queueing delay of an entity, if it has any.
pub(super) fn queueing(kind: Kind, entity: &str, delays: &Histogram) -> Option<Distribution> {
    (delays.total() > 0).then(|| Distribution {
        kind,
        entity: entity.to_owned(),
        quantity: quantity::QUEUEING.to_owned(),
        unit: "ms".to_owned(),
        points: curve(delays),
    })
}

/// `(cumulative share, milliseconds)`, from share 0 to share 1: every bucket, or as many evenly spaced shares as a
/// curve can have, the highest percentile in full.
fn curve(delays: &Histogram) -> Vec<(f64, f64)> {
    let total = delays.total() as f64;
    let mut below = 0;
    let buckets: Vec<(f64, f64)> = delays
        .buckets()
        .map(|(value, weight)| {
            below += weight;
            (below as f64 / total, value as f64 / PICOS_PER_MS)
        })
        .collect();
    let least = buckets.first().map(|&(_, value)| (0.0, value));
    least.into_iter().chain(thinned(&buckets)).collect()
}

/// Keeps a point wherever the share has grown by enough or the tail has begun, and always the last.
pub(crate) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = 2.0 / POINTS as f64;
    let last = points.len().saturating_sub(1);
    let tail = points.len().saturating_sub(POINTS / 2);
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (index, &(share, value)) in points.iter().enumerate() {
        let grown = kept.last().is_none_or(|&(before, _)| share - before >= step);
        if points.len() <= POINTS || grown || index == last || (index >= tail && share >= 0.99) {
            kept.push((share, value));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::Span;

    #[test]
    fn a_curve_of_many_values_is_short_and_keeps_both_ends() {
        let mut delays = Histogram::of_delays();
        (1..=100_000).for_each(|i| delays.add_delay(Span::from_micros(i)));
        let curve = curve(&delays);
        assert!(curve.len() <= POINTS + 1, "{}", curve.len());
        assert_eq!(curve[0].0, 0.0);
        assert_eq!(curve[curve.len() - 1].0, 1.0);
        assert!(curve.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
        // Uniform from 0 to 100 ms: the share is the value over 100 ms, to the histogram's precision.
        assert!(curve.iter().skip(1).all(|&(share, value)| (share * 100.0 - value).abs() < 1.0));
    }
}
