//! The Pledge sender: its window is the offered rate times its round-trip time with the mean waits of its path.

use super::header::{Offer, PledgeHeader};
use super::params::INITIAL_WINDOW;
use millpond_law::{Ack, Congestion, Context, Gauge, Header, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Bytes, Rate, Span};

/// Eq. (8): least pace in packets per base round-trip time, so that feedback continues to arrive.
const LEAST_PACE: f64 = 0.25;

/// Eq. (8): the window in bytes, of which the endpoint sends the nearest whole number of packets.
fn granted_window(rate: f64, base_rtt: Span, waits: Span) -> f64 {
    rate * (base_rtt.secs() + waits.secs())
}

/// Eq. (9): the pace in bytes/s: a window per base round-trip time.
fn pace(window: f64, packet: f64, base_rtt: Span) -> f64 {
    let rounded = if window >= packet { window + packet / 2.0 } else { window };
    rounded.max(LEAST_PACE * packet) / base_rtt.secs().max(1e-6)
}

/// The sender's state.
pub(super) struct PledgeSender {
    initial_window: f64,
    packet: Bytes,
    flow: u32,
    base_rtt: Span,
    followed: Option<Offer>,
    permit: Permit,
    unread: Unread,
}

impl PledgeSender {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            initial_window: settings.get(INITIAL_WINDOW),
            packet: Bytes::ZERO,
            flow: 0,
            base_rtt: Span::ZERO,
            followed: None,
            permit: Permit { window: Some(Bytes::ZERO), ..Permit::default() },
            unread: Unread::default(),
        }
    }

    fn begin(&mut self) {
        self.followed = None;
        self.permit.window = Some(Bytes::from_f64(self.initial_window * self.packet.as_f64()));
        self.permit.pace = None;
    }

    fn follow(&mut self, offer: Offer, waits: Span) {
        let window = granted_window(offer.rate, self.base_rtt, waits);
        let packet = self.packet.as_f64();
        self.permit.window = Some(Bytes::from_f64(window + packet / 2.0).max(self.packet));
        self.permit.pace =
            Some(Rate::from_bps_f64(8.0 * pace(window, packet, self.base_rtt)).max(Rate::from_bps(1)));
        self.followed = Some(offer);
    }
}

impl Sender for PledgeSender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet;
        self.flow = cx.random.bits();
        self.begin();
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        self.base_rtt = ack.min_rtt;
        if let Some(header) = self.unread.note(PledgeHeader::parse(&ack.header))
            && let Some(offer) = header.offer()
        {
            self.follow(offer, header.waits());
        }
    }

    /// Lost packets are sent again; the rate is that of the routers, which count a dropped packet as late.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, _congestion: &Congestion) {}

    /// The offer may have been divided among other flows meanwhile.
    fn on_idle_restart(&mut self, _cx: &mut Context<'_>) {
        self.begin();
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.permit
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        PledgeHeader::new(self.flow, self.base_rtt, self.followed).emit(header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        let packets = |bytes: Bytes| bytes.as_f64() / self.packet.as_f64().max(1.0);
        gauge.quantity("window", "packets", self.permit.window.map_or(0.0, packets));
        if let Some(offer) = self.followed {
            gauge.quantity("offered rate", "bit/s", offer.rate * 8.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pledge::Pledge;
    use crate::testing::{PACKET, SenderBench};
    use millpond_law::{Cause, Episode};

    const RTT: Span = Span::from_millis(80);

    /// An acknowledgement with this offered rate in packets per 80 ms, and these mean waits.
    fn follow(bench: &mut SenderBench, packets: f64, waits: Span) {
        let mut header = Header::NONE;
        let mut sent = PledgeHeader::new(1, RTT, None);
        sent.pass(Offer { rate: packets * PACKET.as_f64() / RTT.secs(), router: 7 }, waits);
        sent.emit(&mut header);
        let ack = Ack { header, ..bench.plain() };
        bench.ack(&ack);
    }

    fn pace(bench: &SenderBench) -> f64 {
        bench.law.permit().pace.unwrap().bytes_per_sec() * RTT.secs() / PACKET.as_f64()
    }

    #[test]
    fn the_first_window_has_three_packets_and_the_first_offer_is_followed_at_once() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        assert_eq!(bench.window(), 3.0);
        follow(&mut bench, 100.0, Span::ZERO);
        assert!((bench.window() - 100.5).abs() < 1e-2, "{}", bench.window());
        assert!((pace(&bench) - 100.5).abs() < 1e-2);
        follow(&mut bench, 20.0, Span::ZERO);
        assert!((bench.window() - 20.5).abs() < 1e-2, "{}", bench.window());
    }

    #[test]
    fn mean_waits_lengthen_the_window_and_a_long_round_trip_does_not() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        follow(&mut bench, 100.0, RTT / 2);
        assert!((bench.window() - 150.5).abs() < 1e-2, "{}", bench.window());
    }

    #[test]
    fn a_share_below_a_packet_is_paced_and_never_slower_than_a_packet_in_four_round_trips() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        for (packets, expected) in [(0.5, 0.5), (0.1, 0.25), (0.0, 0.25)] {
            follow(&mut bench, packets, Span::ZERO);
            assert_eq!(bench.window(), 1.0);
            assert!((pace(&bench) - expected).abs() < 1e-3, "{packets}: {}", pace(&bench));
        }
    }

    #[test]
    fn headers_carry_the_offer_that_is_followed_and_none_after_an_idle_time() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        let stamped = |bench: &mut SenderBench| {
            let mut header = Header::NONE;
            bench.stamp(&mut header);
            PledgeHeader::parse(&header).unwrap()
        };
        assert_eq!(stamped(&mut bench).followed(), None);
        assert_eq!(stamped(&mut bench).base_rtt(), Span::ZERO);
        follow(&mut bench, 80.0, Span::ZERO);
        let header = stamped(&mut bench);
        assert_eq!(header.followed().map(|offer| (offer.rate.round(), offer.router)), Some((1e6, 7)));
        assert_eq!((header.base_rtt(), header.offer()), (RTT, None));
        let flow = header.flow();
        bench.law.on_idle_restart(&mut Context {
            now: bench.now,
            random: &mut millpond_law::Random::stream(1, ""),
        });
        assert_eq!((stamped(&mut bench).followed(), bench.window()), (None, 3.0));
        assert_eq!(stamped(&mut bench).flow(), flow);
    }

    #[test]
    fn losses_and_acknowledgements_without_an_offer_change_nothing() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        follow(&mut bench, 40.0, Span::ZERO);
        let before = bench.window();
        bench.congestion(Cause::Loss, Episode::New);
        let plain = bench.plain();
        bench.ack(&plain);
        assert_eq!(bench.window(), before);
        assert_eq!(bench.law.unread(), 1);
    }
}
