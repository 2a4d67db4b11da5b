//! Distributions of delays and queue lengths, from histograms, samples and lists, in the form of the results.

use millpond_results::{Distribution, EntityKind, Milliseconds, Packets, quantity};
use millpond_stats::{Histogram, WeightedSamples, mean, quantile_of_sorted, thinned_curve};

/// Picoseconds in a millisecond.
const PICOS_PER_MS: f64 = 1e9;

/// The statistics of a histogram of delays in picoseconds.
pub(crate) fn milliseconds_of_histogram(delays: &Histogram) -> Milliseconds {
    Milliseconds::of_picoseconds(delays.min(), delays.mean(), delays.max(), |share| delays.quantile(share))
}

/// The statistics of a histogram of queue lengths in packets, weighted by time.
pub(crate) fn packets_of_histogram(lengths: &Histogram) -> Packets {
    let at = |level| lengths.quantile(level) as f64;
    Packets { mean: lengths.mean(), p50: at(0.5), p95: at(0.95), p99: at(0.99), max: lengths.max() as f64 }
}

/// The statistics of weighted samples in milliseconds; zeros if there are none.
pub(crate) fn milliseconds_of_samples(samples: &WeightedSamples) -> Milliseconds {
    let Some(distribution) = samples.distribution() else { return Milliseconds::default() };
    let at = |level| distribution.quantile(level);
    let mean = distribution.mean();
    let (min, max) = (at(0.0), at(1.0));
    Milliseconds { min, mean, p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max }
}

/// The statistics of weighted samples in packets; zeros if there are none.
pub(crate) fn packets_of_samples(samples: &WeightedSamples) -> Packets {
    let Milliseconds { mean, p50, p95, p99, max, .. } = milliseconds_of_samples(samples);
    Packets { mean, p50, p95, p99, max }
}

/// The statistics of a list of times in milliseconds; `None` of an empty list.
pub(crate) fn milliseconds_of_list(mut times: Vec<f64>) -> Option<Milliseconds> {
    times.sort_by(f64::total_cmp);
    let at = |level| quantile_of_sorted(&times, level);
    let (mean, min, max) = (mean(&times), at(0.0)?, at(1.0)?);
    Some(Milliseconds { min, mean, p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)?, p999: at(0.999)?, max })
}

/// The statistics of a list of queue lengths in packets that were sampled at even distances; zeros of an empty list.
pub(crate) fn packets_of_list(lengths: Vec<f64>) -> Packets {
    let Milliseconds { mean, p50, p95, p99, max, .. } = milliseconds_of_list(lengths).unwrap_or_default();
    Packets { mean, p50, p95, p99, max }
}

/// The distribution of queueing delay of an entity, from a histogram in picoseconds; `None` if it is empty.
pub(crate) fn queueing_of_histogram(
    kind: EntityKind,
    entity: &str,
    delays: &Histogram,
) -> Option<Distribution> {
    let total = delays.total() as f64;
    let mut below = 0;
    let buckets = delays.buckets().map(|(value, weight)| {
        below += weight;
        (below as f64 / total, value as f64 / PICOS_PER_MS)
    });
    queueing(kind, entity, &buckets.collect::<Vec<_>>())
}

/// The distribution of queueing delay of an entity, from samples in milliseconds; `None` if there are none.
pub(crate) fn queueing_of_samples(
    kind: EntityKind,
    entity: &str,
    delays: &WeightedSamples,
) -> Option<Distribution> {
    queueing(kind, entity, delays.distribution()?.points())
}

/// From points `(cumulative share, milliseconds)`: the least value at share 0, then the points, thinned.
fn queueing(kind: EntityKind, entity: &str, points: &[(f64, f64)]) -> Option<Distribution> {
    let least = points.first().map(|&(_, value)| (0.0, value))?;
    Some(Distribution {
        kind,
        entity: entity.to_owned(),
        quantity: quantity::QUEUEING.to_owned(),
        unit: "ms".to_owned(),
        points: std::iter::once(least).chain(thinned_curve(points)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_stats::CURVE_POINTS;
    use millpond_units::Span;

    #[test]
    fn a_distribution_of_many_values_is_thinned_and_keeps_both_ends() {
        let mut delays = Histogram::of_delays();
        (1..=100_000).for_each(|i| delays.add(Span::from_micros(i).picos(), 1));
        let curve = queueing_of_histogram(EntityKind::Group, "all", &delays).unwrap().points;
        assert!(curve.len() <= CURVE_POINTS + 1, "{}", curve.len());
        assert_eq!((curve[0].0, curve[curve.len() - 1].0), (0.0, 1.0));
        assert!(curve.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
        // Uniform from 0 to 100 ms: the share is the value over 100 ms, to the histogram's precision.
        assert!(curve.iter().skip(1).all(|&(share, value)| (share * 100.0 - value).abs() < 1.0));
    }

    #[test]
    fn an_entity_without_samples_has_no_distribution_and_zero_statistics() {
        assert_eq!(queueing_of_histogram(EntityKind::Group, "all", &Histogram::of_delays()), None);
        assert_eq!(milliseconds_of_samples(&WeightedSamples::default()), Milliseconds::default());
        assert_eq!(packets_of_list(Vec::new()), Packets::default());
    }
}
