//! When rate messages are sent, and which of the received ones count.

use crate::message::{RateMessage, Report};
use millpond_endpoint::Marks;
use millpond_units::{Span, Time};

/// The longest time between two messages.
const LONGEST: Span = Span::from_millis(50);
/// The shortest interval of messages that are due by time.
const SHORTEST: Span = Span::from_millis(1);
/// A value expires when no newer one has come for this long: four messages at the longest interval.
const EXPIRY: Span = Span::from_millis(200);

/// The rate messages that this node sends over one connection.
#[derive(Clone, Copy, Debug)]
pub struct Outbox {
    sequence: u64,
    sent_at: Time,
    last: Report,
    /// Data packets have come since the last message.
    has_data: bool,
}

impl Outbox {
    /// No message has been sent; the first is due at once.
    pub fn new() -> Self {
        Self { sequence: 0, sent_at: Time::ZERO, last: Report::default(), has_data: true }
    }

    /// A quarter of the RTT, within bounds. A changed value waits for half of it, so that the feedback is at most an eighth of
    /// the RTT older than it must be. A message is a packet that the neighbour acknowledges: shorter intervals fill both
    /// directions of the link and make neither rates nor queues better (section Rate messages of `docs/node.md`).
    fn interval(rtt: Span) -> Span {
        (rtt / 4).clamp(SHORTEST, LONGEST)
    }

    /// A data packet has come.
    pub fn on_data(&mut self) {
        self.has_data = true;
    }

    /// When the next message must be sent at the latest: a quarter of the RTT after the last one while data arrives, and
    /// [`LONGEST`] otherwise.
    pub fn deadline(&self, rtt: Span) -> Time {
        if self.sequence == 0 {
            return Time::ZERO;
        }
        self.sent_at + if self.has_data { Self::interval(rtt) } else { LONGEST }
    }

    /// Whether a message may be due, which its echo decides. A changed echo counts only while data arrives, because only then
    /// does the sender use it; with the first data it is due at once. A changed value waits for an eighth of the RTT.
    pub fn may_be_due(&self, now: Time, rtt: Span, marks: Marks, ended: u64) -> bool {
        let may_have_changed = self.has_data || self.last.marks != marks || self.last.ended != ended;
        let may_change_at = self.sent_at + Self::interval(rtt) / 2;
        now >= self.deadline(rtt) || may_have_changed && now >= may_change_at
    }

    /// Whether a message with these values is to be sent now.
    pub fn is_due(&self, now: Time, rtt: Span, report: &Report) -> bool {
        self.may_be_due(now, rtt, report.marks, report.ended)
            && (now >= self.deadline(rtt) || self.last != *report)
    }

    /// The next message.
    pub fn next(&mut self, now: Time, report: Report) -> RateMessage {
        self.sequence += 1;
        (self.sent_at, self.last, self.has_data) = (now, report, false);
        RateMessage { sequence: self.sequence, report }
    }

    /// Number of messages sent.
    pub fn sent(&self) -> u64 {
        self.sequence
    }
}

impl Default for Outbox {
    fn default() -> Self {
        Self::new()
    }
}

/// The rate messages that came over one connection.
#[derive(Clone, Copy, Debug)]
pub struct Inbox {
    newest: u64,
    received: u64,
    received_at: Time,
}

impl Inbox {
    /// No message has come since `now`.
    pub fn new(now: Time) -> Self {
        Self { newest: 0, received: 0, received_at: now }
    }

    /// Whether this message counts: the newest wins.
    pub fn accepts(&mut self, now: Time, message: &RateMessage) -> bool {
        if message.sequence <= self.newest {
            return false;
        }
        (self.newest, self.received_at) = (message.sequence, now);
        self.received += 1;
        true
    }

    /// When the last value expires.
    pub fn expires_at(&self) -> Time {
        self.received_at + EXPIRY
    }

    /// Number of messages that counted.
    pub fn received(&self) -> u64 {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::{Header, HeaderId};

    /// A report with another echo than that of the default.
    fn changed() -> Report {
        Report { echo: Header::new(HeaderId(7), &[1]), ..Report::default() }
    }

    const RTT: Span = Span::from_millis(20);
    const MS: fn(u64) -> Time = |ms| Time::ZERO + Span::from_millis(ms);

    #[test]
    fn a_message_is_sent_each_quarter_of_the_rtt_and_earlier_if_the_value_changes() {
        let (mut outbox, none) = (Outbox::new(), Report::default());
        assert!(outbox.is_due(MS(0), RTT, &none), "the first at once");
        outbox.next(MS(0), none);
        outbox.on_data();
        assert!(!outbox.is_due(MS(4), RTT, &none));
        assert!(outbox.is_due(MS(5), RTT, &none));
        let other = changed();
        assert!(!outbox.is_due(MS(2), RTT, &other));
        assert!(outbox.is_due(MS(3), RTT, &other));
        let marks = Marks { packets: 1, ..Marks::default() };
        assert!(outbox.is_due(MS(3), RTT, &Report { marks, ..none }));
        assert!(outbox.is_due(MS(3), RTT, &Report { ended: 1, ..none }));
    }

    #[test]
    fn without_data_a_message_is_sent_each_50_ms() {
        let (mut outbox, none) = (Outbox::new(), Report::default());
        outbox.next(MS(10), none);
        assert_eq!(outbox.deadline(RTT), MS(60));
        outbox.on_data();
        assert_eq!(outbox.deadline(RTT), MS(15));
        assert_eq!(outbox.deadline(Span::from_millis(1000)), MS(60), "also where the RTT is long");
    }

    #[test]
    fn without_data_a_changed_rate_waits_for_the_first_data_and_marks_do_not() {
        let (mut outbox, none) = (Outbox::new(), Report::default());
        outbox.next(MS(0), none);
        let marks = Marks { packets: 1, ..Marks::default() };
        for report in [Report { marks, ..none }, Report { ended: 1, ..none }] {
            assert!(outbox.is_due(MS(3), RTT, &report));
        }
        let other = changed();
        assert!(!outbox.is_due(MS(49), RTT, &other) && outbox.is_due(MS(50), RTT, &other));
        outbox.on_data();
        assert!(outbox.is_due(MS(3), RTT, &other));
    }

    #[test]
    fn the_newest_message_wins_and_expires() {
        let mut inbox = Inbox::new(MS(0));
        let message = |sequence| RateMessage { sequence, report: Report::default() };
        assert!(inbox.accepts(MS(10), &message(3)));
        assert!(!inbox.accepts(MS(20), &message(2)), "a message that was overtaken");
        assert!(!inbox.accepts(MS(20), &message(3)), "a duplicate");
        assert_eq!(inbox.expires_at(), MS(210));
        assert!(inbox.accepts(MS(30), &message(4)));
        assert_eq!((inbox.expires_at(), inbox.received()), (MS(230), 2));
    }
}
