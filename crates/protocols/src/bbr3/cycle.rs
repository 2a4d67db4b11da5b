//! The bandwidth cycle: down, cruise, refill, up (section 5.3.3).

use super::delivery::RateSample;
use super::phase::Phase;
use super::sender::Bbr3Sender;
use super::state::{AckPhase, Limits};
use millpond_law::Context;
use millpond_units::{Span, Time};

/// Most round trips between two probes, for coexistence with Reno and CUBIC (section 5.3.3.8).
const MOST_ROUNDS: f64 = 63.0;

/// Most round trips in which the growth of the long-term limit doubles.
const MOST_DOUBLINGS: u32 = 30;

impl Bbr3Sender {
    /// StartProbeBW_DOWN(), with this many bytes delivered.
    pub(super) fn start_down(&mut self, cx: &mut Context<'_>, delivered: f64) {
        self.latest.reset();
        self.probe.acked_per_packet = f64::INFINITY;
        self.pick_wait(cx);
        self.probe.began = cx.now;
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.rounds.begin(delivered);
        self.phase = Phase::Down;
    }

    /// PickProbeWait(): 2 to 3 s, and 62 or 63 round trips.
    fn pick_wait(&mut self, cx: &mut Context<'_>) {
        self.probe.rounds_since_up = u64::from(cx.random.chance(0.5));
        self.probe.wait = Span::from_secs(2.0 + cx.random.uniform());
    }

    /// StartProbeBW_REFILL().
    pub(super) fn start_refill(&mut self, delivered: f64) {
        self.limits = Limits { in_flight_long_term: self.limits.in_flight_long_term, ..Limits::NONE };
        (self.probe.doublings, self.probe.acked) = (0, 0.0);
        self.probe.was_precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.rounds.begin(delivered);
        self.phase = Phase::Refill;
    }

    /// StartProbeBW_UP().
    fn start_up(&mut self, sample: &RateSample) {
        self.probe.ack_phase = AckPhase::ProbeStarting;
        self.rounds.begin(sample.total_delivered);
        self.full_pipe.reset(sample.rate);
        self.phase = Phase::Up;
        self.raise_slope();
    }

    /// UpdateProbeBWCyclePhase() (section 5.3.3.9).
    pub(super) fn update_cycle(&mut self, cx: &mut Context<'_>, sample: &RateSample) {
        if !self.full_pipe.was_reached || self.adapt_long_term_limit(sample) {
            return;
        }
        match self.phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(cx.now) => {
                self.start_refill(sample.total_delivered);
            }
            Phase::Down if self.is_time_to_cruise(sample) => self.phase = Phase::Cruise,
            Phase::Refill if self.rounds.started => {
                self.probe.is_sample = true;
                self.start_up(sample);
            }
            Phase::Up => self.end_probe(cx, sample),
            _ => {}
        }
    }

    /// Ends the probe when it is time.
    fn end_probe(&mut self, cx: &mut Context<'_>, sample: &RateSample) {
        if self.is_time_to_go_down(sample) {
            self.probe.was_too_high = false;
            self.start_down(cx, sample.total_delivered);
        }
    }

    /// IsTimeToProbeBW(): after the random wait, or after as many round trips as Reno needs for its sawtooth.
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = (self.target_in_flight() / self.packet).min(MOST_ROUNDS);
        now > self.probe.began + self.probe.wait || self.probe.rounds_since_up as f64 >= reno_rounds
    }

    /// IsTimeToCruise().
    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        sample.in_flight <= self.in_flight_with_headroom()
            && sample.in_flight <= self.in_flight_target(self.max_bw())
    }

    /// IsTimeToGoDown().
    fn is_time_to_go_down(&mut self, sample: &RateSample) -> bool {
        let limit = self.limits.in_flight_long_term;
        if self.probe.was_too_high && sample.in_flight >= limit {
            self.probe.was_precautionary = true;
            return true;
        }
        if self.is_window_limited() && self.window >= limit {
            self.full_pipe.reset(sample.rate);
            return false;
        }
        self.full_pipe.is_full
    }

    /// InflightWithHeadroom().
    pub(super) fn in_flight_with_headroom(&self) -> f64 {
        let limit = self.limits.in_flight_long_term;
        if limit.is_infinite() {
            return limit;
        }
        let headroom = self.packet.max(self.params.headroom * limit);
        (limit - headroom).max(self.min_window())
    }

    /// RaiseInflightLongtermSlope().
    fn raise_slope(&mut self) {
        let packets_per_round = f64::from(1_u32 << self.probe.doublings);
        self.probe.doublings = (self.probe.doublings + 1).min(MOST_DOUBLINGS);
        self.probe.acked_per_packet = (self.window / packets_per_round).max(self.packet);
    }

    /// ProbeInflightLongtermUpward().
    fn raise_long_term_limit(&mut self, sample: &RateSample) {
        if !self.is_window_limited() || self.window < self.limits.in_flight_long_term {
            return;
        }
        self.probe.acked += sample.newly_acked;
        let packets = (self.probe.acked / self.probe.acked_per_packet).floor();
        if packets >= 1.0 {
            self.probe.acked -= packets * self.probe.acked_per_packet;
            self.limits.in_flight_long_term += packets * self.packet;
        }
        if self.rounds.started {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel(). Returns true if the phase has changed.
    fn adapt_long_term_limit(&mut self, sample: &RateSample) -> bool {
        if self.rounds.started && self.advance_ack_phase(sample) {
            return true;
        }
        let limit = self.limits.in_flight_long_term;
        if !self.is_too_high(sample.lost, sample.in_flight_at_send) && limit.is_finite() {
            self.limits.in_flight_long_term = limit.max(sample.in_flight_at_send);
            if self.phase == Phase::Up {
                self.raise_long_term_limit(sample);
            }
        }
        false
    }

    /// The part of AdaptLongTermModel() at the end of a round trip. Returns true if the phase has changed.
    fn advance_ack_phase(&mut self, sample: &RateSample) -> bool {
        match self.probe.ack_phase {
            AckPhase::ProbeStarting => self.probe.ack_phase = AckPhase::ProbeFeedback,
            AckPhase::ProbeStopping => return self.end_of_probe_samples(sample),
            AckPhase::Init | AckPhase::Refilling | AckPhase::ProbeFeedback => {}
        }
        false
    }

    /// The last sample of a probe has arrived. After a precautionary probe without excessive loss the next one follows at
    /// once.
    fn end_of_probe_samples(&mut self, sample: &RateSample) -> bool {
        self.probe.is_sample = false;
        self.probe.ack_phase = AckPhase::Init;
        if !self.phase.is_in_cycle() {
            return false;
        }
        if !sample.app_limited {
            self.advance_max_bw();
        }
        if self.probe.was_precautionary && !self.probe.was_too_high {
            self.start_refill(sample.total_delivered);
            return true;
        }
        false
    }

    /// AdvanceMaxBwFilter(). A cycle without samples does not count.
    fn advance_max_bw(&mut self) {
        if self.cycle_maxima[1] > 0.0 {
            self.cycle_maxima = [self.cycle_maxima[1], 0.0];
        }
    }
}
