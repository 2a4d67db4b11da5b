//! What a sender does when it hears nothing: probes (RFC 9002, section 6.2), and after a longer silence it stops
//! (section 7.6).

use crate::rtt::Rtt;
use millpond_units::{Span, Time};

/// Backoff stops at this many doublings of the probe timeout, so that a path that comes back is noticed.
const MOST_DOUBLINGS: u32 = 6;

/// When the sender last spoke and last heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeouts {
    spoke_at: Time,
    /// When it last heard, or spoke after having had nothing in flight.
    waiting_since: Time,
    timeouts: u32,
    /// Probes for credit since credit was last given.
    asked: u32,
    silent: bool,
}

impl Timeouts {
    /// A packet left; `idle`: nothing was in flight.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, idle: bool) {
        self.spoke_at = now;
        if idle {
            self.waiting_since = now;
        }
    }

    /// Something was newly acknowledged; returns whether that ends a silence that had lasted too long.
    #[inline]
    pub(crate) fn on_heard(&mut self, now: Time) -> bool {
        self.waiting_since = now;
        self.timeouts = 0;
        std::mem::take(&mut self.silent)
    }

    /// A probe timeout fired; returns whether it is the first since something was heard.
    pub(crate) fn on_timeout(&mut self) -> bool {
        self.timeouts += 1;
        self.timeouts == 1
    }

    /// A probe for credit goes out although nothing is in flight.
    pub(crate) fn on_asked(&mut self) {
        self.asked += 1;
    }

    /// The receiver gave more credit.
    #[inline]
    pub(crate) fn on_credit(&mut self) {
        self.asked = 0;
    }

    /// The silence has lasted too long.
    pub(crate) fn on_silence(&mut self) {
        self.silent = true;
    }

    /// Has the silence lasted too long?
    #[inline]
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }

    /// When the next probe is due.
    #[inline]
    pub(crate) fn probe_due(&self, rtt: &Rtt) -> Time {
        self.spoke_at + backed_off(rtt.probe_timeout(), self.timeouts)
    }

    /// When to ask for credit. Answers that give none do not make it ask more often (RFC 9293, section 3.8.6.1).
    pub(crate) fn ask_due(&self, rtt: &Rtt) -> Time {
        self.spoke_at + backed_off(rtt.probe_timeout(), self.asked)
    }

    /// When the silence will have lasted too long.
    ///
    /// RFC 9002 establishes this from the packets declared lost once an acknowledgement arrives; here the sender
    /// does not wait for one, so that a law without a window is stopped as well.
    #[inline]
    pub(crate) fn silence_due(&self, rtt: &Rtt) -> Time {
        if self.silent { Time::NEVER } else { self.waiting_since + rtt.silence() }
    }
}

fn backed_off(timeout: Span, doublings: u32) -> Span {
    timeout * (1 << doublings.min(MOST_DOUBLINGS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timeout_doubles_the_next_until_something_is_heard() {
        let rtt = Rtt::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let timeout = rtt.probe_timeout();
        let mut timeouts = Timeouts::default();
        timeouts.on_sent(Time::ZERO, true);
        for doubling in [1, 2, 4, 8, 16, 32, 64, 64, 64] {
            assert_eq!(timeouts.probe_due(&rtt), Time::ZERO + timeout * doubling);
            assert_eq!(timeouts.on_timeout(), doubling == 1);
        }
        timeouts.on_heard(Time::from_secs(9.0));
        assert_eq!(timeouts.probe_due(&rtt), Time::ZERO + timeout);
    }

    #[test]
    fn asking_for_credit_backs_off_until_there_is_some_whatever_else_is_heard() {
        let rtt = Rtt::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let mut timeouts = Timeouts::default();
        for doubling in [1, 2, 4] {
            assert_eq!(timeouts.ask_due(&rtt), Time::ZERO + rtt.probe_timeout() * doubling);
            timeouts.on_asked();
            timeouts.on_heard(Time::ZERO);
        }
        timeouts.on_credit();
        assert_eq!(timeouts.ask_due(&rtt), Time::ZERO + rtt.probe_timeout());
    }

    #[test]
    fn silence_is_counted_from_the_last_word_heard_however_much_is_said() {
        let rtt = Rtt::new(Span::from_millis(100), Span::from_millis(1), Span::ZERO);
        let mut timeouts = Timeouts::default();
        let start = Time::from_secs(5.0);
        timeouts.on_sent(start, true);
        timeouts.on_sent(Time::from_secs(5.2), false);
        assert_eq!(timeouts.silence_due(&rtt), start + rtt.probe_timeout() * 3);
        timeouts.on_silence();
        assert!(timeouts.is_silent() && timeouts.silence_due(&rtt) == Time::NEVER);
        assert!(timeouts.on_heard(Time::from_secs(6.0)) && !timeouts.on_heard(Time::from_secs(6.0)));
        assert!(!timeouts.is_silent());
        assert_eq!(timeouts.silence_due(&rtt), Time::from_secs(6.0) + rtt.silence());
    }
}
