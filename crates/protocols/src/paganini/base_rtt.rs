//! A sender's estimate of its base round-trip time, and periodic drains of the queue that correct it.
//!
//! A sender that joins at a standing queue overestimates its base round-trip time. With drains enabled, a sender that
//! has not measured its minimum for a given time briefly removes its own packets from the queue. All senders that
//! measure the shorter queue store the new sample at the same time, so their next drains coincide and empty the queue.

use millpond_units::{Span, Time};

/// A drain lasts for this time plus a round trip, so that drains of flows with different round trips overlap.
const DRAIN: Span = Span::from_millis(200);

/// The estimator's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BaseRttEstimator {
    /// None: the queue is never drained.
    every: Option<Span>,
    least: Option<Span>,
    seen: Time,
    drains_until: Option<Time>,
}

impl BaseRttEstimator {
    /// An estimator without samples; an `every` of zero disables drains.
    pub(super) fn new(every: Span) -> Self {
        let every = Some(every).filter(|every| !every.is_zero());
        Self { every, least: None, seen: Time::ZERO, drains_until: None }
    }

    /// Records a sample.
    pub(super) fn note(&mut self, now: Time, rtt: Span) {
        let is_old =
            self.drains_until.is_none() && self.every.is_some_and(|every| now.since(self.seen) > every);
        if is_old && self.least.is_some() {
            self.drains_until = Some(now + DRAIN + rtt);
        }
        if is_old || self.least.is_none_or(|least| rtt <= least) {
            (self.least, self.seen) = (Some(rtt), now);
        }
    }

    /// Whether the sender is to drain the queue now.
    pub(super) fn is_draining(&mut self, now: Time) -> bool {
        if self.drains_until.is_some_and(|end| now >= end) {
            (self.drains_until, self.seen) = (None, now);
        }
        self.drains_until.is_some()
    }

    /// The smallest round-trip time; none before the first sample.
    pub(super) fn least(&self) -> Option<Span> {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    const EMPTY: Span = Span::from_millis(40);
    const QUEUED: Span = Span::from_millis(70);

    #[test]
    fn without_drains_the_smallest_sample_is_kept() {
        let mut base = BaseRttEstimator::new(Span::ZERO);
        for (time, rtt) in [(0.0, QUEUED), (1.0, EMPTY), (1000.0, QUEUED)] {
            base.note(at(time), rtt);
            assert!(!base.is_draining(at(time)));
        }
        assert_eq!(base.least(), Some(EMPTY));
    }

    #[test]
    fn an_old_sample_is_replaced_during_a_drain() {
        let mut base = BaseRttEstimator::new(Span::from_millis(10_000));
        base.note(at(0.0), QUEUED);
        base.note(at(10.0), QUEUED + EMPTY);
        assert_eq!((base.is_draining(at(10.0)), base.least()), (false, Some(QUEUED)));
        base.note(at(10.1), QUEUED + EMPTY);
        assert_eq!((base.is_draining(at(10.1)), base.least()), (true, Some(QUEUED + EMPTY)));
        base.note(at(10.3), EMPTY);
        assert_eq!((base.is_draining(at(10.3)), base.least()), (true, Some(EMPTY)));
        // 200 ms and a round trip of 110 ms.
        assert!(base.is_draining(at(10.409)) && !base.is_draining(at(10.411)));
        // The time without the minimum is counted from the end of the drain.
        base.note(at(20.41), QUEUED);
        assert_eq!((base.is_draining(at(20.41)), base.least()), (false, Some(EMPTY)));
        base.note(at(20.42), QUEUED);
        assert!(base.is_draining(at(20.42)));
    }

    #[test]
    fn the_minimum_of_a_drain_is_kept_if_the_drain_is_longer_than_the_time_between_drains() {
        let mut base = BaseRttEstimator::new(Span::from_millis(100));
        for (time, rtt) in [(0.0, QUEUED), (0.11, QUEUED), (0.15, EMPTY), (0.3, QUEUED)] {
            base.note(at(time), rtt);
        }
        assert_eq!((base.is_draining(at(0.3)), base.least()), (true, Some(EMPTY)));
    }

    #[test]
    fn a_sender_that_measures_its_minimum_regularly_never_drains() {
        let mut base = BaseRttEstimator::new(Span::from_millis(10_000));
        for second in 0..100 {
            base.note(at(f64::from(second)), if second % 9 == 0 { EMPTY } else { QUEUED });
            assert!(!base.is_draining(at(f64::from(second))));
        }
    }
}
