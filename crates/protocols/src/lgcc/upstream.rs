//! What earlier loops have marked of a flow: the special bit of section VIII-C, counted where the flow goes on.

use crate::parts::logistic::{Bases, LARGEST_MARKING};
use millpond_law::fluid::{Number, least};

/// The smoothed share of packets that bore a mark in an earlier loop, p^u of Theorem 8.4.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct UpstreamMarking {
    packets: f64,
    marked: f64,
    value: f64,
}

impl UpstreamMarking {
    /// A packet's worth of bytes has come from the earlier loop.
    pub(super) fn on_forwarded(&mut self, marked: bool) {
        self.packets += 1.0;
        self.marked += f64::from(u8::from(marked));
    }

    /// An interval is over: as in lines 7 and 8 of Algorithm 1, with the weight `alpha`.
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

/// A loop that marks fewer packets than this is nobody's bottleneck: there is nothing to divide.
pub(super) const SCARCE: f64 = 0.01;

/// Theorem 8.4: a weight inversely proportional to the price of all queues so far, this loop's among them. Flows that
/// share this loop's queue share its price, so that one that nobody has marked before has weight one.
pub(super) fn weight(bases: &Bases, own_marking: f64, upstream_marking: f64) -> f64 {
    let (own, upstream) = (bases.price(own_marking), bases.price(upstream_marking));
    if own_marking < SCARCE { 1.0 } else { own / (own + upstream) }
}

/// The same in the fluid world.
pub(super) fn fluid_weight<T: Number>(own_marking: T, upstream_marking: T) -> T {
    let price = |marking: T| -(-least(marking, T::from(LARGEST_MARKING)) + 1.0).ln();
    let (own, upstream) = (price(own_marking), price(upstream_marking));
    if own_marking < SCARCE { T::one() } else { own / (own + upstream) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_marked_packets_is_smoothed_per_interval_and_kept_where_nothing_came() {
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
    fn weights_are_inverse_to_the_price_so_far_with_one_for_a_flow_that_begins_here() {
        let weight = |own, upstream| weight(&Bases::new(10.0, 5.0), own, upstream);
        assert_eq!(weight(0.2, 0.0), 1.0);
        // Two queues of 20 % upstream, 36 % together, and a third here: a third of what a flow of this queue alone weighs.
        assert!((weight(0.2, 0.36) - 1.0 / 3.0).abs() < 1e-12);
        // Nothing is scarce here.
        assert_eq!((weight(0.0, 0.0), weight(0.005, 0.4)), (1.0, 1.0));
    }
}
