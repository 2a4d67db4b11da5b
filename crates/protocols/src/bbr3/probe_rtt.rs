//! The phase that measures the base round-trip time (section 5.3.4).

use super::delivery::RateSample;
use super::phase::Phase;
use super::sender::Bbr3Sender;
use super::state::{AckPhase, Limits, ProbeRtt};
use millpond_law::Context;

impl Bbr3Sender {
    /// CheckProbeRTT().
    pub(super) fn check_probe_rtt(&mut self, cx: &mut Context<'_>, sample: &RateSample) {
        if self.phase != Phase::ProbeRtt && self.min_rtt.is_due && !self.restarted {
            self.phase = Phase::ProbeRtt;
            self.save_window();
            self.probe_rtt = ProbeRtt::default();
            self.probe.ack_phase = AckPhase::ProbeStopping;
            self.rounds.begin(sample.total_delivered);
        }
        if self.phase == Phase::ProbeRtt {
            self.handle_probe_rtt(cx, sample);
        }
        if sample.delivered > 0.0 {
            self.restarted = false;
        }
    }

    /// HandleProbeRTT().
    fn handle_probe_rtt(&mut self, cx: &mut Context<'_>, sample: &RateSample) {
        self.own_limit.mark(sample.total_delivered, sample.in_flight);
        if self.probe_rtt.done_at.is_none() {
            if sample.in_flight <= self.probe_rtt_window() {
                let done_at = Some(cx.now + self.params.probe_rtt_duration);
                self.probe_rtt = ProbeRtt { done_at, round_done: false };
                self.rounds.begin(sample.total_delivered);
            }
            return;
        }
        self.probe_rtt.round_done |= self.rounds.started;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done(cx);
        }
    }

    /// CheckProbeRTTDone() and ExitProbeRTT().
    pub(super) fn check_probe_rtt_done(&mut self, cx: &mut Context<'_>) {
        if self.probe_rtt.done_at.is_none_or(|done_at| cx.now <= done_at) {
            return;
        }
        self.min_rtt.on_measured(cx.now);
        self.window = self.window.max(self.saved_window);
        self.limits = Limits { in_flight_long_term: self.limits.in_flight_long_term, ..Limits::NONE };
        if self.full_pipe.was_reached {
            self.start_down(cx, self.delivered);
            self.phase = Phase::Cruise;
        } else {
            self.phase = Phase::Startup;
        }
    }
}
