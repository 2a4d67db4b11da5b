//! NewReno's sender (RFC 9002, section 7).

use super::params::Params;
use crate::parts::hystart::{HyStart, SlowStart};
use crate::parts::proportional_reduction::ProportionalReduction;
use crate::parts::window::Window;
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Start};
use millpond_units::{Bytes, Rate, Span};

/// NewReno's state.
pub(super) struct NewRenoSender {
    params: Params,
    window: Window,
    hystart: Option<HyStart>,
    reduction: Option<ProportionalReduction>,
    packet: Bytes,
    smoothed_rtt: Span,
}

impl NewRenoSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            window: Window::new(Bytes::ZERO, None),
            hystart: (params.slow_start == SlowStart::HyStart).then(|| HyStart::new(params.pacing)),
            reduction: params.proportional_reduction.then(ProportionalReduction::default),
            packet: Bytes::ZERO,
            smoothed_rtt: Span::ZERO,
        }
    }

    fn end_reduction(&mut self) {
        self.reduction.iter_mut().for_each(ProportionalReduction::end);
    }

    /// rate = N * congestion_window / smoothed_rtt (RFC 9002, section 7.7).
    fn pace(&self) -> Option<Rate> {
        let paced = self.params.pacing && !self.smoothed_rtt.is_zero();
        let rate = || self.window.bytes().per(self.smoothed_rtt).scale(self.params.pacing_gain);
        paced.then(|| rate().max(Rate::from_bps(1)))
    }
}

impl Sender for NewRenoSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.window = Window::new(start.packet, self.params.initial_window);
        self.packet = start.packet;
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        if let Some(reduction) = &mut self.reduction {
            reduction.on_ack(ack, self.packet);
        }
        if !self.window.may_grow(ack) {
            return;
        }
        let growth = self.hystart.as_mut().map_or(ack.bytes, |hystart| hystart.growth(ack, &mut self.window));
        let remaining = self.window.slow_start(growth);
        if remaining > Bytes::ZERO {
            self.window.avoid_congestion(remaining);
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        // A probe timeout is not congestion (section 7.5); an episode has one reduction (section 7.3.2).
        if congestion.cause == Cause::Timeout {
            return;
        }
        if congestion.episode == Episode::New && !self.window.in_recovery() {
            self.window.reduce(self.params.loss_reduction_factor);
            if let (Some(reduction), Cause::Loss) = (&mut self.reduction, congestion.cause) {
                reduction.begin(congestion, self.window.bytes(), self.packet);
            }
        }
        if congestion.cause == Cause::NoFeedback {
            self.window.collapse();
            self.end_reduction();
        }
    }

    fn on_recovery_end(&mut self, _cx: &mut Context<'_>) {
        self.end_reduction();
    }

    fn permit(&self) -> Permit {
        let window = self.reduction.and_then(|reduction| reduction.limit());
        Permit { window: Some(window.unwrap_or(self.window.bytes())), pace: self.pace(), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window.packets());
        if let Some(threshold) = self.window.threshold() {
            gauge.quantity("slow-start threshold", "packets", threshold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NewReno;
    use crate::testing::SenderBench;
    use millpond_law::{Cause, Episode, Value};
    use millpond_units::{Rate, Span};

    const RTT: Span = Span::from_millis(100);

    fn bench(written: &[(&'static str, Value)]) -> SenderBench {
        SenderBench::new(&NewReno, written, RTT)
    }

    #[test]
    fn slow_start_doubles_the_window_per_round_and_avoidance_adds_a_packet() {
        let mut bench = bench(&[("initial_window", Value::Number(2.0))]);
        for expected in [4.0, 8.0, 16.0, 32.0] {
            bench.full_round();
            assert_eq!(bench.window(), expected);
        }
        bench.congestion(Cause::Loss, Episode::New);
        assert_eq!(bench.window(), 16.0);
        bench.round_of(15);
        assert_eq!(bench.window(), 16.0, "packets sent before the loss add nothing");
        bench.full_round();
        // Sixteen acknowledgements add 1/w each: slightly less than a packet, because w grows.
        assert!((bench.window() - 17.0).abs() < 0.04);
    }

    #[test]
    fn a_recovery_period_has_one_reduction_and_a_probe_timeout_has_none() {
        let mut bench = bench(&[]);
        bench.ack_with_unused_window();
        bench.congestion(Cause::Timeout, Episode::New);
        assert_eq!(bench.window(), 10.0);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        bench.congestion(Cause::Ecn, Episode::New);
        assert_eq!(bench.window(), 5.0, "the mark and the loss are in the same round trip");
        bench.full_round();
        bench.congestion(Cause::Ecn, Episode::New);
        assert!(bench.window() < 3.0);
    }

    #[test]
    fn persistent_congestion_resets_to_two_packets_and_slow_start_up_to_half_the_window() {
        let mut bench = bench(&[("initial_window", Value::Number(20.0))]);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
        bench.full_round();
        bench.full_round();
        assert_eq!(bench.window(), 8.0);
        bench.full_round();
        assert!(bench.window() > 10.0 && bench.window() < 11.0, "the threshold is at 10");
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut bench = bench(&[]);
        bench.ack_with_unused_window();
        assert_eq!(bench.window(), 10.0);
    }

    #[test]
    fn the_pacing_rate_is_five_quarters_of_the_window_per_round_trip() {
        let mut bench = bench(&[("pacing", Value::Flag(true))]);
        assert_eq!(bench.law.permit().pace, None, "without an RTT sample there is no pacing rate");
        bench.ack_with_unused_window();
        assert_eq!(bench.law.permit().pace, Some(Rate::from_mbps(1.0)));
    }

    #[test]
    fn a_loss_every_1_over_p_packets_gives_the_sawtooth_of_the_root_law() {
        // Mathis et al. 1997: between losses the window climbs from W/2 to W, one packet per round; the packets sent
        // meanwhile are 3 W^2 / 8 = 1/p, the mean window over time 3 W / 4 = sqrt(3 / (2 p)).
        for p in [1e-3, 1e-4] {
            let (mean, theory) = (mean_window(p), libm::sqrt(1.5 / p));
            assert!((mean / theory - 1.0).abs() < 0.05, "p = {p}: {mean}, theory {theory}");
        }
    }

    /// The mean window over rounds when every (1/p)-th packet is lost, after the first ten losses.
    fn mean_window(p: f64) -> f64 {
        let mut bench = bench(&[]);
        let (mut until_loss, mut losses) = (1.0 / p, 0);
        let (mut sum, mut rounds) = (0.0, 0.0);
        while losses < 40 {
            let window = bench.window();
            bench.full_round();
            until_loss -= window;
            if until_loss < 0.0 {
                until_loss += 1.0 / p;
                losses += 1;
                bench.congestion(Cause::Loss, Episode::New);
            }
            if losses >= 10 {
                sum += window;
                rounds += 1.0;
            }
        }
        sum / rounds
    }
}
