//! The schedulers of the two queues (RFC 9332, section 4.2.2 and appendix A).

use super::params::{Params, SchedulerKind};
use millpond_law::{LinkFacts, Queues, Scheduler};
use millpond_units::{Bytes, Span};

/// Number of the low-latency queue: ECT(1) and CE.
pub(super) const LOW_LATENCY: u32 = 0;
/// Number of the classic queue: Not-ECT and ECT(0).
pub(super) const CLASSIC: u32 = 1;

/// Selects the low-latency or the classic queue.
pub(super) enum DualScheduler {
    WeightedRoundRobin(WeightedRoundRobin),
    TimeShiftedFifo(Span),
}

impl DualScheduler {
    pub(super) fn new(params: &Params, facts: &LinkFacts) -> Self {
        match params.scheduler {
            SchedulerKind::WeightedRoundRobin => {
                Self::WeightedRoundRobin(WeightedRoundRobin::new(params.classic_weight, facts.packet))
            }
            SchedulerKind::TimeShiftedFifo => Self::TimeShiftedFifo(params.time_shift),
        }
    }
}

/// Weighted round robin by bytes. The credit changes only while both queues have packets.
pub(super) struct WeightedRoundRobin {
    classic_weight: f64,
    /// Bytes of service that the classic queue is owed; the low-latency queue is served if it is not positive.
    credit: f64,
    /// The credit of an idle link.
    initial: f64,
}

impl WeightedRoundRobin {
    fn new(classic_weight: f64, packet: Bytes) -> Self {
        let initial = packet.as_f64() * (2.0 * classic_weight - 1.0);
        Self { classic_weight, credit: initial, initial }
    }

    fn served(&mut self, queue: u32, bytes: Bytes, queues: &dyn Queues) {
        let [low_latency, classic] = [LOW_LATENCY, CLASSIC].map(|queue| queues.packets(queue) > 0);
        if queue == LOW_LATENCY && classic {
            self.credit += self.classic_weight * bytes.as_f64();
        } else if queue == CLASSIC && low_latency {
            self.credit -= (1.0 - self.classic_weight) * bytes.as_f64();
        } else if !classic && !low_latency {
            self.credit = self.initial;
        }
    }
}

impl Scheduler for DualScheduler {
    fn arrived(&mut self, _queue: u32) {}

    fn next(&mut self, queues: &dyn Queues) -> Option<u32> {
        match [LOW_LATENCY, CLASSIC].map(|queue| queues.packets(queue) > 0) {
            [false, false] => return None,
            [true, false] => return Some(LOW_LATENCY),
            [false, true] => return Some(CLASSIC),
            [true, true] => {}
        }
        let is_low_latency = match self {
            Self::WeightedRoundRobin(round) => round.credit <= 0.0,
            Self::TimeShiftedFifo(shift) => {
                queues.head_sojourn(LOW_LATENCY) + *shift >= queues.head_sojourn(CLASSIC)
            }
        };
        Some(if is_low_latency { LOW_LATENCY } else { CLASSIC })
    }

    fn served(&mut self, queue: u32, bytes: Bytes, queues: &dyn Queues) {
        if let Self::WeightedRoundRobin(round) = self {
            round.served(queue, bytes, queues);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets and sojourn time of the head of each queue.
    struct Heads([(u64, Span); 2]);

    impl Queues for Heads {
        fn count(&self) -> u32 {
            2
        }

        fn packets(&self, queue: u32) -> u64 {
            self.0[queue as usize].0
        }

        fn bytes(&self, queue: u32) -> Bytes {
            Bytes::new(1000 * self.packets(queue))
        }

        fn head_bytes(&self, _queue: u32) -> Bytes {
            Bytes::new(1000)
        }

        fn head_sojourn(&self, queue: u32) -> Span {
            self.0[queue as usize].1
        }
    }

    const BUSY: Heads = Heads([(9, Span::ZERO), (9, Span::ZERO)]);

    fn wrr() -> DualScheduler {
        DualScheduler::WeightedRoundRobin(WeightedRoundRobin::new(1.0 / 16.0, Bytes::new(1000)))
    }

    #[test]
    fn the_classic_queue_gets_one_sixteenth_while_both_are_busy() {
        let mut scheduler = wrr();
        let mut classic = 0;
        for _ in 0..16_000 {
            let queue = scheduler.next(&BUSY).unwrap();
            classic += u32::from(queue == CLASSIC);
            scheduler.served(queue, Bytes::new(1000), &BUSY);
        }
        assert!((999..=1001).contains(&classic), "{classic}");
    }

    #[test]
    fn a_lone_queue_is_served_and_costs_no_credit() {
        let mut scheduler = wrr();
        let lone = Heads([(0, Span::ZERO), (9, Span::ZERO)]);
        for _ in 0..100 {
            assert_eq!(scheduler.next(&lone), Some(CLASSIC));
            scheduler.served(CLASSIC, Bytes::new(1000), &lone);
        }
        assert_eq!(scheduler.next(&BUSY), Some(LOW_LATENCY));
    }

    #[test]
    fn the_time_shifted_fifo_serves_the_classic_head_only_after_the_shift() {
        let mut scheduler = DualScheduler::TimeShiftedFifo(Span::from_millis(50));
        let heads = |low_latency, classic| {
            Heads([(1, Span::from_millis(low_latency)), (1, Span::from_millis(classic))])
        };
        assert_eq!(scheduler.next(&heads(0, 50)), Some(LOW_LATENCY));
        assert_eq!(scheduler.next(&heads(0, 51)), Some(CLASSIC));
        assert_eq!(scheduler.next(&heads(5, 51)), Some(LOW_LATENCY));
    }
}
