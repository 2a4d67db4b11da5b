//! Delivery-rate samples: draft-cheng-iccrg-delivery-rate-estimation-02.

use millpond_units::{Bytes, Span, Time};

/// State of the estimator, stored with each packet when it is sent (section 3.2 of the draft).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RateState {
    /// All bytes delivered at that time (P.delivered).
    pub(crate) delivered: Bytes,
    /// When they had been delivered (P.delivered_time).
    pub(crate) delivered_at: Time,
    /// When the packet was sent that starts the send interval (P.first_sent_time).
    pub(crate) first_sent_at: Time,
    /// True if the sender lacked data (P.is_app_limited).
    pub(crate) app_limited: bool,
}

/// A rate sample: the data delivered between the departure of a packet and its acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RateSample {
    /// All bytes delivered when the packet was sent.
    pub(crate) prior_delivered: Bytes,
    /// Length of the sampling interval; zero if the sample is not valid.
    pub(crate) span: Span,
    /// True if the sender lacked data when the packet was sent.
    pub(crate) app_limited: bool,
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

    /// The state to store with a packet that is sent now; `idle`: nothing is in flight.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, idle: bool) -> RateState {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        RateState {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited_until > Bytes::ZERO,
        }
    }

    /// Marks the sender as application-limited with `in_flight` bytes in flight (section 3.4).
    pub(crate) fn on_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_until = (self.delivered + in_flight).max(Bytes::new(1));
    }

    /// The rate sample of an acknowledgement of `bytes`, the newest packet of which was sent at `sent_at` with
    /// `rate_state` (section 3.3).
    #[inline]
    pub(crate) fn on_delivered(
        &mut self,
        now: Time,
        bytes: Bytes,
        sent_at: Time,
        rate_state: &RateState,
        min_rtt: Span,
    ) -> RateSample {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent_at = sent_at;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = Bytes::ZERO;
        }
        let sending = sent_at.since(rate_state.first_sent_at);
        let acknowledging = now.since(rate_state.delivered_at);
        let span = sending.max(acknowledging);
        let span = if span < min_rtt { Span::ZERO } else { span };
        RateSample { prior_delivered: rate_state.delivered, span, app_limited: rate_state.app_limited }
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

    #[test]
    fn samples_on_a_steady_path_are_its_rate() {
        // A packet each ms, acknowledged 10 ms later: 8 Mbit/s from the second round trip on.
        let mut rate = DeliveryRate::default();
        let mut rate_states = Vec::new();
        for ms in 0..50 {
            if let Some(sent) = (ms as usize).checked_sub(10) {
                let (sent_at, rate_state) = rate_states[sent];
                let sample = rate.on_delivered(at(ms), PACKET, sent_at, &rate_state, MS(10));
                if sent >= 10 {
                    let speed = (rate.delivered() - sample.prior_delivered).per(sample.span);
                    assert_eq!(speed.bps(), 8_000_000);
                }
            }
            rate_states.push((at(ms), rate.on_sent(at(ms), ms == 0)));
        }
    }

    #[test]
    fn compressed_acks_do_not_raise_the_sample_above_the_send_rate() {
        // A packet each ms. The first ten are acknowledged after 10 ms; the eleventh at 28 ms; all others at 39 ms.
        let acked_at =
            |number: u64| if number < 10 { number + 10 } else { if number == 10 { 28 } else { 39 } };
        let (mut rate, mut rate_states, mut last) =
            (DeliveryRate::default(), Vec::new(), RateSample::default());
        for ms in 0..40 {
            for number in (0..30).filter(|number| acked_at(*number) == ms) {
                last = rate.on_delivered(at(ms), PACKET, at(number), &rate_states[number as usize], MS(10));
            }
            if ms < 30 {
                rate_states.push(rate.on_sent(at(ms), ms == 0));
            }
        }
        // 19 packets arrive within 11 ms of the eleventh, but they took 19 ms to leave.
        assert_eq!(rate.delivered() - last.prior_delivered, PACKET * 19);
        assert_eq!(last.span, MS(19));
    }

    #[test]
    fn a_sample_shorter_than_the_minimum_rtt_is_not_valid() {
        let mut rate = DeliveryRate::default();
        let rate_state = rate.on_sent(at(0), true);
        assert_eq!(rate.on_delivered(at(5), PACKET, at(0), &rate_state, MS(10)).span, Span::ZERO);
    }

    #[test]
    fn the_application_limited_phase_ends_when_all_data_in_flight_is_delivered() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), true);
        rate.on_app_limited(PACKET);
        let second = rate.on_sent(at(1), false);
        assert!(!first.app_limited && second.app_limited);
        rate.on_delivered(at(10), PACKET, at(0), &first, MS(10));
        assert!(rate.on_sent(at(10), false).app_limited);
        rate.on_delivered(at(11), PACKET, at(1), &second, MS(10));
        assert!(!rate.on_sent(at(11), false).app_limited);
    }
}
