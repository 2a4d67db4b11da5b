//! The phase that measures the base round-trip time (section 5.3.4).

use super::cycle::AckPhase;
use super::delivery::RateSample;
use super::loss::Limits;
use super::phase::Phase;
use super::sender::Bbr3Sender;
use millpond_law::{Ack, Context};
use millpond_units::Time;

/// Progress of the phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// BBR.probe_rtt_done_stamp: when the phase may end; none until little is in flight.
    done_at: Option<Time>,
    /// BBR.probe_rtt_round_done.
    round_done: bool,
}

/// The samples of packets that were sent while the law itself held back (MarkConnectionAppLimited in HandleProbeRTT).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnLimit {
    /// Bytes delivered when the law began to hold back, and when the last packet sent until now will have been delivered.
    range: Option<(f64, f64)>,
}

impl OwnLimit {
    fn mark(&mut self, delivered: f64, in_flight: f64) {
        let began = self.range.filter(|(_, until)| delivered <= *until).map_or(delivered, |(began, _)| began);
        self.range = Some((began, delivered + in_flight));
    }

    /// True if the newest packet of `ack` was sent in such a time.
    pub(super) fn applies(&self, ack: &Ack) -> bool {
        let prior = ack.prior_delivered.as_f64();
        self.range.is_some_and(|(began, until)| (began..=until).contains(&prior))
    }
}

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
