//! DCTCP's sender (RFC 8257, sections 3.3 to 3.5).

use super::params::{GrowthReading, Params};
use crate::parts::window::Window;
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Start};
use millpond_units::Bytes;

/// Factor by which a loss episode multiplies the window (RFC 5681, section 3.1).
pub(super) const LOSS_FACTOR: f64 = 0.5;

/// DCTCP's state.
pub(super) struct DctcpSender {
    params: Params,
    window: Window,
    /// Estimated fraction of marked bytes.
    alpha: f64,
    /// Bytes acknowledged in the current observation window.
    acked: Bytes,
    /// Marked bytes among them.
    marked: Bytes,
    /// The current observation window: one round trip.
    round: u64,
}

/// DCTCP.Alpha = DCTCP.Alpha * (1 - g) + g * M (RFC 8257, section 3.3).
fn next_alpha(alpha: f64, g: f64, marked_fraction: f64) -> f64 {
    alpha * (1.0 - g) + g * marked_fraction
}

impl DctcpSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            window: Window::new(Bytes::ZERO, None),
            alpha: params.initial_alpha,
            acked: Bytes::ZERO,
            marked: Bytes::ZERO,
            round: 0,
        }
    }

    /// Counts marked bytes and updates alpha with their fraction M once per round trip (RFC 8257, section 3.3).
    fn estimate(&mut self, ack: &Ack) {
        self.acked += ack.bytes;
        self.marked += ack.ce_bytes.min(ack.bytes);
        if ack.round == self.round || self.acked == Bytes::ZERO {
            return;
        }
        let marked_fraction = self.marked.as_f64() / self.acked.as_f64();
        self.alpha = next_alpha(self.alpha, self.params.g, marked_fraction);
        (self.acked, self.marked, self.round) = (Bytes::ZERO, Bytes::ZERO, ack.round);
    }

    /// A loss halves the window, also after marks in the same round trip (RFC 8257, section 3.5).
    fn on_loss(&mut self, episode: Episode) {
        if episode == Episode::New {
            self.window.reduce(LOSS_FACTOR);
        }
    }

    /// cwnd = cwnd * (1 - DCTCP.Alpha / 2), once per window of data (RFC 8257, section 3.3), unless a loss has already
    /// halved that window.
    fn on_mark(&mut self, episode: Episode) {
        if episode == Episode::Same || self.window.in_recovery() {
            return;
        }
        let factor = 1.0 - self.alpha / 2.0;
        match self.params.growth {
            GrowthReading::OutsideRecovery => self.window.reduce(factor),
            GrowthReading::Unmarked | GrowthReading::Always => self.window.reduce_without_recovery(factor),
        }
    }

    /// The bytes of this acknowledgement that let the window grow (RFC 8257, section 3.4).
    fn growing(&self, ack: &Ack) -> Bytes {
        match self.params.growth {
            GrowthReading::OutsideRecovery | GrowthReading::Always => ack.bytes,
            GrowthReading::Unmarked => ack.bytes.saturating_sub(ack.ce_bytes),
        }
    }
}

impl Sender for DctcpSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.window = Window::new(start.packet, self.params.initial_window);
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        self.estimate(ack);
        if !self.window.may_grow(ack) {
            return;
        }
        let remaining = self.window.slow_start(self.growing(ack));
        if remaining > Bytes::ZERO {
            self.window.avoid_congestion(remaining);
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Timeout => {}
            Cause::Ecn => self.on_mark(congestion.episode),
            Cause::Loss => self.on_loss(congestion.episode),
            Cause::NoFeedback => {
                self.on_loss(congestion.episode);
                self.window.collapse();
            }
        }
    }

    fn permit(&self) -> Permit {
        Permit { window: Some(self.window.bytes()), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window.packets());
        gauge.quantity("marked fraction", "1", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dctcp;
    use crate::testing::SenderBench;
    use millpond_law::{Ack, Cause, Episode, Value};
    use millpond_units::Span;

    const G: f64 = 1.0 / 16.0;

    fn bench(written: &[(&'static str, Value)]) -> SenderBench {
        SenderBench::new(&Dctcp, written, Span::from_millis(10))
    }

    /// A round in which every packet is marked if `marked`; the first mark starts a new episode.
    fn round(bench: &mut SenderBench, marked: bool) {
        let packets = bench.window() as u64;
        for n in 0..packets {
            let plain = bench.plain();
            let mark = Ack { ce_packets: 1, ce_bytes: plain.bytes, ..plain };
            bench.ack(if marked { &mark } else { &plain });
            if marked {
                bench.congestion(Cause::Ecn, if n == 0 { Episode::New } else { Episode::Same });
            }
        }
        bench.next_round();
    }

    #[test]
    fn alpha_converges_geometrically() {
        let mut quiet = bench(&[]);
        let mut marked = bench(&[("initial_alpha", Value::Number(0.0))]);
        for n in 0..12 {
            let left = libm::pow(1.0 - G, f64::from(n));
            assert!((quiet.gauge("marked fraction") - left).abs() < 1e-12);
            assert!((marked.gauge("marked fraction") - (1.0 - left)).abs() < 1e-12);
            // One acknowledgement per round covers all its packets.
            quiet.next_round();
            quiet.ack(&quiet.plain());
            marked.next_round();
            marked.ack(&Ack { ce_packets: 1, ce_bytes: marked.plain().bytes, ..marked.plain() });
        }
    }

    #[test]
    fn marks_reduce_the_window_by_half_of_alpha_once_per_window() {
        let mut bench =
            bench(&[("initial_alpha", Value::Number(0.4)), ("initial_window", Value::Number(20.0))]);
        bench.congestion(Cause::Ecn, Episode::New);
        bench.congestion(Cause::Ecn, Episode::Same);
        assert_eq!(bench.window(), 16.0);
    }

    #[test]
    fn a_loss_halves_the_window_also_after_a_mark_but_a_mark_after_a_loss_has_no_effect() {
        let written = [("initial_alpha", Value::Number(0.4)), ("initial_window", Value::Number(20.0))];
        let mut bench = bench(&written);
        bench.ack_with_unused_window();
        bench.congestion(Cause::Ecn, Episode::New);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        assert_eq!(bench.window(), 8.0);
        bench.congestion(Cause::Ecn, Episode::New);
        assert_eq!(bench.window(), 8.0);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
    }

    #[test]
    fn the_readings_differ_in_marked_bytes_and_in_the_round_after_a_reduction() {
        // Reading, window of 10 after one marked packet, and increase in the round after the reduction to 8.
        let grows = |growth: &'static str| {
            let mut bench = bench(&[
                ("growth", Value::text(growth)),
                ("initial_alpha", Value::Number(0.4)),
                ("initial_window", Value::Number(10.0)),
            ]);
            bench.ack_with_unused_window();
            let marked = Ack { ce_packets: 1, ce_bytes: bench.plain().bytes, ..bench.plain() };
            bench.ack(&marked);
            let on_mark = bench.window() - 10.0;
            bench.congestion(Cause::Ecn, Episode::New);
            let cut = bench.window();
            assert!((cut / (10.0 + on_mark) - 0.8).abs() < 1e-3, "{growth}: {cut}");
            for _ in 0..cut as u64 - 1 {
                bench.ack(&bench.plain());
            }
            (on_mark, bench.window() - cut)
        };
        // Slow start adds the acknowledged packet; congestion avoidance a packet per window, here less two packets.
        assert_eq!(grows("outside-recovery"), (1.0, 0.0));
        let (on_mark, after) = grows("unmarked");
        assert!(on_mark == 0.0 && (0.75..1.0).contains(&after), "{after}");
        let (on_mark, after) = grows("always");
        assert!(on_mark == 1.0 && (0.75..1.0).contains(&after), "{after}");
    }

    #[test]
    fn growth_resumes_with_the_first_packet_sent_after_the_reduction() {
        let mut bench = bench(&[("initial_window", Value::Number(10.0))]);
        bench.round_of(1);
        bench.congestion(Cause::Ecn, Episode::New);
        let cut = bench.window();
        bench.round_of(cut as u64 - 1);
        assert_eq!(bench.window(), cut);
        bench.round_of(cut as u64);
        // Four of the five acknowledge packets sent after it.
        assert!(bench.window() > cut + 3.0 / cut);
    }

    #[test]
    fn a_single_flow_settles_where_alpha_squared_is_two_over_the_window() {
        // Alizadeh et al. 2010, Eq. (6): alpha^2 (1 - alpha/4) = (2 W + 1) / (W + 1)^2 for a flow that is marked for the
        // one round in which its window is above W. A small g makes the ripple of alpha small.
        for limit in [64.0, 256.0] {
            let mut bench = bench(&[("g", Value::Number(0.01))]);
            let (mut sum, rounds) = (0.0, 4000);
            for n in 0..2 * rounds {
                let marked = bench.window() > limit;
                round(&mut bench, marked);
                if n >= rounds {
                    sum += bench.gauge("marked fraction");
                }
            }
            let alpha = sum / f64::from(rounds);
            let found = alpha * alpha * (1.0 - alpha / 4.0);
            let theory = (2.0 * limit + 1.0) / ((limit + 1.0) * (limit + 1.0));
            assert!((found / theory - 1.0).abs() < 0.2, "W = {limit}: {found}, theory {theory}");
        }
    }
}
