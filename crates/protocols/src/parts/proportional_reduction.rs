//! Proportional rate reduction (RFC 6937, with the slow-start reduction bound): during recovery a sender sends in proportion
//! to what is delivered, instead of not at all until the data in flight has fallen to its reduced window.

use millpond_law::key::{Key, flag};
use millpond_law::{Ack, Congestion};
use millpond_units::Bytes;

pub(crate) const PROPORTIONAL_REDUCTION: Key<bool> = flag("proportional_reduction", false)
    .source("RFC 6937")
    .meaning("during recovery packets leave in proportion to those delivered; false: none until the window permits");

/// State of one recovery, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProportionalReduction {
    recovery: Option<Recovery>,
    /// Bytes delivered and lost at the last acknowledgement.
    delivered: Bytes,
    lost: Bytes,
}

#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// The reduced window (ssthresh).
    target: f64,
    /// In flight before the loss (RecoverFS).
    flight: f64,
    /// In flight, delivered and lost when recovery began.
    in_flight: Bytes,
    delivered: Bytes,
    lost: Bytes,
    /// What may be in flight now.
    limit: f64,
}

impl Recovery {
    /// What may be in flight after this acknowledgement.
    fn next_limit(&self, ack: &Ack, packet: f64) -> f64 {
        let delivered = ack.delivered.saturating_sub(self.delivered);
        let lost = ack.lost.saturating_sub(self.lost);
        let sent = (ack.in_flight + delivered + lost).saturating_sub(self.in_flight).as_f64();
        let (delivered, pipe) = (delivered.as_f64(), ack.in_flight.as_f64());
        let may_send = if pipe > self.target {
            delivered * self.target / self.flight - sent
        } else {
            (self.target - pipe).min((delivered - sent).max(ack.bytes.as_f64()) + packet)
        };
        pipe + may_send.max(0.0)
    }
}

impl ProportionalReduction {
    /// A loss has reduced the window to `target` bytes; the lost packet itself may be sent again at once.
    pub(crate) fn begin(&mut self, congestion: &Congestion, target: Bytes, packet: Bytes) {
        self.recovery = Some(Recovery {
            target: target.as_f64(),
            flight: congestion.prior_in_flight.as_f64().max(1.0),
            in_flight: congestion.in_flight,
            delivered: self.delivered,
            lost: self.lost,
            limit: (congestion.in_flight + packet).as_f64(),
        });
    }

    /// Records an acknowledgement.
    pub(crate) fn on_ack(&mut self, ack: &Ack, packet: Bytes) {
        (self.delivered, self.lost) = (ack.delivered, ack.lost);
        if let Some(recovery) = &mut self.recovery {
            recovery.limit = recovery.next_limit(ack, packet.as_f64());
        }
    }

    /// Recovery is over.
    pub(crate) fn end(&mut self) {
        self.recovery = None;
    }

    /// What may be in flight during recovery; none outside.
    pub(crate) fn limit(&self) -> Option<Bytes> {
        self.recovery.map(|recovery| Bytes::from_f64(recovery.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::{Cause, Episode};
    use millpond_units::Span;

    const PACKET: Bytes = Bytes::new(1000);

    /// A recovery in which one of `flight` packets was lost and the window was reduced to `target` packets. Each packet in
    /// flight is acknowledged, and the sender sends what it may. Returns what it sent after each acknowledgement, and
    /// the packets in flight at the end.
    fn recovery(flight: u64, target: u64) -> (Vec<u64>, u64) {
        let mut reduction = ProportionalReduction::default();
        let congestion = Congestion {
            cause: Cause::Loss,
            episode: Episode::New,
            bytes: PACKET,
            in_flight: PACKET * (flight - 1),
            prior_in_flight: PACKET * flight,
        };
        reduction.begin(&congestion, PACKET * target, PACKET);
        let (mut in_flight, mut delivered) = (flight - 1, 0);
        let mut sent = Vec::new();
        for _ in 0..flight - 1 {
            (in_flight, delivered) = (in_flight - 1, delivered + 1);
            let ack = Ack {
                delivered: PACKET * delivered,
                ..Ack::plain(PACKET, Span::from_millis(10), PACKET * in_flight)
            };
            reduction.on_ack(&ack, PACKET);
            let may_be = reduction.limit().unwrap().get() / PACKET.get();
            let now = may_be.saturating_sub(in_flight);
            in_flight += now;
            sent.push(now);
        }
        (sent, in_flight)
    }

    #[test]
    fn with_a_halved_window_a_packet_leaves_for_every_second_delivered() {
        // RFC 6937, section 4: the rate follows ssthresh / RecoverFS.
        let (sent, in_flight) = recovery(20, 10);
        // The target is reached after 18 acknowledgements: 19 - 18 + 9 packets are in flight then.
        assert!(sent[..15].windows(2).all(|pair| pair[0] + pair[1] == 1), "{sent:?}");
        assert_eq!(in_flight, 10);
    }

    #[test]
    fn with_cubics_factor_seven_of_ten_leave() {
        let (sent, in_flight) = recovery(100, 70);
        assert_eq!(sent[..90].iter().sum::<u64>(), 63);
        assert!(sent.iter().all(|packets| *packets <= 1) && in_flight == 70, "{in_flight}");
    }

    #[test]
    fn below_the_target_the_window_grows_by_one_packet_more_than_delivered() {
        // Heavy losses have left 5 of 20 packets in flight with a target of 10 (slow-start reduction bound).
        let mut reduction = ProportionalReduction::default();
        let congestion = Congestion {
            cause: Cause::Loss,
            episode: Episode::New,
            bytes: PACKET * 15,
            in_flight: PACKET * 5,
            prior_in_flight: PACKET * 20,
        };
        reduction.begin(&congestion, PACKET * 10, PACKET);
        let ack = Ack { delivered: PACKET, ..Ack::plain(PACKET, Span::from_millis(10), PACKET * 4) };
        reduction.on_ack(&ack, PACKET);
        assert_eq!(reduction.limit(), Some(PACKET * 6));
    }
}
