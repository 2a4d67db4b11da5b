//! CUBIC's sender (RFC 9438, section 4).

use super::params::Params;
use crate::parts::cubic_window::{CubicConstants, CubicWindow};
use crate::parts::proportional_reduction::ProportionalReduction;
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Start};
use millpond_units::Bytes;

/// CUBIC's state.
pub(super) struct CubicSender {
    params: Params,
    cubic: CubicWindow,
    reduction: Option<ProportionalReduction>,
    packet: Bytes,
}

impl CubicSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            cubic: cubic_window(&params, Bytes::ZERO),
            reduction: params.proportional_reduction.then(ProportionalReduction::default),
            packet: Bytes::ZERO,
        }
    }

    fn end_reduction(&mut self) {
        self.reduction.iter_mut().for_each(ProportionalReduction::end);
    }
}

fn cubic_window(params: &Params, packet: Bytes) -> CubicWindow {
    let Params { c, beta, fast_convergence, initial_window, slow_start, .. } = *params;
    CubicWindow::new(CubicConstants { c, beta, fast_convergence }, packet, initial_window)
        .with_slow_start(slow_start)
}

impl Sender for CubicSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.cubic = cubic_window(&self.params, start.packet);
        self.packet = start.packet;
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        if let Some(reduction) = &mut self.reduction {
            reduction.on_ack(ack, self.packet);
        }
        self.cubic.on_ack(cx.now, ack);
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        let was_in_recovery = self.cubic.window().in_recovery();
        self.cubic.on_congestion(congestion);
        match (congestion.cause, congestion.episode, &mut self.reduction) {
            (Cause::Loss, Episode::New, Some(reduction)) if !was_in_recovery => {
                reduction.begin(congestion, self.cubic.window().bytes(), self.packet);
            }
            (Cause::NoFeedback, ..) => self.end_reduction(),
            _ => {}
        }
    }

    fn on_recovery_end(&mut self, _cx: &mut Context<'_>) {
        self.end_reduction();
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.cubic.restart_from_idle(cx.now);
    }

    fn permit(&self) -> Permit {
        let window = self.reduction.and_then(|reduction| reduction.limit());
        Permit { window: Some(window.unwrap_or(self.cubic.window().bytes())), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.cubic.window().packets());
        gauge.quantity("plateau", "packets", self.cubic.plateau());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cubic;
    use crate::parts::cubic_window::{k, w_cubic};
    use crate::testing::SenderBench;
    use millpond_law::{Cause, Episode, Value};
    use millpond_units::Span;

    const RTT: Span = Span::from_millis(100);

    fn bench(rtt: Span, written: &[(&'static str, Value)]) -> SenderBench {
        SenderBench::new(&Cubic, written, rtt)
    }

    /// A sender that has just reduced its window of `packets` and has left recovery.
    fn after_a_loss(packets: f64) -> SenderBench {
        let mut bench = bench(RTT, &[("initial_window", Value::Number(packets))]);
        bench.ack_with_unused_window();
        bench.congestion(Cause::Loss, Episode::New);
        bench.full_round();
        bench
    }

    #[test]
    fn the_window_returns_to_the_plateau_after_k_with_zero_slope() {
        // K = cbrt(1000 * 0.3 / 0.4) = 9.0856 s for a loss at 1000 packets.
        assert!((k(0.4, 1000.0, 700.0) - 9.0856).abs() < 1e-4);
        let mut bench = after_a_loss(1000.0);
        let begin = bench.now;
        let mut near_plateau = Vec::new();
        while bench.now.since(begin) < Span::from_secs(9.0856 + 3.0) {
            bench.full_round();
            let t = bench.now.since(begin).secs();
            // The target is one round trip ahead, so the error is at most one round trip of Figure 1.
            let (low, high) = (w_cubic(0.4, t - 0.2, 9.0856, 1000.0), w_cubic(0.4, t + 0.1, 9.0856, 1000.0));
            assert!(
                bench.window() >= low - 1.0 && bench.window() <= high + 1.0,
                "t = {t}: {}",
                bench.window()
            );
            if (t - 9.0856).abs() < 1.0 {
                near_plateau.push(bench.window());
            }
        }
        assert!(near_plateau.iter().all(|w| (w - 1000.0).abs() < 1.0), "{near_plateau:?}");
    }

    #[test]
    fn the_target_of_an_acknowledgement_is_the_cubic_function_one_round_trip_later() {
        let second_ack_after_recovery = |c| {
            let written = [("initial_window", Value::Number(1000.0)), ("c", Value::Number(c))];
            let mut bench = bench(RTT, &written);
            bench.ack_with_unused_window();
            bench.congestion(Cause::Loss, Episode::New);
            bench.round_of(700);
            bench.round_of(1);
            bench.window()
        };
        // t = 0.1 s: W_cubic(0.2 s) = 0.4 (0.2 - 9.0856)^3 + 1000 = 719.379, so 19.378 / 700 of a packet more.
        assert!((second_ack_after_recovery(0.4) - 700.0277 - 0.0008).abs() < 1e-3);
        // The cubic function is then far above the plateau; the bound of 1.5 cwnd adds half a packet.
        assert!((second_ack_after_recovery(1e6) - 700.5 - 0.0008).abs() < 1e-3);
    }

    #[test]
    fn a_loss_every_1_over_p_packets_gives_the_average_windows_of_the_rfcs_tables() {
        // Tables 1 and 2, RFC 9438: Figure 5 in the cubic region, Reno's window if that is larger. The tables assume
        // that each loss is at the previous plateau, without fast convergence. The law approaches that state slowly,
        // so the test starts in it.
        for (millis, c, p, table) in [
            (100, 0.4, 1e-4, 187.0),
            (100, 0.4, 1e-5, 1054.0),
            (100, 0.04, 1e-5, 593.0),
            (100, 4.0, 1e-5, 1874.0),
            (10, 0.4, 1e-4, 120.0),
            (10, 0.4, 1e-5, 379.0),
        ] {
            let plateau = table * 4.0 / 3.7;
            let written = [
                ("c", Value::Number(c)),
                ("initial_window", Value::Number(plateau)),
                ("fast_convergence", Value::Flag(false)),
            ];
            let mean = mean_window(bench(Span::from_millis(millis), &written), p);
            assert!((mean / table - 1.0).abs() < 0.05, "{millis} ms, C {c}, p {p}: {mean}, table {table}");
        }
    }

    /// The mean window over rounds when every (1/p)-th packet is lost, over forty losses.
    fn mean_window(mut bench: SenderBench, p: f64) -> f64 {
        let (mut until_loss, mut losses) = (0.0, 0);
        let (mut sum, mut rounds) = (0.0, 0.0);
        while losses < 40 {
            if until_loss <= 0.0 {
                until_loss += 1.0 / p;
                losses += 1;
                bench.congestion(Cause::Loss, Episode::New);
            }
            until_loss -= bench.window();
            sum += bench.window();
            rounds += 1.0;
            bench.full_round();
        }
        sum / rounds
    }

    #[test]
    fn a_second_loss_below_the_plateau_lowers_the_plateau() {
        let mut bench = after_a_loss(100.0);
        bench.congestion(Cause::Loss, Episode::New);
        let cwnd = bench.window() / 0.7;
        assert!((bench.gauge("plateau") - cwnd * 0.85).abs() < 1e-3);
        let mut stubborn = SenderBench::new(
            &Cubic,
            &[("initial_window", Value::Number(100.0)), ("fast_convergence", Value::Flag(false))],
            RTT,
        );
        stubborn.congestion(Cause::Loss, Episode::New);
        stubborn.congestion(Cause::Loss, Episode::New);
        assert!((stubborn.gauge("plateau") - 70.0).abs() < 1e-9);
    }

    /// A sender that has resumed after 30 s without data grows as one that was never idle.
    fn assert_that_idle_time_does_not_count(resume: fn(&mut SenderBench)) {
        let (mut busy, mut idle) = (after_a_loss(1000.0), after_a_loss(1000.0));
        busy.full_round();
        idle.full_round();
        idle.now += Span::from_secs(30.0);
        resume(&mut idle);
        for _ in 0..20 {
            busy.full_round();
            idle.full_round();
        }
        assert!((busy.window() - idle.window()).abs() < 1.0, "{} {}", busy.window(), idle.window());
    }

    #[test]
    fn application_limited_time_is_excluded_from_the_epoch() {
        assert_that_idle_time_does_not_count(|bench| bench.ack_with_unused_window());
    }

    /// RFC 9438, sections 4.2 and 5.8: also where the application resumes with more data than the window permits, so that the first
    /// acknowledgement finds the window in use.
    #[test]
    fn idle_time_before_more_data_than_a_window_is_excluded_from_the_epoch() {
        assert_that_idle_time_does_not_count(SenderBench::restart_from_idle);
    }

    #[test]
    fn after_persistent_congestion_the_plateau_is_where_slow_start_ends() {
        let mut bench = bench(RTT, &[("initial_window", Value::Number(100.0))]);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
        while bench.gauge("plateau") == 0.0 {
            bench.full_round();
        }
        assert_eq!(bench.gauge("plateau"), 70.0);
    }

    /// RFC 9438, section 4.6: marks reduce the window to one packet, losses to two. The slow-start threshold is at least two packets.
    #[test]
    fn marks_reduce_the_window_to_one_packet_and_losses_to_two() {
        for (cause, least) in [(Cause::Ecn, 1.0), (Cause::Loss, 2.0)] {
            let mut bench = bench(RTT, &[("initial_window", Value::Number(3.0))]);
            bench.ack_with_unused_window();
            bench.congestion(cause, Episode::New);
            assert!((bench.window() - 2.1).abs() < 1e-3);
            for _ in 0..5 {
                (0..4).for_each(|_| bench.ack_with_unused_window());
                bench.congestion(cause, Episode::New);
            }
            assert_eq!(bench.window(), least, "{cause:?}");
            (0..4).for_each(|_| bench.full_round());
            assert!(bench.window() > 2.0, "{cause:?}: {}", bench.window());
        }
    }

    #[test]
    fn a_recovery_period_has_one_reduction_and_a_probe_timeout_has_none() {
        let mut bench = bench(RTT, &[]);
        bench.ack_with_unused_window();
        bench.congestion(Cause::Timeout, Episode::New);
        assert_eq!(bench.window(), 10.0);
        bench.congestion(Cause::Ecn, Episode::New);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        assert_eq!(bench.window(), 7.0);
    }
}
