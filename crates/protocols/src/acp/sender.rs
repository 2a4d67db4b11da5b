//! The ACP sender: its window approaches the desired rate times the smallest round-trip time (section III-B).

use super::header::AcpHeader;
use super::params::{DELAYED_INCREASE, INITIAL_WINDOW, LOSS_REDUCTION_FACTOR};
use crate::parts::window::Window;
use millpond_law::{Ack, Congestion, Context, Gauge, Header, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Bytes, Rate, Span};

/// Eq. (5): smallest window, so that feedback continues to arrive.
pub(super) const LEAST_PACKETS: f64 = 1.0;

/// Eq. (3): the desired window, in bytes.
fn desired_window(feedback: Rate, least_rtt: Span) -> f64 {
    feedback.bytes_per_sec() * least_rtt.secs()
}

/// Eq. (4): change of the window in bytes, for this number of newly acknowledged bytes. A round trip acknowledges one
/// window. `delayed` is the gain of an increase on a congested path.
fn window_change(window: f64, desired: f64, acked: f64, congested: bool, delayed: f64) -> f64 {
    let gain = if congested && desired > window { delayed } else { 1.0 };
    gain * (acked / window).min(1.0) * (desired - window)
}

/// The ACP sender's state.
pub(super) struct AcpSender {
    initial_window: f64,
    loss_reduction_factor: f64,
    delayed_increase: f64,
    window: Window,
    rtt: Span,
    /// In bytes; none before the first feedback.
    desired: Option<f64>,
    unread: Unread,
}

impl AcpSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let initial_window = settings.get(INITIAL_WINDOW);
        Self {
            initial_window,
            loss_reduction_factor: settings.get(LOSS_REDUCTION_FACTOR),
            delayed_increase: settings.get(DELAYED_INCREASE),
            window: Window::new(Bytes::ZERO, Some(initial_window)),
            rtt: Span::ZERO,
            desired: None,
            unread: Unread::default(),
        }
    }

    fn follow(&mut self, feedback: Rate, congested: bool, ack: &Ack) {
        let desired = desired_window(feedback, ack.min_rtt);
        let (window, acked) = (self.window.bytes().as_f64(), ack.bytes.as_f64());
        let change = window_change(window, desired, acked, congested, self.delayed_increase);
        self.window.change_by(change, LEAST_PACKETS);
        self.desired = Some(desired);
    }
}

impl Sender for AcpSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.window = Window::new(start.packet, Some(self.initial_window));
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        self.rtt = ack.smoothed_rtt;
        self.window.note(ack);
        if let Some(header) = self.unread.note(AcpHeader::parse(&ack.header))
            && let Some(feedback) = header.advice()
        {
            self.follow(feedback, header.is_congested(), ack);
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        self.window.reduce_on_loss(congestion, self.loss_reduction_factor);
    }

    #[inline]
    fn permit(&self) -> Permit {
        Permit { window: Some(self.window.bytes()), ..Permit::default() }
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        AcpHeader::new(self.rtt).emit(header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window.packets());
        if let Some(desired) = self.desired {
            gauge.quantity("desired window", "packets", self.window.in_packets(Bytes::from_f64(desired)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acp::Acp;
    use crate::testing::{PACKET, SenderBench};
    use millpond_law::{Cause, Episode, Value};

    const RTT: Span = Span::from_millis(80);

    fn bench(window: f64) -> SenderBench {
        SenderBench::new(&Acp, &[("initial_window", Value::Number(window))], RTT)
    }

    /// An acknowledgement of one packet with a desired rate of this number of packets per 80 ms.
    fn ack_with_rate(bench: &SenderBench, packets: f64, congested: bool) -> Ack {
        let (mut written, mut header) = (AcpHeader::new(RTT), Header::NONE);
        written.lower_to(Rate::from_mbps(packets * 0.1));
        if congested {
            written.set_congested();
        }
        written.emit(&mut header);
        Ack { header, ..bench.plain() }
    }

    fn acknowledge(bench: &mut SenderBench, packets: f64, congested: bool) {
        let ack = ack_with_rate(bench, packets, congested);
        bench.ack(&ack);
    }

    #[test]
    fn the_first_acknowledgement_closes_the_gap_or_a_tenth_of_it_on_a_congested_path() {
        // Gain 1/cwnd with cwnd = 1: the window reaches its target at once.
        for (congested, window) in [(false, 1550.0), (true, 155.9)] {
            let mut bench = bench(1.0);
            acknowledge(&mut bench, 1550.0, congested);
            assert!((bench.window() - window).abs() < 1e-3, "{}", bench.window());
        }
    }

    #[test]
    fn one_acknowledgement_closes_its_share_of_the_gap_by_equation_4() {
        // From 100 packets: up 40/100, up .1 * 40/100 if congested, down 40/100 in either case.
        for (desired, congested, window) in
            [(140.0, false, 100.4), (140.0, true, 100.04), (60.0, false, 99.6), (60.0, true, 99.6)]
        {
            let mut bench = bench(100.0);
            acknowledge(&mut bench, desired, congested);
            assert!((bench.window() - window).abs() < 1e-3, "{desired}: {}", bench.window());
        }
    }

    #[test]
    fn a_round_trip_of_acknowledgements_reduces_a_small_gap_to_1_over_e() {
        let mut bench = bench(1000.0);
        (0..1000).for_each(|_| acknowledge(&mut bench, 1010.0, false));
        let left = (1010.0 - bench.window()) / 10.0;
        assert!((left - libm::exp(-1.0)).abs() < 0.01, "{left}");
    }

    #[test]
    fn an_acknowledgement_of_many_packets_never_overshoots_the_desired_window() {
        let mut bench = bench(10.0);
        let ack = Ack { bytes: PACKET * 50, packets: 50, ..ack_with_rate(&bench, 40.0, false) };
        bench.ack(&ack);
        assert!((bench.window() - 40.0).abs() < 1e-3);
    }

    #[test]
    fn the_window_uses_the_smallest_round_trip_time_and_is_at_least_a_packet() {
        let mut bench = bench(1.0);
        let ack = Ack { rtt: Some(RTT * 3), smoothed_rtt: RTT * 3, ..ack_with_rate(&bench, 20.0, false) };
        bench.ack(&ack);
        assert!((bench.window() - 20.0).abs() < 1e-3, "{}", bench.window());
        (0..500).for_each(|_| acknowledge(&mut bench, 0.0, false));
        assert_eq!(bench.window(), 1.0);
    }

    #[test]
    fn with_a_delayed_increase_of_one_congestion_has_no_effect() {
        let mut bench = SenderBench::new(&Acp, &[("delayed_increase", Value::Number(1.0))], RTT);
        acknowledge(&mut bench, 300.0, true);
        assert!((bench.window() - 300.0).abs() < 1e-3);
    }

    #[test]
    fn without_a_router_the_window_is_kept_and_headers_carry_the_round_trip_time() {
        let mut bench = bench(3.0);
        let quoted = |bench: &mut SenderBench| {
            let mut header = Header::NONE;
            bench.stamp(&mut header);
            AcpHeader::parse(&header).unwrap().rtt()
        };
        assert_eq!(quoted(&mut bench), Span::ZERO);
        let mut header = Header::NONE;
        AcpHeader::new(RTT).emit(&mut header);
        let ack = Ack { header, ..bench.plain() };
        bench.ack(&ack);
        assert_eq!((bench.window(), quoted(&mut bench)), (3.0, RTT));
    }

    #[test]
    fn headers_carry_the_smoothed_round_trip_time_and_not_the_least() {
        let mut bench = bench(3.0);
        let ack = Ack { smoothed_rtt: RTT * 3, ..bench.plain() };
        bench.ack(&ack);
        let mut header = Header::NONE;
        bench.stamp(&mut header);
        assert_eq!(AcpHeader::parse(&header).unwrap().rtt(), RTT * 3);
    }

    #[test]
    fn a_loss_episode_halves_the_window_once() {
        let mut bench = bench(40.0);
        bench.congestion(Cause::Ecn, Episode::New);
        assert_eq!(bench.window(), 40.0);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        assert_eq!(bench.window(), 20.0);
    }
}
