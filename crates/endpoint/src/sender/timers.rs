//! What happens when time passes and nothing arrives.

use super::SenderEnd;
use crate::send_buffer::Stop;
use millpond_law::{Cause, Context, Episode};
use millpond_units::{Bytes, Time};

impl SenderEnd {
    /// The time of [`Self::deadline`] has come (or any time: what is not due does not happen).
    pub fn on_deadline(&mut self, now: Time) {
        if !self.started {
            return;
        }
        self.wake_law(now);
        if self.loss.due() <= now {
            let prior_in_flight = self.sent.in_flight();
            let lost = self.lose_overdue(now);
            self.report_loss(now, &lost, prior_in_flight);
        }
        if self.probe_due() <= now {
            self.on_probe_timeout(now);
        }
        if self.silence_due() <= now {
            self.on_silence(now);
        }
        self.ask_law(now);
    }

    /// When [`Self::on_deadline`] is to be called, and [`Self::transmit`] polled, if nothing happens before;
    /// [`Time::NEVER`] if there is no such time.
    #[inline]
    pub fn deadline(&self) -> Time {
        let paced = if self.stop == Stop::Pace { self.pacer.release() } else { Time::NEVER };
        paced.min(self.wake_due()).min(self.loss.due()).min(self.probe_due()).min(self.silence_due())
    }

    /// Wakes the law if its time has come; for one and the same time only once.
    fn wake_law(&mut self, now: Time) {
        if self.wake_due() <= now {
            self.woken_for = self.permit.wake;
            self.law.on_timer(&mut Context { now, random: &mut self.random });
            self.ask_law(now);
        }
    }

    /// A probe goes out; if something is in flight, the law hears of a timeout.
    fn on_probe_timeout(&mut self, now: Time) {
        self.probe_wanted = true;
        if self.sent.in_flight() == Bytes::ZERO {
            self.timeouts.on_asked();
            return;
        }
        self.counters.probe_timeouts += 1;
        let episode = if self.timeouts.on_timeout() { Episode::New } else { Episode::Same };
        self.report(now, Cause::Timeout, episode, Bytes::ZERO, self.sent.in_flight());
    }

    /// Only probes leave until something is heard; what is lost by then belongs to this episode.
    fn on_silence(&mut self, now: Time) {
        self.timeouts.on_silence();
        self.counters.silences += 1;
        self.report(now, Cause::NoFeedback, Episode::New, Bytes::ZERO, self.sent.in_flight());
    }

    #[inline]
    fn wake_due(&self) -> Time {
        self.permit.wake.filter(|wake| Some(*wake) > self.woken_for).unwrap_or(Time::NEVER)
    }

    /// A probe asks after what is in flight, but not while the loss timer runs (RFC 9002, section 6.2.1); if nothing
    /// is, it asks for credit.
    #[inline]
    fn probe_due(&self) -> Time {
        if self.sent.in_flight() > Bytes::ZERO {
            let timed = self.loss.due() != Time::NEVER;
            return if timed { Time::NEVER } else { self.timeouts.probe_due(&self.rtt) };
        }
        if self.stop == Stop::Credit { self.timeouts.ask_due(&self.rtt) } else { Time::NEVER }
    }

    #[inline]
    fn silence_due(&self) -> Time {
        let waits = self.sent.in_flight() > Bytes::ZERO;
        if waits { self.timeouts.silence_due(&self.rtt) } else { Time::NEVER }
    }
}
