//! Timeouts of a sender without feedback: probe timeout (RFC 9002, section 6.2) and persistent congestion (section
//! 7.6).

use crate::rtt::RttEstimator;
use core::ops::RangeInclusive;
use millpond_units::{Span, Time};

/// The state of the timeouts.
#[derive(Clone, Debug)]
pub(crate) struct Timeouts {
    /// Bounds of the time between two probes.
    bounds: RangeInclusive<Span>,
    last_sent_at: Time,
    /// Time of the last acknowledgement, or of the first packet sent after nothing was in flight.
    last_feedback_at: Time,
    probe_timeouts: u32,
    /// Probes for credit since the credit last grew.
    credit_probes: u32,
    persistent_congestion: bool,
}

impl Timeouts {
    /// Before the first packet; `bounds`: the shortest and the longest time between two probes.
    pub(crate) fn new(bounds: RangeInclusive<Span>) -> Self {
        Self {
            bounds,
            last_sent_at: Time::ZERO,
            last_feedback_at: Time::ZERO,
            probe_timeouts: 0,
            credit_probes: 0,
            persistent_congestion: false,
        }
    }

    /// When the last packet was sent; zero before the first.
    #[inline]
    pub(crate) fn last_sent_at(&self) -> Time {
        self.last_sent_at
    }

    /// Records that a packet is sent; `idle`: nothing was in flight.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, idle: bool) {
        self.last_sent_at = now;
        if idle {
            self.last_feedback_at = now;
        }
    }

    /// Records that packets were newly acknowledged. Returns true if the sender was stopped by [`Self::on_persistent_congestion`].
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time) -> bool {
        self.last_feedback_at = now;
        self.probe_timeouts = 0;
        core::mem::take(&mut self.persistent_congestion)
    }

    /// Records a probe timeout. Returns true if it is the first since the last acknowledgement.
    pub(crate) fn on_timeout(&mut self) -> bool {
        self.probe_timeouts += 1;
        self.probe_timeouts == 1
    }

    /// True if a probe timeout has expired since the last acknowledgement.
    pub(crate) fn has_expired(&self) -> bool {
        self.probe_timeouts > 0
    }

    /// Records a probe for credit while nothing is in flight.
    pub(crate) fn on_credit_probe(&mut self) {
        self.credit_probes += 1;
    }

    /// Records that the credit has grown.
    #[inline]
    pub(crate) fn on_credit(&mut self) {
        self.credit_probes = 0;
    }

    /// Records persistent congestion.
    pub(crate) fn on_persistent_congestion(&mut self) {
        self.persistent_congestion = true;
    }

    /// True in persistent congestion.
    #[inline]
    pub(crate) fn in_persistent_congestion(&self) -> bool {
        self.persistent_congestion
    }

    /// When the next probe is due: the probe timeout after the last packet, doubled for each probe since (RFC 9002,
    /// section 6.2.1), at most the configured maximum; `least`: the shortest one that the law permits.
    #[inline]
    pub(crate) fn probe_due(&self, rtt: &RttEstimator, least: Span) -> Time {
        self.last_sent_at + self.backed_off(rtt.probe_timeout().max(least), self.probe_timeouts)
    }

    /// When the next probe for credit is due. Acknowledgements that grant no credit do not reset the backoff (RFC 9293,
    /// section 3.8.6.1).
    pub(crate) fn credit_probe_due(&self, rtt: &RttEstimator) -> Time {
        self.last_sent_at + self.backed_off(rtt.probe_timeout(), self.credit_probes)
    }

    /// When persistent congestion will be declared.
    ///
    /// RFC 9002 establishes persistent congestion from lost packets when an acknowledgement arrives. Here it is declared
    /// without one, so that a law that only paces is stopped as well, also before the first RTT sample. `least`: the shortest
    /// probe timeout that the law permits.
    #[inline]
    pub(crate) fn persistent_congestion_due(&self, rtt: &RttEstimator, least: Span) -> Time {
        if self.persistent_congestion {
            Time::NEVER
        } else {
            self.last_feedback_at + rtt.persistent_congestion_duration(least.max(*self.bounds.start()))
        }
    }

    /// True if the next probe for packets in flight and persistent congestion are not due before `time`, with a lower bound of both:
    /// neither is due earlier than the probe timeout without backoff after the last packet or feedback.
    #[inline]
    pub(crate) fn wait_until(&self, time: Time, rtt: &RttEstimator) -> bool {
        let least = rtt.probe_timeout().min(*self.bounds.end());
        self.last_sent_at.min(self.last_feedback_at) + least >= time
    }

    #[inline]
    fn backed_off(&self, timeout: Span, doublings: u32) -> Span {
        let timeout = timeout.max(*self.bounds.start());
        if doublings == 0 {
            return timeout.min(*self.bounds.end());
        }
        let factor = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
        Span::from_picos(timeout.picos().saturating_mul(factor)).min(*self.bounds.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Span = Span::from_millis(60_000);

    #[test]
    fn the_bound_of_both_timeouts_is_not_later_than_either() {
        let bounds = Span::from_millis(50)..=Span::from_millis(400);
        for (initial, timeouts) in [(1, 0), (20, 0), (20, 3), (100, 1), (500, 0)] {
            let rtt = RttEstimator::new(Span::from_millis(initial), Span::from_millis(1), Span::ZERO);
            for (sent, feedback) in [(900, 950), (950, 900), (900, 100)] {
                let at = |millis| Time::ZERO + Span::from_millis(millis);
                let mut state = Timeouts::new(bounds.clone());
                state.on_sent(at(feedback), true);
                state.on_sent(at(sent), false);
                (0..timeouts).for_each(|_| assert!(state.on_timeout() || timeouts > 1));
                let due =
                    state.probe_due(&rtt, Span::ZERO).min(state.persistent_congestion_due(&rtt, Span::ZERO));
                assert!(!state.wait_until(due + Span::from_picos(1), &rtt), "{initial} {timeouts} {sent}");
                assert!(state.wait_until(at(sent.min(feedback)), &rtt), "{initial} {timeouts} {sent}");
            }
        }
    }

    #[test]
    fn each_probe_timeout_doubles_the_next_up_to_the_maximum_until_an_acknowledgement() {
        let rtt = RttEstimator::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let timeout = rtt.probe_timeout();
        let mut timeouts = Timeouts::new(Span::ZERO..=MAX);
        timeouts.on_sent(Time::ZERO, true);
        // The probe timeout is 300 ms: 256 of them are longer than a minute.
        for doubling in [1, 2, 4, 8, 16, 32, 64, 128] {
            assert_eq!(timeouts.probe_due(&rtt, Span::ZERO), Time::ZERO + timeout * doubling);
            assert_eq!(timeouts.on_timeout(), doubling == 1);
        }
        for _ in 0..100 {
            assert_eq!(timeouts.probe_due(&rtt, Span::ZERO), Time::ZERO + MAX);
            timeouts.on_timeout();
        }
        timeouts.on_ack(Time::from_secs(9.0));
        assert_eq!(timeouts.probe_due(&rtt, Span::ZERO), Time::ZERO + timeout);
    }

    #[test]
    fn a_shortest_probe_timeout_replaces_shorter_ones_and_doubles() {
        let rtt = RttEstimator::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let least = rtt.probe_timeout() * 4;
        let mut timeouts = Timeouts::new(least..=least * 3);
        timeouts.on_sent(Time::ZERO, true);
        for expected in [least, least * 2, least * 3, least * 3] {
            assert_eq!(timeouts.probe_due(&rtt, Span::ZERO), Time::ZERO + expected);
            timeouts.on_timeout();
        }
    }

    /// RFC 9002, section 7.6.1: the duration leaves time for as many probes as before an RTO of TCP.
    #[test]
    fn persistent_congestion_takes_three_of_the_shortest_probe_timeouts() {
        let rtt = RttEstimator::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let least = rtt.probe_timeout() * 4;
        let mut timeouts = Timeouts::new(least..=MAX);
        timeouts.on_sent(Time::ZERO, true);
        assert_eq!(timeouts.persistent_congestion_due(&rtt, Span::ZERO), Time::ZERO + least * 3);
    }

    #[test]
    fn the_shortest_probe_timeout_of_a_law_replaces_shorter_ones_only() {
        let rtt = RttEstimator::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let mut timeouts = Timeouts::new(Span::ZERO..=MAX);
        timeouts.on_sent(Time::ZERO, true);
        assert_eq!(timeouts.probe_due(&rtt, Span::from_millis(299)), Time::ZERO + Span::from_millis(300));
        assert_eq!(timeouts.probe_due(&rtt, Span::from_millis(500)), Time::ZERO + Span::from_millis(500));
        timeouts.on_timeout();
        assert_eq!(timeouts.probe_due(&rtt, Span::from_millis(500)), Time::ZERO + Span::from_millis(1000));
    }

    #[test]
    fn credit_probes_back_off_until_credit_grows_whatever_else_is_acknowledged() {
        let rtt = RttEstimator::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let mut timeouts = Timeouts::new(Span::ZERO..=MAX);
        for doubling in [1, 2, 4] {
            assert_eq!(timeouts.credit_probe_due(&rtt), Time::ZERO + rtt.probe_timeout() * doubling);
            timeouts.on_credit_probe();
            timeouts.on_ack(Time::ZERO);
        }
        timeouts.on_credit();
        assert_eq!(timeouts.credit_probe_due(&rtt), Time::ZERO + rtt.probe_timeout());
    }

    #[test]
    fn persistent_congestion_is_timed_from_the_last_feedback_whatever_is_sent() {
        let rtt = RttEstimator::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let mut timeouts = Timeouts::new(Span::ZERO..=MAX);
        let start = Time::from_secs(5.0);
        timeouts.on_sent(start, true);
        timeouts.on_sent(Time::from_secs(5.2), false);
        assert_eq!(timeouts.persistent_congestion_due(&rtt, Span::ZERO), start + rtt.probe_timeout() * 3);
        timeouts.on_persistent_congestion();
        assert!(
            timeouts.in_persistent_congestion()
                && timeouts.persistent_congestion_due(&rtt, Span::ZERO) == Time::NEVER
        );
        assert!(timeouts.on_ack(Time::from_secs(6.0)) && !timeouts.on_ack(Time::from_secs(6.0)));
        assert!(!timeouts.in_persistent_congestion());
        assert_eq!(
            timeouts.persistent_congestion_due(&rtt, Span::ZERO),
            Time::from_secs(6.0) + rtt.probe_timeout() * 3
        );
    }
}
