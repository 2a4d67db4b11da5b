//! The upstream marking of a flow: the special bit of section VIII-C, counted at the relay that forwards the flow.

use crate::parts::logistic::{Bases, LARGEST_MARKING};
use millpond_law::fluid::{Number, least, ln};

/// The smoothed share of packets that were marked in an upstream loop, p^u of Theorem 8.4.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct UpstreamMarking {
    packets: f64,
    marked: f64,
    value: f64,
}

impl UpstreamMarking {
    /// Counts a packet from the upstream loop.
    pub(super) fn on_forwarded(&mut self, marked: bool) {
        self.packets += 1.0;
        self.marked += f64::from(u8::from(marked));
    }

    /// Ends an interval, as in lines 7 and 8 of Algorithm 1, with the weight `alpha`.
    pub(super) fn finish_interval(&mut self, alpha: f64) {
        if self.packets > 0.0 {
            let share = self.marked / self.packets;
            *self = Self { packets: 0.0, marked: 0.0, value: self.value + alpha * (share - self.value) };
        }
    }

    /// The estimate, from 0 to 1.
    pub(super) fn value(&self) -> f64 {
        self.value
    }
}

/// A loop with a smaller marking probability is not a bottleneck, and its weight has no effect.
pub(super) const MIN_BOTTLENECK_MARKING: f64 = 0.01;

/// Theorem 8.4: a weight inversely proportional to the price of all queues so far, including this loop's. Flows that
/// share this loop's queue have the same price for it, so that a flow without upstream marks has weight one.
pub(super) fn weight(bases: &Bases, own_marking: f64, upstream_marking: f64) -> f64 {
    let (own, upstream) = (bases.price(own_marking), bases.price(upstream_marking));
    if own_marking < MIN_BOTTLENECK_MARKING { 1.0 } else { own / (own + upstream) }
}

/// [`weight`] for the fluid model.
pub(super) fn fluid_weight<T: Number>(own_marking: T, upstream_marking: T) -> T {
    let price = |marking: T| -ln(-least(marking, T::from(LARGEST_MARKING)) + 1.0);
    let (own, upstream) = (price(own_marking), price(upstream_marking));
    if own_marking < MIN_BOTTLENECK_MARKING { T::one() } else { own / (own + upstream) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_marked_packets_is_smoothed_per_interval_and_kept_without_packets() {
        let mut upstream = UpstreamMarking::default();
        [true, false, false, true].into_iter().for_each(|marked| upstream.on_forwarded(marked));
        upstream.finish_interval(0.5);
        assert_eq!(upstream.value(), 0.25);
        upstream.finish_interval(0.5);
        assert_eq!(upstream.value(), 0.25);
        upstream.on_forwarded(true);
        upstream.finish_interval(0.5);
        assert_eq!(upstream.value(), 0.625);
    }

    #[test]
    fn weights_are_inverse_to_the_price_so_far_and_one_for_a_flow_that_begins_here() {
        let weight = |own, upstream| weight(&Bases::new(10.0, 5.0), own, upstream);
        assert_eq!(weight(0.2, 0.0), 1.0);
        // Two upstream queues of 20 %, 36 % together, and a third queue here: a third of the weight without them.
        assert!((weight(0.2, 0.36) - 1.0 / 3.0).abs() < 1e-12);
        // This loop is not a bottleneck.
        assert_eq!((weight(0.0, 0.0), weight(0.005, 0.4)), (1.0, 1.0));
    }
}
