//! Timers of a sender: loss detection, probes, persistent congestion, the law.

use super::SenderEnd;
use millpond_law::{Cause, Context, Episode, LimitedBy, Probes};
use millpond_units::{Bytes, Span, Time};

impl SenderEnd {
    /// Handles all timers that have expired at `now`. Calling it early has no effect.
    pub fn on_deadline(&mut self, now: Time) {
        if !self.started || self.only_pace_is_due(now) {
            return;
        }
        self.run_law_timer(now);
        if self.loss.due() <= now {
            let prior_in_flight = self.sent.in_flight();
            let lost = self.detect_losses(now);
            self.notify_loss(now, &lost, prior_in_flight);
        }
        if self.probe_due() <= now {
            self.on_probe_timeout(now);
        }
        if self.persistent_congestion_due() <= now {
            self.on_persistent_congestion_due(now);
        }
        self.update_permit(now);
        self.observe_state(now);
    }

    /// When [`Self::on_deadline`] must be called and [`Self::transmit`] polled, unless another event comes first;
    /// [`Time::NEVER`] if no timer is set.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.only_timeouts_run() {
            match self.blocked {
                LimitedBy::Window => {
                    let least = self.least_probe_timeout();
                    let probe = self.timeouts.probe_due(&self.rtt, least);
                    return probe.min(self.timeouts.persistent_congestion_due(&self.rtt, least));
                }
                LimitedBy::Pace => {
                    let paced = self.paced_until();
                    if self.timeouts.wait_until(paced, &self.rtt) {
                        return paced;
                    }
                }
                _ => {}
            }
        }
        self.earliest_deadline()
    }

    /// True if [`Self::deadline`] is not before `time`, by a comparison that takes less time. False says nothing.
    #[inline]
    pub fn waits_until(&self, time: Time) -> bool {
        let blocked_until = match self.blocked {
            LimitedBy::Window => Time::NEVER,
            LimitedBy::Pace => self.paced_until(),
            _ => return false,
        };
        blocked_until >= time && self.only_timeouts_run() && self.timeouts.wait_until(time, &self.rtt)
    }

    /// True in the usual case: packets are in flight, none of them older than an acknowledged one, and the law has no timer.
    /// Apart from a pacer, only timeouts then have deadlines.
    #[inline]
    fn only_timeouts_run(&self) -> bool {
        self.permit.wake.is_none() && self.loss.due() == Time::NEVER && self.sent.in_flight() > Bytes::ZERO
    }

    /// True if no timer has expired, except that the pacer may permit a packet. False says nothing.
    #[inline]
    fn only_pace_is_due(&self, now: Time) -> bool {
        self.blocked == LimitedBy::Pace
            && self.only_timeouts_run()
            && self.timeouts.wait_until(now + Span::from_picos(1), &self.rtt)
    }

    /// The earliest of all deadlines.
    #[inline(never)]
    fn earliest_deadline(&self) -> Time {
        let paced = if self.blocked == LimitedBy::Pace { self.paced_until() } else { Time::NEVER };
        paced
            .min(self.law_timer_due())
            .min(self.loss.due())
            .min(self.probe_due())
            .min(self.persistent_congestion_due())
    }

    /// When the pacer permits a packet, or one without data must leave.
    #[inline]
    fn paced_until(&self) -> Time {
        self.ledger.pace_release().min(self.reference_due())
    }

    /// When a packet without data must leave, because the pacer delays the data for longer than the law permits.
    #[inline]
    pub(super) fn reference_due(&self) -> Time {
        let last_sent_at = self.timeouts.last_sent_at();
        let due = |span: Span| last_sent_at + span.max(self.config.granularity);
        self.permit.feedback_within.map_or(Time::NEVER, due)
    }

    /// Calls the timer of the law if it has expired; once for each time that the law requests.
    fn run_law_timer(&mut self, now: Time) {
        if self.law_timer_due() <= now {
            self.last_wake = self.permit.wake;
            self.law.on_timer(&mut Context { now, random: &mut self.random });
            self.update_permit(now);
        }
    }

    /// Requests probes. If packets are in flight, the law receives a timeout.
    fn on_probe_timeout(&mut self, now: Time) {
        if self.sent.in_flight() == Bytes::ZERO {
            self.probes_wanted = 1;
            self.timeouts.on_credit_probe();
            return;
        }
        self.probes_wanted = match self.permit.probes {
            Probes::Data => self.config.probes_per_timeout,
            Probes::Empty(_) => 1,
        };
        self.counters.probe_timeouts += 1;
        let episode = if self.timeouts.on_timeout() { Episode::New } else { Episode::Same };
        self.notify_congestion(now, Cause::Timeout, episode, Bytes::ZERO, self.sent.in_flight());
    }

    /// Declares persistent congestion: only probes leave until the next acknowledgement. Losses found then belong to
    /// this episode. Before the first RTT sample the sender stops as well, but that is no persistent congestion (RFC 9002, section
    /// 7.6.2): the time depends on the initial RTT, of which the path says nothing.
    fn on_persistent_congestion_due(&mut self, now: Time) {
        self.timeouts.on_persistent_congestion();
        if !self.rtt.is_known() {
            return;
        }
        self.counters.persistent_congestions += 1;
        self.notify_congestion(now, Cause::NoFeedback, Episode::New, Bytes::ZERO, self.sent.in_flight());
    }

    #[inline]
    fn least_probe_timeout(&self) -> Span {
        self.permit.probes.least_timeout()
    }

    #[inline]
    fn law_timer_due(&self) -> Time {
        self.permit.wake.filter(|wake| Some(*wake) > self.last_wake).unwrap_or(Time::NEVER)
    }

    /// Probe timeout for packets in flight, which is not set while the loss timer runs (RFC 9002, section 6.2.1). If
    /// nothing is in flight and credit is missing, a probe asks for credit.
    #[inline]
    fn probe_due(&self) -> Time {
        if self.sent.in_flight() > Bytes::ZERO {
            let (timed, least) = (self.loss.due() != Time::NEVER, self.least_probe_timeout());
            return if timed { Time::NEVER } else { self.timeouts.probe_due(&self.rtt, least) };
        }
        if self.blocked == LimitedBy::Credit {
            self.timeouts.credit_probe_due(&self.rtt)
        } else {
            Time::NEVER
        }
    }

    #[inline]
    fn persistent_congestion_due(&self) -> Time {
        if self.sent.in_flight() == Bytes::ZERO {
            return Time::NEVER;
        }
        self.timeouts.persistent_congestion_due(&self.rtt, self.least_probe_timeout())
    }
}

#[cfg(test)]
impl SenderEnd {
    /// The short forms agree with the earliest of all deadlines.
    pub(super) fn check_deadline(&self) {
        let deadline = self.earliest_deadline();
        assert_eq!(self.deadline(), deadline);
        assert!(deadline == Time::NEVER || !self.waits_until(deadline + Span::from_picos(1)));
    }
}
