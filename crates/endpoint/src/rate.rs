//! Delivery-rate samples: draft-cheng-iccrg-delivery-rate-estimation-02; per-packet state of draft-ietf-ccwg-bbr, section 4.1.2.

use millpond_units::{Bytes, Span, Time};

/// State of the sender when a packet was sent, stored with the packet if the law needs samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SendStamp {
    /// When bytes had last been delivered (P.delivered_time).
    pub delivered_at: Time,
    /// When the packet was sent that starts the send interval (P.first_send_time).
    pub first_sent_at: Time,
    /// Bytes in flight just after it was sent (P.tx_in_flight).
    pub in_flight: Bytes,
    /// All bytes declared lost at that time (P.lost).
    pub lost: Bytes,
}

/// The delivery-rate estimator.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryRate {
    delivered: Bytes,
    delivered_at: Time,
    first_sent_at: Time,
    /// The sender counts as application-limited until this much is delivered.
    app_limited_until: Bytes,
}

impl DeliveryRate {
    /// All bytes delivered so far, counted on the wire.
    #[inline]
    pub(crate) fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// True if packets sent now count as application-limited.
    #[inline]
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until > Bytes::ZERO
    }

    /// Marks the sender as application-limited with `in_flight` bytes in flight (section 3.4).
    pub(crate) fn on_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_until = (self.delivered + in_flight).max(Bytes::new(1));
    }

    /// Counts bytes that were delivered.
    #[inline]
    pub(crate) fn on_delivered(&mut self, bytes: Bytes) {
        self.delivered += bytes;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = Bytes::ZERO;
        }
    }

    /// The state to store with a packet that leaves now (section 3.2); `idle`: nothing was in flight. `in_flight` counts the packet.
    #[inline]
    pub(crate) fn stamp(&mut self, now: Time, idle: bool, in_flight: Bytes, lost: Bytes) -> SendStamp {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendStamp { delivered_at: self.delivered_at, first_sent_at: self.first_sent_at, in_flight, lost }
    }

    /// Length of the sampling interval that ends with an acknowledgement, the newest packet of which was sent at `sent_at`
    /// with `stamp` (section 3.3). Zero if the sample is not valid. `measured`: the time from one time to another by the sender's
    /// clock.
    #[inline]
    pub(crate) fn sample_span(
        &mut self,
        now: Time,
        sent_at: Time,
        stamp: &SendStamp,
        min_rtt: Span,
        measured: impl Fn(Time, Time) -> Span,
    ) -> Span {
        self.delivered_at = now;
        self.first_sent_at = sent_at;
        let sending = measured(stamp.first_sent_at, sent_at);
        let acknowledging = measured(stamp.delivered_at, now);
        let span = sending.max(acknowledging);
        if span < min_rtt { Span::ZERO } else { span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1000);
    const MS: fn(u64) -> Span = Span::from_millis;

    fn at(millis: u64) -> Time {
        Time::ZERO + MS(millis)
    }

    /// A packet in flight: when it was sent, bytes delivered at that time, and its stamp.
    type Sent = (Time, Bytes, SendStamp);

    fn send(rate: &mut DeliveryRate, ms: u64, idle: bool) -> Sent {
        (at(ms), rate.delivered(), rate.stamp(at(ms), idle, PACKET, Bytes::ZERO))
    }

    /// Acknowledges a packet; returns bytes and span of the sample.
    fn acknowledge(rate: &mut DeliveryRate, ms: u64, sent: &Sent) -> (Bytes, Span) {
        rate.on_delivered(PACKET);
        let span = rate.sample_span(at(ms), sent.0, &sent.2, MS(10), |start, end| end.since(start));
        (rate.delivered() - sent.1, span)
    }

    #[test]
    fn samples_on_a_steady_path_are_its_rate() {
        // A packet each ms, acknowledged 10 ms later: 8 Mbit/s from the second round trip on.
        let (mut rate, mut packets) = (DeliveryRate::default(), Vec::new());
        for ms in 0..50 {
            if let Some(sent) = (ms as usize).checked_sub(10) {
                let (bytes, span) = acknowledge(&mut rate, ms, &packets[sent]);
                if sent >= 10 {
                    assert_eq!(bytes.per(span).bps(), 8_000_000);
                }
            }
            packets.push(send(&mut rate, ms, ms == 0));
        }
    }

    #[test]
    fn compressed_acks_do_not_raise_the_sample_above_the_send_rate() {
        // A packet each ms. The first ten are acknowledged after 10 ms; the eleventh at 28 ms; all others at 39 ms.
        let acked_at =
            |number: u64| if number < 10 { number + 10 } else { if number == 10 { 28 } else { 39 } };
        let (mut rate, mut packets, mut last) =
            (DeliveryRate::default(), Vec::new(), (Bytes::ZERO, Span::ZERO));
        for ms in 0..40 {
            for number in (0..30).filter(|number| acked_at(*number) == ms) {
                last = acknowledge(&mut rate, ms, &packets[number as usize]);
            }
            if ms < 30 {
                packets.push(send(&mut rate, ms, ms == 0));
            }
        }
        // 19 packets arrive within 11 ms of the eleventh, but they took 19 ms to leave.
        assert_eq!(last, (PACKET * 19, MS(19)));
    }

    #[test]
    fn a_sample_shorter_than_the_minimum_rtt_is_not_valid() {
        let mut rate = DeliveryRate::default();
        let sent = send(&mut rate, 0, true);
        assert_eq!(acknowledge(&mut rate, 5, &sent).1, Span::ZERO);
    }

    /// Section 3.2: a packet that leaves after an idle period begins the intervals of sending and of acknowledgement.
    #[test]
    fn an_idle_period_is_no_part_of_a_sample() {
        let mut rate = DeliveryRate::default();
        let first = send(&mut rate, 0, true);
        acknowledge(&mut rate, 10, &first);
        let after_idle = send(&mut rate, 1000, true);
        assert_eq!(acknowledge(&mut rate, 1010, &after_idle), (PACKET, MS(10)));
    }

    #[test]
    fn the_application_limited_phase_ends_when_all_data_in_flight_is_delivered() {
        let mut rate = DeliveryRate::default();
        assert!(!rate.is_app_limited());
        rate.on_app_limited(PACKET);
        assert!(rate.is_app_limited());
        rate.on_delivered(PACKET);
        assert!(rate.is_app_limited());
        rate.on_delivered(PACKET);
        assert!(!rate.is_app_limited());
    }
}
