//! The search for the bandwidth at the start, and how it ends (sections 5.3.1 and 5.3.2).

use super::delivery::RateSample;
use super::phase::Phase;
use super::sender::Bbr3Sender;
use millpond_law::Context;

/// Growth of the rate per round trip below which it counts as a plateau.
const GROWTH: f64 = 1.25;

/// Round trips on a plateau after which the path counts as full.
const PLATEAU_ROUNDS: u32 = 3;

/// Round trips after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

/// The estimator that looks for a plateau of the delivery rate while the sender accelerates (section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// BBR.full_bw, in bytes/s.
    rate: f64,
    /// BBR.full_bw_count.
    plateau: u32,
    /// BBR.full_bw_now.
    pub(super) is_full: bool,
    /// BBR.full_bw_reached: the path was full at some time.
    pub(super) was_reached: bool,
}

impl FullPipe {
    /// ResetFullBW(), with `rate` as the rate to exceed.
    pub(super) fn reset(&mut self, rate: f64) {
        (self.rate, self.plateau, self.is_full) = (rate, 0, false);
    }

    /// The path is full.
    pub(super) fn reach(&mut self) {
        (self.is_full, self.was_reached) = (true, true);
    }

    /// CheckFullBWReached().
    pub(super) fn update(&mut self, sample: &RateSample, round_started: bool) {
        if self.is_full || !round_started || sample.app_limited {
            return;
        }
        if sample.rate >= self.rate * GROWTH {
            self.reset(sample.rate);
            return;
        }
        self.plateau += 1;
        if self.plateau >= PLATEAU_ROUNDS {
            self.reach();
        }
    }
}

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
