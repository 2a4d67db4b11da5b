//! Distributions of weighted samples.

use crate::packets::distribution::thinned;
use millpond_results::{Distribution, Kind, Milliseconds, Packets, quantity};

/// Values with weights: of time, or of traffic.
#[derive(Clone, Debug, Default)]
pub(super) struct Weighted(Vec<(f64, f64)>);

impl Weighted {
    pub(super) fn add(&mut self, value: f64, weight: f64) {
        if weight > 0.0 {
            self.0.push((value, weight));
        }
    }

    /// Once there are twice so many values, neighbours become one with their mean and their weight; but the least and the
    /// greatest stay as they are.
    pub(super) fn thin(&mut self, most: usize) {
        if self.0.len() / 2 < most {
            return;
        }
        self.0.sort_by(|a, b| a.0.total_cmp(&b.0));
        let last = self.0.len() - 1;
        let mut thinned = Vec::with_capacity(2 * most);
        thinned.push(self.0[0]);
        for pair in self.0[1..last].chunks(2) {
            let weight: f64 = pair.iter().map(|(_, weight)| weight).sum();
            let sum: f64 = pair.iter().map(|(value, weight)| value * weight).sum();
            thinned.push((sum / weight, weight));
        }
        thinned.push(self.0[last]);
        self.0 = thinned;
    }

    /// The same with those of another, each as often as `times` says.
    pub(super) fn merge(&mut self, other: &Self, times: f64) {
        self.0.extend(other.0.iter().map(|(value, weight)| (*value, weight * times)));
    }

    fn sorted(&self) -> Sorted {
        let mut samples = self.0.clone();
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = samples.iter().map(|(_, weight)| weight).sum();
        let mut below = 0.0;
        let shares = samples.iter().map(|(value, weight)| {
            below += weight;
            (below / total, *value)
        });
        let shares = shares.collect();
        let mean = samples.iter().map(|(value, weight)| value * weight).sum::<f64>() / total;
        Sorted { shares, mean }
    }

    /// Of times in milliseconds; zeros of nothing.
    pub(super) fn milliseconds(&self) -> Milliseconds {
        let sorted = self.sorted();
        let at = |share| sorted.at(share);
        if sorted.shares.is_empty() {
            return Milliseconds::default();
        }
        Milliseconds {
            min: at(0.0),
            mean: sorted.mean,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        }
    }

    /// Of numbers of packets; zeros of nothing.
    pub(super) fn packets(&self) -> Packets {
        let Milliseconds { mean, p50, p95, p99, max, .. } = self.milliseconds();
        Packets { mean, p50, p95, p99, max }
    }

    /// The distribution of queueing delay of an entity, if it has any.
    pub(super) fn queueing(&self, kind: Kind, entity: &str) -> Option<Distribution> {
        let shares = self.sorted().shares;
        let least = shares.first().map(|&(_, value)| (0.0, value))?;
        Some(Distribution {
            kind,
            entity: entity.to_owned(),
            quantity: quantity::QUEUEING.to_owned(),
            unit: "ms".to_owned(),
            points: std::iter::once(least).chain(thinned(&shares)).collect(),
        })
    }
}

/// `(cumulative share, value)`, ascending.
struct Sorted {
    shares: Vec<(f64, f64)>,
    mean: f64,
}

impl Sorted {
    /// The least value that this share of the weight does not exceed.
    fn at(&self, share: f64) -> f64 {
        let place = self.shares.partition_point(|(below, _)| *below < share);
        self.shares.get(place).or(self.shares.last()).map_or(0.0, |(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_as_so_many_samples() {
        let mut one = Weighted::default();
        [(3.0, 1.0), (1.0, 2.0), (9.0, 0.0), (2.0, 1.0)]
            .iter()
            .for_each(|(value, weight)| one.add(*value, *weight));
        let of = one.milliseconds();
        assert_eq!((of.min, of.p50, of.max, of.mean), (1.0, 1.0, 3.0, 7.0 / 4.0));
        let mut twice = one.clone();
        twice.merge(&one, 2.0);
        assert_eq!(twice.milliseconds(), of);
        assert_eq!(Weighted::default().packets(), Packets::default());
    }

    /// The values 0 to 9999 in a shuffled order, thinned all the while: a quantile is off by a few of so many neighbours.
    #[test]
    fn thinned_values_keep_their_mean_their_bounds_and_nearly_their_quantiles() {
        let mut thin = Weighted::default();
        for i in 0..10_000_u32 {
            thin.thin(64);
            thin.add(f64::from(i * 7919 % 10_000), 1.0);
        }
        assert!(thin.0.len() <= 129, "{}", thin.0.len());
        let of = thin.milliseconds();
        assert!((of.mean - 4999.5).abs() < 1e-6 && (of.min, of.max) == (0.0, 9999.0), "{of:?}");
        for (seen, exact) in [(of.p50, 5e3), (of.p95, 9.5e3), (of.p99, 9.9e3)] {
            assert!((seen - exact).abs() < 10_000.0 / 64.0, "{seen} {exact}");
        }
    }
}
