//! The Pledge sender: its window is the offered rate times its round-trip time with the mean waits of its path.

use super::header::PledgeHeader;
use super::params::INITIAL_WINDOW;
use millpond_law::{
    Ack, Cause, Congestion, Context, Gauge, Header, Permit, Probes, Sender, Settings, Start, Unread,
};
use millpond_units::{Bytes, Rate, Span, Time};

/// Least share of a packet in flight, and longest pause: feedback continues to arrive, also at a flow whose least
/// round-trip time was measured in a long queue.
const LEAST_SHARE: f64 = 0.25;
const LONGEST_PAUSE: Span = Span::from_millis(1000);

/// With one packet in flight no other packet brings feedback before it, and probes with data would be more than was
/// offered. RFC 6298, rule (2.4), has this bound.
const LEAST_PROBE_TIMEOUT: Span = Span::from_millis(1000);

/// Eq. (12): the base round-trip time after an acknowledgement of a packet that has waited for this time: the least
/// round-trip time without waits. Zero: no sample yet.
fn base_rtt(known: Span, ack: &Ack, waited: Span) -> Span {
    let sample = ack.rtt.map_or(ack.min_rtt, |rtt| rtt.saturating_sub(waited).min(ack.min_rtt));
    if known == Span::ZERO { sample } else { known.min(sample) }
}

/// Eq. (8): the window in bytes, of which the endpoint sends the nearest whole number of packets.
#[inline]
fn granted_window(rate: f64, base_rtt: Span, waits: Span) -> f64 {
    rate * (base_rtt + waits).secs()
}

/// Eq. (9): the pace of a window of at least a packet: it and half a packet per base round-trip time. Only what may leave
/// beside the packet that an acknowledgement replaces is paced: acknowledgements have a pace of their own.
fn pace(window: f64, packet: f64, base_rtt: Span) -> Rate {
    Rate::from_bps_f64(8.0 * (window + packet / 2.0) / base_rtt.secs().max(1e-6)).max(Rate::from_bps(1))
}

/// Eq. (10): the time between the acknowledgement of a packet and the next packet for a window of less than a packet: the
/// packet is in flight for the share `window / packet` of a cycle without a queue.
fn pause(window: f64, packet: f64, base_rtt: Span) -> Span {
    let share = (window / packet).max(LEAST_SHARE);
    Span::from_secs(base_rtt.secs() * (1.0 / share - 1.0)).min(LONGEST_PAUSE)
}

/// The sender's state.
pub(super) struct PledgeSender {
    initial_window: f64,
    packet: Bytes,
    /// The same as a number.
    packet_bytes: f64,
    /// What packets carry: the label of the flow, its base round-trip time and the offer that it follows.
    header: PledgeHeader,
    base_rtt: Span,
    permit: Permit,
    /// No acknowledgement has arrived since the last probe timeout.
    timed_out: bool,
    /// Bytes that were in flight when feedback returned after a timeout, less those acknowledged or declared lost since.
    in_doubt: Bytes,
    unread: Unread,
}

impl PledgeSender {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            initial_window: settings.get(INITIAL_WINDOW),
            packet: Bytes::ZERO,
            packet_bytes: 0.0,
            header: PledgeHeader::new(0),
            base_rtt: Span::ZERO,
            permit: Permit { window: Some(Bytes::ZERO), ..Permit::default() },
            timed_out: false,
            in_doubt: Bytes::ZERO,
            unread: Unread::default(),
        }
    }

    fn begin(&mut self) {
        self.header.follow_none();
        let window = Bytes::from_f64(self.initial_window * self.packet.as_f64());
        self.permit = Permit { window: Some(window), ..Permit::default() };
    }

    /// Follows the offer in the header of an acknowledgement, after which so many bytes are in flight.
    fn follow(&mut self, now: Time, in_flight: Bytes, received: &PledgeHeader) {
        let Some(offer) = received.offer() else { return };
        self.header.follow(received);
        let packet = self.packet_bytes;
        let window = granted_window(offer.rate, self.base_rtt, received.waits());
        if window < packet {
            self.pause_for(now, pause(window, packet, self.base_rtt));
            return;
        }
        let rounded = Bytes::from_f64(window + packet / 2.0);
        let is_burst = rounded.saturating_sub(in_flight) >= self.packet * 2;
        self.permit.window = Some(rounded);
        self.permit.pace = is_burst.then(|| pace(window, packet, self.base_rtt));
        self.permit.wake = None;
        self.permit.probes = self.probes(rounded);
    }

    /// Whether the bytes in flight are lost is in doubt after a timeout, until a later packet is acknowledged (RFC 9002,
    /// section 6.1).
    fn note_doubt(&mut self, ack: &Ack) {
        self.in_doubt = match core::mem::take(&mut self.timed_out) {
            true => ack.in_flight + ack.newly_lost,
            false => self.in_doubt.saturating_sub(ack.bytes),
        };
    }

    /// What leaves at a probe timeout with this window.
    fn probes(&self, window: Bytes) -> Probes {
        if window < self.packet * 2 { Probes::Empty(LEAST_PROBE_TIMEOUT) } else { Probes::Data }
    }

    /// One packet may leave after this time, if none is in flight then.
    fn pause_for(&mut self, now: Time, pause: Span) {
        self.permit = Permit {
            window: Some(self.packet),
            pace: Some(Rate::ZERO),
            wake: Some(now + pause.max(Span::from_picos(1))),
            probes: self.probes(self.packet),
            ..Permit::default()
        };
    }
}

impl Sender for PledgeSender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        (self.packet, self.packet_bytes) = (start.packet, start.packet.as_f64());
        self.header = PledgeHeader::new(cx.random.bits());
        self.begin();
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        if self.timed_out || self.in_doubt > Bytes::ZERO {
            self.note_doubt(ack);
        }
        let received = self.unread.note(PledgeHeader::parse(&ack.header));
        let base_rtt = base_rtt(self.base_rtt, ack, received.map_or(Span::ZERO, |header| header.waited()));
        if base_rtt != self.base_rtt {
            self.base_rtt = base_rtt;
            self.header.set_base_rtt(base_rtt);
        }
        if let Some(received) = received {
            self.follow(cx.now, ack.in_flight, &received);
        }
    }

    /// Lost packets are sent again; the rate is that of the routers, which count a dropped packet as late.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Timeout => self.timed_out = true,
            Cause::Loss => self.in_doubt = self.in_doubt.saturating_sub(congestion.bytes),
            Cause::Ecn | Cause::NoFeedback => {}
        }
    }

    /// The offer may have been divided among other flows meanwhile.
    fn on_idle_restart(&mut self, _cx: &mut Context<'_>) {
        self.begin();
    }

    /// The pause has ended.
    fn on_timer(&mut self, _cx: &mut Context<'_>) {
        (self.permit.pace, self.permit.wake) = (None, None);
    }

    /// In addition to what is in doubt one packet may leave, as in F-RTO (RFC 5682, section 2.1): its acknowledgement shows what
    /// is lost. Otherwise a window smaller than that waits for the next probe timeout, which samples of an interruption
    /// make longer than the interruption.
    #[inline]
    fn permit(&self) -> Permit {
        if self.in_doubt == Bytes::ZERO {
            return self.permit;
        }
        let least = self.in_doubt + self.packet;
        Permit { window: self.permit.window.map(|window| window.max(least)), ..self.permit }
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        self.header.emit(header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        let packets = |bytes: Bytes| bytes.as_f64() / self.packet.as_f64().max(1.0);
        gauge.quantity("window", "packets", self.permit.window.map_or(0.0, packets));
        if let Some(offer) = self.header.followed() {
            gauge.quantity("offered rate", "bit/s", offer.rate * 8.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pledge::Pledge;
    use crate::pledge::header::{Offer, Signal};
    use crate::testing::{PACKET, SenderBench};
    use millpond_law::Episode;

    const RTT: Span = Span::from_millis(80);

    /// An acknowledgement with this offered rate in packets per 80 ms, and these mean waits; the packet itself has not waited.
    fn offering(bench: &SenderBench, packets: f64, waits: Span) -> Ack {
        let (mut header, mut sent) = (Header::NONE, PledgeHeader::new(1));
        let offer = Offer { rate: packets * PACKET.as_f64() / RTT.secs(), router: 7 };
        sent.pass(&Signal::new(offer, waits.secs()), Span::ZERO);
        sent.emit(&mut header);
        Ack { header, ..bench.plain() }
    }

    fn follow(bench: &mut SenderBench, packets: f64, waits: Span) {
        let ack = offering(bench, packets, waits);
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
    fn only_what_may_leave_beside_the_packet_that_an_acknowledgement_replaces_is_paced() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        follow(&mut bench, 20.0, Span::ZERO);
        let ack = offering(&bench, 20.0, Span::ZERO);
        // A window of 20.5 packets, of which 20 fit.
        for (in_flight, is_paced) in [(20, false), (19, false), (18, true), (0, true)] {
            bench.ack(&Ack { in_flight: PACKET * in_flight, ..ack });
            assert_eq!(bench.law.permit().pace.is_some(), is_paced, "{in_flight}");
        }
    }

    #[test]
    fn mean_waits_lengthen_the_window_and_a_long_round_trip_does_not() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        follow(&mut bench, 100.0, RTT / 2);
        assert!((bench.window() - 150.5).abs() < 1e-2, "{}", bench.window());
    }

    #[test]
    fn a_share_below_a_packet_is_a_pause_after_the_acknowledgement() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        // Half a packet: in flight for half of the time. A quarter is the least share.
        for (packets, pause_ms) in [(0.5, 80), (0.8, 20), (0.1, 240), (0.0, 240)] {
            follow(&mut bench, packets, Span::ZERO);
            let permit = bench.law.permit();
            assert_eq!((bench.window(), permit.pace), (1.0, Some(Rate::ZERO)));
            let pause = permit.wake.unwrap().since(bench.now);
            assert!((pause.secs() - f64::from(pause_ms) / 1e3).abs() < 1e-6, "{packets}: {pause}");
            bench.wake();
            let permit = bench.law.permit();
            assert_eq!((bench.window(), permit.pace, permit.wake), (1.0, None, None));
        }
        follow(&mut bench, 2.0, Span::ZERO);
        assert_eq!((bench.law.permit().wake, pace(&bench).round()), (None, 3.0));
    }

    #[test]
    fn a_pause_has_no_wait_in_it_and_is_at_most_a_second() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        // r (T + q) is half a packet.
        follow(&mut bench, 0.25, RTT);
        let pause = bench.law.permit().wake.unwrap().since(bench.now);
        assert!((pause.secs() - 0.08).abs() < 1e-6, "{pause}");
        let queued = Span::from_millis(10_000);
        assert_eq!(super::pause(0.5, 1.0, queued), Span::from_millis(1000));
    }

    #[test]
    fn probes_are_empty_and_wait_for_a_second_where_one_packet_is_in_flight() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        for (packets, expected) in [(0.3, true), (1.4, true), (1.6, false), (20.0, false)] {
            follow(&mut bench, packets, Span::ZERO);
            let sparse = bench.law.permit().probes == Probes::Empty(Span::from_millis(1000));
            assert_eq!(sparse, expected, "{packets}");
        }
    }

    #[test]
    fn the_base_round_trip_time_is_the_least_one_without_waits() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        let millis = Span::from_millis;
        // Round-trip time of the packet, its waits, and the base round-trip time then.
        for (rtt, waited, expected) in
            [(200, 90, 110), (180, 100, 80), (150, 60, 80), (79, 0, 79), (400, 325, 75)]
        {
            let mut sent = PledgeHeader::new(1);
            sent.pass(&Signal::new(Offer { rate: 1e6, router: 7 }, 0.005), millis(waited));
            let mut header = Header::NONE;
            sent.emit(&mut header);
            let ack = Ack { header, rtt: Some(millis(rtt)), min_rtt: millis(rtt.min(200)), ..bench.plain() };
            bench.ack(&ack);
            bench.stamp(&mut header);
            assert_eq!(PledgeHeader::parse(&header).unwrap().base_rtt(), millis(expected), "{rtt} {waited}");
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
        bench.restart_from_idle();
        assert_eq!((stamped(&mut bench).followed(), bench.window()), (None, 3.0));
        assert_eq!(stamped(&mut bench).flow(), flow);
    }

    /// An acknowledgement without an offer, and the report of what it declares lost.
    fn acknowledge(bench: &mut SenderBench, acked: u64, in_flight: u64, lost: u64) {
        let [bytes, in_flight, newly_lost] = [acked, in_flight, lost].map(|packets| PACKET * packets);
        let ack = Ack { bytes, in_flight, newly_lost, ..bench.plain() };
        bench.ack(&ack);
        let (cause, episode, prior_in_flight) = (Cause::Loss, Episode::New, in_flight + newly_lost);
        let loss = Congestion { cause, episode, bytes: newly_lost, in_flight, prior_in_flight };
        let cx = &mut Context { now: bench.now, random: &mut millpond_law::Random::stream(1, "") };
        bench.law.on_congestion(cx, &loss);
    }

    #[test]
    fn after_a_timeout_one_packet_may_leave_whatever_is_in_flight() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        follow(&mut bench, 4.0, Span::ZERO);
        let own = bench.window();
        bench.congestion(Cause::Timeout, Episode::New);
        assert_eq!(bench.window(), own, "before feedback only probes leave");
        acknowledge(&mut bench, 1, 8, 0);
        assert_eq!(bench.window(), 9.0);
        // Two of the eight arrive. The other six and the new packet are in flight, so that no other may leave.
        acknowledge(&mut bench, 2, 7, 0);
        assert_eq!(bench.window(), 7.0);
        // The new packet arrives, which shows that the six are lost.
        acknowledge(&mut bench, 1, 0, 6);
        assert_eq!(bench.window(), own);
    }

    #[test]
    fn what_the_first_acknowledgement_after_a_timeout_declares_lost_is_not_in_doubt() {
        let mut bench = SenderBench::new(&Pledge, &[], RTT);
        bench.congestion(Cause::Timeout, Episode::New);
        acknowledge(&mut bench, 1, 8, 5);
        assert_eq!(bench.window(), 9.0);
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
