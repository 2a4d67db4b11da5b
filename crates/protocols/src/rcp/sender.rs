//! The RCP sender: adopts the advised rate immediately.

use super::header::RcpHeader;
use super::params::{CONTROL, Control, INITIAL_WINDOW, REFERENCE_INTERVAL};
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Header, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Bytes, Rate, Span};

/// The RCP sender's state.
pub(super) struct RcpSender {
    control: Control,
    initial_window: f64,
    /// In smoothed RTTs.
    reference_interval: f64,
    packet: Bytes,
    advised: Rate,
    permit: Permit,
    rtt: Span,
    unread: Unread,
}

impl RcpSender {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            control: settings.get(CONTROL),
            initial_window: settings.get(INITIAL_WINDOW),
            reference_interval: settings.get(REFERENCE_INTERVAL),
            packet: Bytes::ZERO,
            advised: Rate::ZERO,
            permit: Permit { window: Some(Bytes::ZERO), ..Permit::default() },
            rtt: Span::ZERO,
            unread: Unread::default(),
        }
    }

    /// No rate has been received.
    fn begin(&mut self) {
        let window = Bytes::from_f64(self.initial_window * self.packet.as_f64());
        (self.advised, self.permit) = (Rate::ZERO, Permit { window: Some(window), ..Permit::default() });
    }

    fn follow(&mut self, advised: Rate, ack: &Ack) {
        self.advised = advised;
        self.permit = match self.control {
            Control::Rate => Permit {
                pace: Some(advised.max(Rate::from_bps(1))),
                feedback_within: Some(ack.smoothed_rtt.scale(self.reference_interval)),
                ..Permit::default()
            },
            Control::Window => {
                let window = advised.bytes_in(ack.min_rtt).max(self.packet);
                Permit { window: Some(window), ..Permit::default() }
            }
        };
    }
}

impl Sender for RcpSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet;
        self.begin();
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        self.rtt = ack.rtt.unwrap_or(self.rtt);
        let header = self.unread.note(RcpHeader::parse(&ack.header));
        if let Some(rate) = header.and_then(|header| header.advice()) {
            self.follow(rate, ack);
        }
    }

    /// A loss does not change the rate (section 2, IWQoS 2005). After persistent congestion the advised rate is
    /// outdated: the sender returns to its initial state.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if congestion.cause == Cause::NoFeedback {
            self.begin();
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.permit
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        RcpHeader::new(self.rtt).emit(header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("advised rate", "bit/s", self.advised.as_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rcp::Rcp;
    use crate::testing::{PACKET, SenderBench};
    use millpond_law::{Episode, Value};

    const RTT: Span = Span::from_millis(80);

    fn ack_with_rates(bench: &SenderBench, rates: &[f64]) -> Ack {
        let (mut written, mut header) = (RcpHeader::new(RTT), Header::NONE);
        rates.iter().for_each(|mbps| written.lower_to(Rate::from_mbps(*mbps)));
        written.emit(&mut header);
        Ack { header, ..bench.plain() }
    }

    #[test]
    fn the_pacing_rate_follows_the_advised_rate_immediately() {
        let mut bench = SenderBench::new(&Rcp, &[], RTT);
        assert_eq!(bench.window(), 2.0);
        for mbps in [100.0, 0.1, 30.0] {
            let ack = ack_with_rates(&bench, &[mbps]);
            bench.ack(&ack);
            let permit = bench.law.permit();
            assert_eq!((permit.window, permit.pace), (None, Some(Rate::from_mbps(mbps))));
        }
    }

    #[test]
    fn a_sender_requests_feedback_once_per_round_trip_time_however_low_its_rate_is() {
        let mut bench = SenderBench::new(&Rcp, &[], RTT);
        let ack = Ack { smoothed_rtt: RTT * 3, ..ack_with_rates(&bench, &[1e-4]) };
        bench.ack(&ack);
        assert_eq!(bench.law.permit().feedback_within, Some(RTT * 3));
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.law.permit().feedback_within, None, "without a rate there is nothing to pace");
    }

    #[test]
    fn as_a_window_the_rate_is_multiplied_by_the_base_rtt_and_is_at_least_a_packet() {
        let mut bench = SenderBench::new(&Rcp, &[("control", Value::text("window"))], RTT);
        for (mbps, packets) in [(10.0, 100.0), (0.01, 1.0)] {
            let ack = Ack { rtt: Some(RTT * 3), ..ack_with_rates(&bench, &[mbps]) };
            bench.ack(&ack);
            assert_eq!((bench.window(), bench.law.permit().pace), (packets, None));
        }
    }

    #[test]
    fn without_an_advised_rate_the_window_is_kept_and_a_loss_has_no_effect() {
        let mut bench = SenderBench::new(&Rcp, &[], RTT);
        let ack = ack_with_rates(&bench, &[]);
        bench.ack(&ack);
        assert_eq!(bench.law.permit().window, Some(PACKET * 2));
        let ack = ack_with_rates(&bench, &[10.0]);
        bench.ack(&ack);
        bench.congestion(Cause::Loss, Episode::New);
        assert_eq!(bench.law.permit().pace, Some(Rate::from_mbps(10.0)));
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.law.permit().window, Some(PACKET * 2));
    }

    #[test]
    fn headers_carry_the_latest_round_trip_time() {
        let mut bench = SenderBench::new(&Rcp, &[], RTT);
        let quoted = |bench: &mut SenderBench| {
            let mut header = Header::NONE;
            bench.stamp(&mut header);
            RcpHeader::parse(&header).unwrap().rtt()
        };
        assert_eq!(quoted(&mut bench), Span::ZERO);
        let ack = bench.plain();
        bench.ack(&ack);
        assert_eq!(quoted(&mut bench), RTT);
        bench.ack(&Ack { rtt: None, ..ack });
        assert_eq!(quoted(&mut bench), RTT);
    }
}
