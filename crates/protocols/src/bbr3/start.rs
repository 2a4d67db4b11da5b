//! The search for the bandwidth at the start, and how it ends (sections 5.3.1 and 5.3.2).

use super::delivery::RateSample;
use super::phase::Phase;
use super::sender::Bbr3Sender;
use millpond_law::Context;

/// Round trips after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3Sender {
    /// CheckStartupDone().
    pub(super) fn check_startup_done(&mut self, sample: &RateSample) {
        self.check_startup_loss(sample);
        if self.phase == Phase::Startup && self.full_pipe.was_reached {
            self.phase = Phase::Drain;
            self.drain_round = self.rounds.count;
        }
    }

    /// CheckStartupHighLoss() (section 5.3.1.3): the start ends if in a full round trip of recovery more than the threshold
    /// was lost, in several pieces.
    fn check_startup_loss(&mut self, sample: &RateSample) {
        if !self.latest.round_ended {
            return;
        }
        let losses = std::mem::take(&mut self.latest.losses);
        let recovers = self.recovery.is_some_and(|began| self.rounds.count > began);
        if self.phase == Phase::Startup
            && recovers
            && losses >= self.params.startup_losses
            && self.is_too_high(sample.lost, sample.in_flight_at_send)
        {
            self.undo.phase = Some(Phase::Startup);
            self.full_pipe.reach();
            self.limits.in_flight_long_term = self.bdp(self.bw).max(self.latest.volume);
        }
    }

    /// CheckDrainDone().
    pub(super) fn check_drain_done(&mut self, cx: &mut Context<'_>, sample: &RateSample) {
        if self.phase == Phase::Drain
            && (sample.in_flight <= self.in_flight_target(self.bw)
                || self.rounds.count > self.drain_round + DRAIN_ROUNDS)
        {
            self.start_down(cx, sample.total_delivered);
        }
    }
}
