//! The ABC sender: one packet more or less per mark, and a second window for routers without ABC.

use super::header::{AbcEcho, Counts};
use super::params::INITIAL_WINDOW;
use crate::parts::cubic_window::{CubicConstants, CubicWindow};
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Permit, Sender, Settings, Start, Unread};
use millpond_units::Bytes;

/// Upper limit of both windows, as a multiple of the packets in flight (section 4.1, NSDI 2020).
const MOST_OF_IN_FLIGHT: f64 = 2.0;

/// The ABC sender's state.
pub(super) struct AbcSender {
    initial_window: f64,
    /// w_abc in packets.
    window: f64,
    /// w_nonabc, which follows CUBIC.
    fallback: CubicWindow,
    /// The latest echoed counts of marks.
    counts: Counts,
    unread: Unread,
}

/// Eq. (3): +1 + 1/w for each accelerate, -1 + 1/w for each brake, in packets, for marks that arrive together. The
/// window never falls below one packet, where a brake alone would leave it too.
fn after_marks(window: f64, accelerates: f64, brakes: f64) -> f64 {
    (window + accelerates - brakes + (accelerates + brakes) / window).max(1.0)
}

impl AbcSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let initial_window = settings.get(INITIAL_WINDOW);
        Self {
            initial_window,
            window: initial_window,
            fallback: CubicWindow::new(CubicConstants::RFC9438, Bytes::ZERO, Some(initial_window)),
            counts: Counts::default(),
            unread: Unread::default(),
        }
    }

    /// The marks that this acknowledgement is the first to report.
    fn new_marks(&mut self, ack: &Ack) -> Counts {
        let Some(counts) = self.unread.note(AbcEcho::parse(&ack.header)).map(|echo| echo.counts()) else {
            return Counts::default();
        };
        let Some(marks) = counts.since(self.counts) else {
            return Counts::default();
        };
        self.counts = counts;
        marks.at_most(ack.packets)
    }

    /// Applies the upper limit; without it the window that does not limit the flow would diverge.
    fn limit_windows(&mut self, in_flight: Bytes) {
        let most =
            (MOST_OF_IN_FLIGHT * self.fallback.window().in_packets(in_flight)).max(self.initial_window);
        self.window = self.window.min(most);
        self.fallback.shrink_to_packets(most);
    }
}

impl Sender for AbcSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.fallback = CubicWindow::new(CubicConstants::RFC9438, start.packet, Some(self.initial_window));
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        let marks = self.new_marks(ack);
        self.window = after_marks(self.window, f64::from(marks.accelerates), f64::from(marks.brakes));
        self.fallback.on_ack(cx.now, ack);
        self.limit_windows(ack.prior_in_flight);
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        self.fallback.on_congestion(congestion);
        if congestion.cause == Cause::NoFeedback {
            self.window = self.window.min(self.fallback.window().packets());
        }
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.fallback.restart_from_idle(cx.now);
    }

    #[inline]
    fn permit(&self) -> Permit {
        let fallback = self.fallback.window();
        let window = fallback.bytes().min(fallback.of_packets(self.window));
        Permit { window: Some(window), ..Permit::default() }
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("accelerate-brake window", "packets", self.window);
        gauge.quantity("fallback window", "packets", self.fallback.window().packets());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abc::Abc;
    use crate::testing::{PACKET, SenderBench};
    use millpond_law::{Episode, Header};
    use millpond_units::Span;

    #[test]
    fn two_flows_on_a_full_link_of_200_packets_converge_by_less_than_one_packet_per_round() {
        // f* = (BDP - n) / (2 BDP) = .495; w <- 2 f w + 1, so w2(n) = 100 - 98 .99^n.
        let f: f64 = 0.5 * (200.0 - 2.0) / 200.0;
        assert!((f - 0.495).abs() < 1e-12);
        let round = |w: f64| after_marks(w, f * w, (1.0 - f) * w);
        assert!((round(198.0) - 197.02).abs() < 1e-9 && (round(2.0) - 2.98).abs() < 1e-9);
        let mut windows = [198.0, 2.0];
        for n in 1..=457 {
            windows = windows.map(round);
            assert!((windows[1] - (100.0 - 98.0 * libm::pow(0.99, f64::from(n)))).abs() < 1e-6, "{n}");
            match n {
                50 => assert!((windows[1] - 40.71).abs() < 0.01 && (windows[0] - 159.29).abs() < 0.01),
                400 => assert!((windows[1] / windows[0] - 0.965).abs() < 1e-3),
                _ => assert_eq!(windows[1] >= 95.0, n >= 297, "within 5 % from round 297 on: {n}"),
            }
        }
        assert!(windows[1] >= 99.0 && windows[1] < 99.02);
    }

    #[test]
    fn a_brake_never_reduces_the_window_below_one_packet() {
        for window in [1.0, 1.3, 2.0, 7.5] {
            assert!(after_marks(window, 0.0, 1.0) >= 1.0);
        }
        assert_eq!(after_marks(1.0, 0.0, 1.0), 1.0);
        assert_eq!(after_marks(2.0, 1.0, 0.0), 3.5);
    }

    /// A sender with the receiver's counts of marks.
    struct Bench {
        sender: SenderBench,
        counts: Counts,
    }

    impl Bench {
        fn new() -> Self {
            Self { sender: SenderBench::new(&Abc, &[], Span::from_millis(50)), counts: Counts::default() }
        }

        /// An acknowledgement of one packet with these counts.
        fn echo(&self, counts: Counts) -> Ack {
            let mut header = Header::NONE;
            AbcEcho::new(counts).emit(&mut header);
            Ack { header, ..self.sender.plain() }
        }

        /// Acknowledges one packet, as an accelerate or a brake.
        fn ack(&mut self, accelerate: bool) {
            let count = if accelerate { &mut self.counts.accelerates } else { &mut self.counts.brakes };
            *count = count.wrapping_add(1);
            let ack = self.echo(self.counts);
            self.sender.ack(&ack);
        }

        fn abc(&self) -> f64 {
            self.sender.gauge("accelerate-brake window")
        }
    }

    #[test]
    fn a_round_of_accelerates_doubles_the_window_and_a_round_of_brakes_empties_it() {
        let mut bench = Bench::new();
        for _ in 0..10 {
            bench.ack(true);
        }
        // 10 + 10, and a tenth to a twentieth for each of ten marks.
        assert!(bench.abc() > 20.5 && bench.abc() < 21.0, "{}", bench.abc());
        for _ in 0..30 {
            bench.ack(false);
        }
        assert!(bench.abc() < 2.0, "{}", bench.abc());
    }

    #[test]
    fn the_smaller_window_applies_and_a_loss_reduces_only_the_fallback() {
        let mut bench = Bench::new();
        bench.ack(true);
        assert_eq!(bench.sender.window(), 11.0, "the fallback is in slow start: one more per packet");
        bench.sender.congestion(Cause::Loss, Episode::New);
        bench.sender.congestion(Cause::Loss, Episode::Same);
        assert_eq!((bench.sender.window(), bench.abc()), (7.7, 11.1), "beta of CUBIC is .7");
        bench.sender.congestion(Cause::NoFeedback, Episode::Same);
        assert_eq!((bench.sender.window(), bench.abc()), (2.0, 2.0));
    }

    #[test]
    fn neither_window_exceeds_twice_the_packets_in_flight() {
        let mut bench = Bench::new();
        for _ in 0..100 {
            bench.ack(true);
        }
        let ack = Ack { prior_in_flight: PACKET * 8, ..bench.sender.plain() };
        bench.sender.ack(&ack);
        assert_eq!((bench.abc(), bench.sender.gauge("fallback window")), (16.0, 16.0));
    }

    #[test]
    fn an_echo_is_counted_once_and_for_at_most_the_acknowledged_packets() {
        let mut bench = Bench::new();
        bench.ack(true);
        let before = bench.abc();
        let again = bench.echo(bench.counts);
        bench.sender.ack(&again);
        assert_eq!(bench.abc(), before, "unchanged counts have no effect");
        let wild = bench.echo(Counts { accelerates: 30_000, brakes: 0 });
        bench.sender.ack(&wild);
        let after = after_marks(before, 1.0, 0.0);
        assert_eq!(bench.abc(), after);
        bench.sender.ack(&Ack { header: Header::NONE, ..wild });
        assert_eq!(bench.abc(), after, "no echo, no mark");
    }
}
