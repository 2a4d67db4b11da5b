//! The XCP sender: writes its throughput into headers and applies the echoed feedback (section 3.2, SIGCOMM 2002).

use super::header::{XcpEcho, XcpHeader};
use super::params::{FRACTION, Fraction, INITIAL_WINDOW, LOSS_REDUCTION_FACTOR};
use crate::parts::whole_packets::WholePackets;
use crate::parts::window::Window;
use millpond_law::{Ack, Congestion, Context, Gauge, Header, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Bytes, Rate, Span};

/// Smallest window in packets: one, so that feedback continues to arrive (section 3.2, SIGCOMM 2002).
pub(super) const LEAST_PACKETS: f64 = 1.0;

/// The XCP sender's state.
pub(super) struct XcpSender {
    initial_window: f64,
    loss_reduction_factor: f64,
    fraction: Fraction,
    window: Window,
    whole_packets: WholePackets,
    packet: Bytes,
    round: u64,
    /// The packets that may be in flight in this round trip, stored because they are read more often than they change.
    permitted: Bytes,
    smoothed_rtt: Span,
    /// Cumulative echoed feedback, in bit/s.
    feedback: i64,
    unread: Unread,
}

/// Change of the window in bytes for a change of the throughput in bit/s (draft-falk-xcp-spec-03, section 3.1.4:
/// cwnd = max(cwnd + feedback * RTT, MSS)).
fn window_change(feedback: f64, rtt: Span) -> f64 {
    feedback / 8.0 * rtt.secs()
}

impl XcpSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let initial_window = settings.get(INITIAL_WINDOW);
        Self {
            initial_window,
            loss_reduction_factor: settings.get(LOSS_REDUCTION_FACTOR),
            fraction: settings.get(FRACTION),
            window: Window::new(Bytes::ZERO, Some(initial_window)),
            whole_packets: WholePackets::default(),
            packet: Bytes::ZERO,
            round: 0,
            permitted: Bytes::ZERO,
            smoothed_rtt: Span::ZERO,
            feedback: 0,
            unread: Unread::default(),
        }
    }

    /// The part of the cumulative feedback, in bit/s, that this acknowledgement is the first to carry.
    fn new_feedback(&mut self, ack: &Ack) -> f64 {
        let Some(feedback) = self.unread.note(XcpEcho::parse(&ack.header)).map(|echo| echo.feedback()) else {
            return 0.0;
        };
        feedback.wrapping_sub(std::mem::replace(&mut self.feedback, feedback)) as f64
    }

    /// Computes the whole packets that may be in flight.
    fn renew(&mut self) {
        let window = match self.fraction {
            Fraction::Carried => self.window.packets(),
            Fraction::Truncated => self.window.packets().floor(),
        };
        self.permitted = self.whole_packets.permitted(window, self.round, self.packet);
    }

    /// The throughput written into headers: the packets of this round trip over the smoothed RTT. With the window instead,
    /// routers would assume packets that are not sent.
    fn throughput(&self) -> Rate {
        if self.smoothed_rtt.is_zero() { Rate::ZERO } else { self.permitted.per(self.smoothed_rtt) }
    }
}

impl Sender for XcpSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.window = Window::new(start.packet, Some(self.initial_window));
        self.packet = start.packet;
        self.renew();
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        self.window.note(ack);
        let feedback = self.new_feedback(ack);
        // An unused window does not grow, because routers could not measure the growth (draft, section 3.1.5).
        let feedback = if ack.window_unused() { feedback.min(0.0) } else { feedback };
        self.window.change_by(window_change(feedback, ack.smoothed_rtt), LEAST_PACKETS);
        self.round = ack.round;
        self.renew();
    }

    /// The reduction of NewReno, for losses at routers without XCP (draft-falk-xcp-spec-03, section 3.1.4).
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        self.window.reduce_on_loss(congestion, self.loss_reduction_factor);
        self.renew();
    }

    #[inline]
    fn permit(&self) -> Permit {
        Permit { window: Some(self.permitted), ..Permit::default() }
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        XcpHeader::new(self.smoothed_rtt, self.throughput()).emit(header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window.packets());
        gauge.quantity("quoted throughput", "bit/s", self.throughput().as_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{PACKET, SenderBench};
    use crate::xcp::Xcp;
    use millpond_law::{Cause, Episode, LimitedBy, Value};

    const RTT: Span = Span::from_millis(80);

    fn bench() -> SenderBench {
        SenderBench::new(&Xcp, &[], RTT)
    }

    /// An acknowledgement with this cumulative feedback, in bit/s.
    fn echo(bench: &SenderBench, feedback: i64) -> Ack {
        let mut header = Header::NONE;
        XcpEcho::new(feedback).emit(&mut header);
        Ack { header, ..bench.plain() }
    }

    fn stamped(bench: &mut SenderBench) -> XcpHeader {
        let mut header = Header::NONE;
        bench.stamp(&mut header);
        XcpHeader::parse(&header).unwrap()
    }

    #[test]
    fn a_feedback_of_one_megabit_per_second_adds_ten_packets_at_80_ms() {
        let mut bench = bench();
        assert_eq!(bench.window(), 2.0);
        let ack = echo(&bench, 1_000_000);
        bench.ack(&ack);
        assert_eq!(bench.window(), 12.0);
        // The sum is unchanged, then half a megabit less.
        bench.ack(&ack);
        assert_eq!(bench.window(), 12.0);
        let ack = echo(&bench, 500_000);
        bench.ack(&ack);
        assert_eq!(bench.window(), 7.0);
    }

    #[test]
    fn headers_carry_the_window_over_the_smoothed_rtt_and_zero_before_the_first_sample() {
        let mut bench = bench();
        let first = stamped(&mut bench);
        assert_eq!((first.rtt(), first.throughput()), (Span::ZERO, Rate::ZERO));
        let ack = echo(&bench, 1_000_000);
        bench.ack(&ack);
        let next = stamped(&mut bench);
        assert_eq!((next.rtt(), next.throughput()), (RTT, Rate::from_bps(1_200_000)));
    }

    /// The packets in flight in 50 round trips with a window of 3.4 packets.
    fn packets_in_50_round_trips(written: &[(&'static str, Value)]) -> Vec<f64> {
        let mut bench = SenderBench::new(&Xcp, written, RTT);
        // 1.4 packets of 1000 B in 80 ms are 140 kbit/s.
        let ack = echo(&bench, 140_000);
        bench.ack(&ack);
        let packets = (2..52).map(|round| {
            let ack = Ack { round, ..echo(&bench, 140_000) };
            bench.ack(&ack);
            let packets = bench.window();
            assert_eq!(stamped(&mut bench).throughput(), Rate::from_bps(packets as u64 * 100_000));
            packets
        });
        packets.collect()
    }

    #[test]
    fn the_mean_of_the_packets_over_round_trips_is_the_window_and_headers_carry_those_of_the_round_trip() {
        let packets = packets_in_50_round_trips(&[]);
        assert!(packets.iter().all(|packets| [3.0, 4.0].contains(packets)));
        assert!((packets.iter().sum::<f64>() - 50.0 * 3.4).abs() < 1.0, "{packets:?}");
        let truncated = packets_in_50_round_trips(&[("fraction", Value::text("truncated"))]);
        assert!(truncated.iter().all(|packets| *packets == 3.0), "{truncated:?}");
    }

    #[test]
    fn feedback_keeps_the_window_between_one_packet_and_its_upper_limit() {
        let mut bench = bench();
        let ack = echo(&bench, i64::MIN);
        bench.ack(&ack);
        assert_eq!(bench.window(), 1.0);
        let ack = echo(&bench, -1);
        bench.ack(&ack);
        assert!(bench.window().is_finite() && bench.window() > 1e6);
    }

    #[test]
    fn an_unused_window_shrinks_but_does_not_grow() {
        let mut bench = bench();
        for (feedback, window) in [(1_000_000, 2.0), (900_000, 1.0)] {
            let ack = Ack { limited_by: LimitedBy::Data, ..echo(&bench, feedback) };
            bench.ack(&ack);
            assert_eq!(bench.window(), window);
        }
    }

    #[test]
    fn a_loss_episode_halves_the_window_once_and_a_mark_has_no_effect() {
        let mut bench = bench();
        let ack = Ack { delivered: PACKET * 20, ..echo(&bench, 1_400_000) };
        bench.ack(&ack);
        bench.congestion(Cause::Ecn, Episode::New);
        bench.congestion(Cause::Timeout, Episode::New);
        assert_eq!(bench.window(), 16.0);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        assert_eq!(bench.window(), 8.0);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
    }
}
