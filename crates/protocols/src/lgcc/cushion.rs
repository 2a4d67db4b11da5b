//! The queue that a relay holds so that its next loop does not lack data: as much of the cushion as that loop needs.

use millpond_law::RelayView;
use millpond_units::{Bytes, Span, Time};

/// The least factor: 0.75 ms of a cushion of 15 ms.
const LEAST_FACTOR: f64 = 0.05;

/// The share of the cushion that a relay holds. It rises while the next loop lacks data and falls otherwise, so that the
/// next loop lacks data for a given share of the time, whatever the link does (docs/extensions/lgcc-cellular.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CushionFactor {
    /// The share of the time in which the next loop may lack data; zero: the factor is one.
    idle_target: f64,
    factor: f64,
    last_arrival: Option<Time>,
}

impl CushionFactor {
    pub(super) fn new(idle_target: f64) -> Self {
        Self { idle_target, factor: 1.0, last_arrival: None }
    }

    /// The factor, between [`LEAST_FACTOR`] and one.
    pub(super) fn get(&self) -> f64 {
        self.factor
    }

    /// A packet arrives at the relay. What it finds has lasted since the packet before it, but no longer than `span`, the time
    /// constant of the relay's queue.
    pub(super) fn on_arrival(&mut self, now: Time, relay: &RelayView, span: Span) {
        let elapsed = now.since(self.last_arrival.replace(now).unwrap_or(now)).min(span);
        if self.idle_target > 0.0 && !span.is_zero() {
            let idle = if lacks_data(relay) { 1.0 } else { 0.0 };
            let step = (idle - self.idle_target) * (elapsed.secs() / span.secs());
            self.factor = (self.factor * libm::exp(step)).clamp(LEAST_FACTOR, 1.0);
        }
    }
}

/// True if the relay holds no data, and no more is in flight in the next loop than its rate fills without a queue.
fn lacks_data(relay: &RelayView) -> bool {
    relay.next_backlog == Bytes::ZERO && relay.next_in_flight <= relay.next_rate.bytes_in(relay.next_base_rtt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Sharing;
    use millpond_units::Rate;
    use proptest::prelude::*;

    const SPAN: Span = Span::from_millis(150);

    /// A next loop of 12 Mbit/s and 10 ms, which has ten packets in flight without a queue.
    fn relay(backlog: u64, in_flight: u64) -> RelayView {
        RelayView {
            next_rate: Rate::from_mbps(12.0),
            next_pace: Rate::MAX,
            next_in_flight: Bytes::new(in_flight),
            backlog: Bytes::ZERO,
            next_backlog: Bytes::new(backlog),
            limit: Bytes::new(1_000_000),
            next_rtt: Span::from_millis(12),
            next_base_rtt: Span::from_millis(10),
            sharing: Sharing::ALONE,
        }
    }

    #[test]
    fn a_loop_lacks_data_if_the_relay_is_empty_and_its_pipe_is_not_full() {
        assert!(lacks_data(&relay(0, 15_000)));
        assert!(!lacks_data(&relay(0, 16_500)), "a packet waits in the next loop");
        assert!(!lacks_data(&relay(1500, 0)), "a packet waits in the relay, perhaps of another loop");
    }

    #[test]
    fn the_cushion_falls_by_the_target_per_time_constant_and_never_below_its_limit() {
        let mut cushion = CushionFactor::new(0.05);
        for tick in 0..=150 {
            cushion.on_arrival(Time::ZERO + Span::from_millis(10) * tick, &relay(3000, 15_000), SPAN);
        }
        // 1500 ms are ten time constants.
        assert!((cushion.get() - libm::exp(-0.5)).abs() < 1e-12, "{}", cushion.get());
        (151..10_000).for_each(|tick| {
            cushion.on_arrival(Time::ZERO + Span::from_millis(10) * tick, &relay(3000, 15_000), SPAN);
        });
        assert_eq!(cushion.get(), LEAST_FACTOR);
        // An interruption of seconds counts as one time constant: e^.95 times as much.
        cushion.on_arrival(Time::from_secs(500.0), &relay(0, 0), SPAN);
        assert!((cushion.get() / LEAST_FACTOR - libm::exp(0.95)).abs() < 1e-12, "{}", cushion.get());
    }

    #[test]
    fn without_a_target_the_cushion_is_constant() {
        let mut cushion = CushionFactor::new(0.0);
        (0..100).for_each(|tick| cushion.on_arrival(Time::from_secs(f64::from(tick)), &relay(9000, 0), SPAN));
        assert_eq!(cushion.get(), 1.0);
    }

    proptest! {
        /// Whatever arrives: from any time at which the factor is one to any later one at which it has not been one in
        /// between, the time without data is at most the target share.
        #[test]
        fn below_its_limit_the_cushion_bounds_the_time_without_data(
            target in 0.01..0.3_f64,
            arrivals in prop::collection::vec((1_u64..200, any::<bool>(), 0.0..1.0_f64), 1..400),
        ) {
            let (mut cushion, mut now) = (CushionFactor::new(target), Time::ZERO);
            cushion.on_arrival(now, &relay(0, 0), SPAN);
            let (mut idle, mut elapsed) = (0.0, 0.0);
            for (gap, is_empty, chance) in arrivals {
                let gap = Span::from_millis(gap);
                now += gap;
                // Mostly in use, so that the factor is often below one.
                let lacks = is_empty && chance < 4.0 * target;
                cushion.on_arrival(now, &if lacks { relay(0, 0) } else { relay(3000, 0) }, SPAN);
                let counted = gap.min(SPAN).secs();
                elapsed += counted;
                idle += if lacks { counted } else { 0.0 };
                if cushion.get() == 1.0 {
                    (idle, elapsed) = (0.0, 0.0);
                }
                prop_assert!(idle <= target * elapsed + 1e-9, "{idle} of {elapsed} s");
            }
        }
    }
}
