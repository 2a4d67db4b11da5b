//! The response to losses (sections 5.5.10 and 5.5.11).

use super::phase::Phase;
use super::sender::Bbr3Sender;
use super::state::{Limits, Undo};
use millpond_law::{Context, LostPacket};

/// How much was in flight when the losses reached `threshold` (InflightAtLoss), in bytes.
pub(super) fn in_flight_at_loss(threshold: f64, packet: f64, in_flight_at_send: f64, lost: f64) -> f64 {
    let (in_flight_before, lost_before) = (in_flight_at_send - packet, lost - packet);
    in_flight_before + (threshold * in_flight_before - lost_before) / (1.0 - threshold)
}

impl Bbr3Sender {
    /// IsInflightTooHigh(): more than the threshold was lost of what was in flight.
    pub(super) fn is_too_high(&self, lost: f64, in_flight_at_send: f64) -> bool {
        lost > in_flight_at_send * self.params.loss_threshold
    }

    /// HandleLostPacket().
    pub(super) fn handle_lost_packet(&mut self, cx: &mut Context<'_>, lost: &LostPacket) {
        let delivered = lost.delivered.as_f64();
        self.delivered = delivered;
        if self.latest.on_loss(delivered) {
            self.save_state();
        } else if self.recovery.is_none() {
            self.save_window();
        }
        if !self.probe.is_sample {
            return;
        }
        let (in_flight, lost_since) = (lost.in_flight_at_send.as_f64(), lost.lost_since.as_f64());
        if self.is_too_high(lost_since, in_flight) {
            let bytes = lost.bytes.as_f64();
            let limit = in_flight_at_loss(self.params.loss_threshold, bytes, in_flight, lost_since);
            self.handle_too_high(cx, limit, lost.app_limited, delivered);
        }
    }

    /// HandleInflightTooHigh(): `in_flight` bytes were too many.
    fn handle_too_high(&mut self, cx: &mut Context<'_>, in_flight: f64, app_limited: bool, delivered: f64) {
        self.probe.was_too_high = true;
        self.probe.is_sample = false;
        if !app_limited {
            self.limits.in_flight_long_term = in_flight.max(self.target_in_flight() * self.params.beta);
        }
        if self.phase == Phase::Up {
            self.undo.phase = Some(Phase::Up);
            self.start_down(cx, delivered);
        }
    }

    /// The part of UpdateCongestionSignals() at the end of a round trip, and AdaptLowerBoundsFromCongestion().
    pub(super) fn adapt_short_term_limits(&mut self) {
        if !self.latest.round_ended {
            return;
        }
        if self.latest.has_loss && !self.phase.is_probing() {
            let (beta, limits) = (self.params.beta, self.limits);
            let or = |limit: f64, initial| if limit.is_finite() { limit } else { initial };
            self.limits.bw_short_term = self.latest.rate.max(beta * or(limits.bw_short_term, self.max_bw()));
            self.limits.in_flight_short_term =
                self.latest.volume.max(beta * or(limits.in_flight_short_term, self.window));
        }
        self.latest.has_loss = false;
    }

    /// SaveCwnd().
    pub(super) fn save_window(&mut self) {
        let replaces = self.recovery.is_none() && self.phase != Phase::ProbeRtt;
        self.saved_window = if replaces { self.window } else { self.saved_window.max(self.window) };
    }

    /// SaveStateUponLoss().
    fn save_state(&mut self) {
        self.save_window();
        self.undo = Undo { phase: None, limits: self.limits };
    }

    /// OnEnterRTO(): everything in flight counts as lost, so that one packet may leave.
    pub(super) fn on_persistent_congestion(&mut self) {
        self.save_state();
        self.recovery = Some(self.rounds.count);
        self.window = self.packet;
    }

    /// HandleSpuriousLossDetection() (section 5.5.11.2).
    pub(super) fn undo_loss(&mut self) {
        self.window = self.window.max(self.saved_window);
        self.latest.has_loss = false;
        self.full_pipe.reset(0.0);
        let saved = self.undo.limits;
        self.limits = Limits {
            in_flight_long_term: self.limits.in_flight_long_term.max(saved.in_flight_long_term),
            bw_short_term: self.limits.bw_short_term.max(saved.bw_short_term),
            in_flight_short_term: self.limits.in_flight_short_term.max(saved.in_flight_short_term),
        };
        match self.undo.phase.take() {
            Some(Phase::Startup) if self.phase != Phase::Startup => {
                self.full_pipe.was_reached = false;
                if self.phase != Phase::ProbeRtt {
                    self.phase = Phase::Startup;
                }
            }
            Some(Phase::Up) if self.phase != Phase::Up && self.phase != Phase::ProbeRtt => {
                self.start_refill(self.delivered);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::params::{PARAMETERS, Params};
    use super::*;
    use millpond_law::{Ack, Cause, Congestion, Episode, Random, Sender, Settings, SpuriousLoss, Start};
    use millpond_units::{Bytes, Span, Time};

    const PACKET: Bytes = Bytes::new(1000);

    /// A sender that probes with a window of 100 packets, on a path with a product of 60.
    fn probing(cx: &mut Context<'_>) -> Bbr3Sender {
        let mut sender = Bbr3Sender::new(Params::read(&Settings::check(PARAMETERS, []).unwrap()));
        sender.on_start(cx, &Start::plain(PACKET));
        sender.full_pipe.reach();
        sender.min_rtt.update(cx.now, Some(Span::from_millis(40)), &sender.params.clone());
        (sender.cycle_maxima, sender.bw) = ([1.5e6; 2], 1.5e6);
        (sender.phase, sender.window) = (Phase::Up, 1e5);
        sender.probe.is_sample = true;
        sender
    }

    /// Sections 5.6.4.4 and 5.5.11.1: the window is saved when recovery begins, before the response to the loss.
    #[test]
    fn after_a_spurious_loss_the_window_is_that_of_before_the_response() {
        let cx = &mut Context { now: Time::from_secs(1.0), random: &mut Random::stream(1, "sender") };
        let mut sender = probing(cx);
        let lost = LostPacket {
            bytes: PACKET,
            in_flight_at_send: PACKET * 50,
            lost_since: PACKET * 3,
            delivered: PACKET * 1000,
            app_limited: false,
        };
        sender.on_lost_packet(cx, &lost);
        let ack = Ack {
            delivered: PACKET * 1000,
            prior_delivered: PACKET * 950,
            newly_lost: PACKET,
            ..Ack::plain(PACKET, Span::from_millis(40), PACKET * 48)
        };
        sender.on_ack(cx, &ack);
        let congestion = Congestion {
            cause: Cause::Loss,
            episode: Episode::New,
            bytes: PACKET,
            in_flight: PACKET * 48,
            prior_in_flight: PACKET * 49,
        };
        sender.on_congestion(cx, &congestion);
        assert!(sender.phase == Phase::Down && sender.window < 5e4, "{}", sender.window);
        sender.on_spurious_loss(cx, &SpuriousLoss { bytes: PACKET, whole_episode: true });
        assert_eq!((sender.phase, sender.window), (Phase::Refill, 1e5));
    }
}
