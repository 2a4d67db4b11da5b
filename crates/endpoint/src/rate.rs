//! Delivery-rate samples: draft-cheng-iccrg-delivery-rate-estimation-02.

use millpond_units::{Bytes, Span, Time};

/// What is noted with each packet when it leaves (section 3.2 of the draft).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stamp {
    /// All that had been delivered then.
    pub(crate) delivered: Bytes,
    /// When that had been delivered.
    pub(crate) delivered_at: Time,
    /// When the packet left that opened the interval over which sending is measured.
    pub(crate) first_sent_at: Time,
    /// Was the sender short of data then?
    pub(crate) app_limited: bool,
}

/// A sample: what was delivered between a packet's departure and its acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// All that had been delivered at its departure.
    pub(crate) prior_delivered: Bytes,
    /// How long the delivery since then took; zero if the sample is not valid.
    pub(crate) span: Span,
    /// Was the sender short of data at its departure?
    pub(crate) app_limited: bool,
}

/// Keeps count of what is delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryRate {
    delivered: Bytes,
    delivered_at: Time,
    first_sent_at: Time,
    /// The sender counts as short of data until this much is delivered.
    app_limited_until: Bytes,
}

impl DeliveryRate {
    /// All bytes delivered so far, on the wire.
    #[inline]
    pub(crate) fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// A packet leaves; `idle`: nothing was in flight.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, idle: bool) -> Stamp {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited_until > Bytes::ZERO,
        }
    }

    /// The sender has run short of data with this much in flight (section 3.4).
    pub(crate) fn on_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_until = (self.delivered + in_flight).max(Bytes::new(1));
    }

    /// An acknowledgement delivered `bytes`; the newest of its packets had left at `sent_at` with `stamp`
    /// (section 3.3).
    #[inline]
    pub(crate) fn on_delivered(
        &mut self,
        now: Time,
        bytes: Bytes,
        sent_at: Time,
        stamp: &Stamp,
        min_rtt: Span,
    ) -> Sample {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent_at = sent_at;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = Bytes::ZERO;
        }
        let sending = sent_at.since(stamp.first_sent_at);
        let acknowledging = now.since(stamp.delivered_at);
        let span = sending.max(acknowledging);
        let span = if span < min_rtt { Span::ZERO } else { span };
        Sample { prior_delivered: stamp.delivered, span, app_limited: stamp.app_limited }
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
    fn a_steady_pipe_yields_its_own_rate() {
        // A packet each ms, acknowledged 10 ms later: 8 Mbit/s from the second round on.
        let mut rate = DeliveryRate::default();
        let mut stamps = Vec::new();
        for ms in 0..50 {
            if let Some(sent) = (ms as usize).checked_sub(10) {
                let (sent_at, stamp) = stamps[sent];
                let sample = rate.on_delivered(at(ms), PACKET, sent_at, &stamp, MS(10));
                if sent >= 10 {
                    let speed = (rate.delivered() - sample.prior_delivered).per(sample.span);
                    assert_eq!(speed.bps(), 8_000_000);
                }
            }
            stamps.push((at(ms), rate.on_sent(at(ms), ms == 0)));
        }
    }

    #[test]
    fn compressed_acks_do_not_raise_the_rate_above_that_of_sending() {
        // A packet each ms. The first ten are acknowledged after 10 ms; the eleventh at 28 ms; all others at 39 ms.
        let acked_at =
            |number: u64| if number < 10 { number + 10 } else { if number == 10 { 28 } else { 39 } };
        let (mut rate, mut stamps, mut last) = (DeliveryRate::default(), Vec::new(), Sample::default());
        for ms in 0..40 {
            for number in (0..30).filter(|number| acked_at(*number) == ms) {
                last = rate.on_delivered(at(ms), PACKET, at(number), &stamps[number as usize], MS(10));
            }
            if ms < 30 {
                stamps.push(rate.on_sent(at(ms), ms == 0));
            }
        }
        // 19 packets arrive within 11 ms of the eleventh, but they took 19 ms to leave.
        assert_eq!(rate.delivered() - last.prior_delivered, PACKET * 19);
        assert_eq!(last.span, MS(19));
    }

    #[test]
    fn a_sample_shorter_than_the_least_rtt_is_not_valid() {
        let mut rate = DeliveryRate::default();
        let stamp = rate.on_sent(at(0), true);
        assert_eq!(rate.on_delivered(at(5), PACKET, at(0), &stamp, MS(10)).span, Span::ZERO);
    }

    #[test]
    fn short_of_data_lasts_until_all_that_was_in_flight_is_delivered() {
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
