//! The sender of BBRv3: its state, and the order of the steps at each event (section 5.2).

use super::delivery::{Aggregation, LatestDelivery, RateSample, RoundCounter};
use super::min_rtt::MinRtt;
use super::params::Params;
use super::phase::Phase;
use super::state::{Limits, Probe, ProbeRtt, Undo};
use crate::parts::full_pipe::FullPipe;
use crate::parts::own_limit::OwnLimit;
use crate::parts::window::initial_window_bytes;
use millpond_law::{
    Ack, Cause, Congestion, Context, Episode, Gauge, LimitedBy, LostPacket, Permit, Sender, SpuriousLoss,
    Start,
};
use millpond_units::{Bytes, Rate, Time};

/// BBRv3's state. Volumes are bytes on the wire, rates bytes/s.
pub(super) struct Bbr3Sender {
    pub(super) params: Params,
    /// C.SMSS.
    pub(super) packet: f64,
    /// C.InitialCwnd.
    pub(super) initial_window: f64,
    /// C.cwnd.
    pub(super) window: f64,
    /// BBR.prior_cwnd.
    pub(super) saved_window: f64,
    /// C.pacing_rate.
    pub(super) pacing_rate: f64,
    pub(super) phase: Phase,
    pub(super) rounds: RoundCounter,
    /// BBR.max_bw_filter: the largest rates of the previous and of the current bandwidth cycle.
    pub(super) cycle_maxima: [f64; 2],
    /// BBR.bw.
    pub(super) bw: f64,
    pub(super) full_pipe: FullPipe,
    pub(super) min_rtt: MinRtt,
    pub(super) aggregation: Aggregation,
    pub(super) latest: LatestDelivery,
    pub(super) limits: Limits,
    pub(super) undo: Undo,
    pub(super) probe: Probe,
    pub(super) probe_rtt: ProbeRtt,
    pub(super) own_limit: OwnLimit,
    /// The round trip in which loss recovery began; none outside recovery.
    pub(super) recovery: Option<u64>,
    /// C.delivered at the last event.
    pub(super) delivered: f64,
    /// BBR.drain_start_round.
    pub(super) drain_round: u64,
    /// BBR.idle_restart.
    pub(super) restarted: bool,
    /// Whether the window stopped the sender in the last and in the current round trip.
    window_limited: [bool; 2],
    /// The first RTT sample has arrived.
    has_rtt: bool,
}

impl Bbr3Sender {
    /// A sender that has not started.
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            packet: 1.0,
            initial_window: 1.0,
            window: 1.0,
            saved_window: 0.0,
            pacing_rate: 1.0,
            phase: Phase::Startup,
            rounds: RoundCounter::default(),
            cycle_maxima: [0.0; 2],
            bw: 0.0,
            full_pipe: FullPipe::default(),
            min_rtt: MinRtt::new(Time::ZERO),
            aggregation: Aggregation::default(),
            latest: LatestDelivery::default(),
            limits: Limits::NONE,
            undo: Undo::default(),
            probe: Probe::default(),
            probe_rtt: ProbeRtt::default(),
            own_limit: OwnLimit::default(),
            recovery: None,
            delivered: 0.0,
            drain_round: 0,
            restarted: false,
            window_limited: [false; 2],
            has_rtt: false,
        }
    }

    /// BBR.max_bw.
    pub(super) fn max_bw(&self) -> f64 {
        self.cycle_maxima[0].max(self.cycle_maxima[1])
    }

    /// C.is_cwnd_limited: the window stopped the sender at some time in the last round trip.
    pub(super) fn is_window_limited(&self) -> bool {
        self.window_limited[0] || self.window_limited[1]
    }

    fn note_window_limit(&mut self, ack: &Ack) {
        if self.rounds.started {
            self.window_limited = [self.window_limited[1], false];
        }
        self.window_limited[1] |= ack.limited_by == LimitedBy::Window;
    }

    /// UpdateModelAndState().
    fn update_model(&mut self, cx: &mut Context<'_>, ack: &Ack, sample: &RateSample) {
        self.latest.update(sample);
        self.update_max_bw(sample);
        self.note_window_limit(ack);
        self.adapt_short_term_limits();
        self.update_aggregation(cx.now, sample);
        self.full_pipe.update(sample.rate, sample.app_limited, self.rounds.started);
        self.check_startup_done(sample);
        self.check_drain_done(cx, sample);
        self.update_cycle(cx, sample);
        self.min_rtt.update(cx.now, sample.rtt, &self.params);
        self.check_probe_rtt(cx, sample);
        self.latest.advance(sample);
        self.bw = self.max_bw().min(self.limits.bw_short_term);
    }

    /// UpdateMaxBw(): samples of a sender without data count only if they are higher.
    fn update_max_bw(&mut self, sample: &RateSample) {
        self.rounds.update(sample);
        if self.rounds.started {
            self.probe.rounds_since_up += 1;
        }
        if sample.rate > 0.0 && (sample.rate >= self.max_bw() || !sample.app_limited) {
            self.cycle_maxima[1] = self.cycle_maxima[1].max(sample.rate);
        }
    }

    /// Over 10 round trips, and over one until the path was full once (section 2.12).
    fn update_aggregation(&mut self, now: Time, sample: &RateSample) {
        let window = if self.full_pipe.was_reached { 10 } else { 1 };
        self.aggregation.update(now, self.bw, sample.newly_acked, self.window, self.rounds.count, window);
    }
}

impl Sender for Bbr3Sender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet.as_f64().clamp(1.0, 1e9);
        self.initial_window = initial_window_bytes(self.packet, self.params.initial_window);
        self.window = self.initial_window;
        self.min_rtt = MinRtt::new(cx.now);
        self.aggregation.restart(cx.now);
        self.set_initial_pacing_rate(None);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        let sample = RateSample::new(ack, self.own_limit.applies(ack));
        self.delivered = sample.total_delivered;
        if !self.has_rtt && ack.rtt.is_some() {
            self.has_rtt = true;
            self.set_initial_pacing_rate(Some(ack.smoothed_rtt));
        }
        self.update_model(cx, ack, &sample);
        self.update_control(&sample);
    }

    fn on_lost_packet(&mut self, cx: &mut Context<'_>, lost: &LostPacket) {
        self.handle_lost_packet(cx, lost);
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Loss => {
                self.latest.losses += 1;
                if congestion.episode == Episode::New {
                    self.recovery = Some(self.rounds.count);
                }
            }
            Cause::NoFeedback => self.on_persistent_congestion(),
            Cause::Timeout | Cause::Ecn => {}
        }
    }

    fn on_spurious_loss(&mut self, _cx: &mut Context<'_>, loss: &SpuriousLoss) {
        if loss.whole_episode {
            self.undo_loss();
        }
    }

    /// RestoreCwnd().
    fn on_recovery_end(&mut self, _cx: &mut Context<'_>) {
        self.recovery = None;
        self.window = self.window.max(self.saved_window);
    }

    /// HandleRestartFromIdle() (section 5.4.1).
    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.restarted = true;
        self.aggregation.restart(cx.now);
        if self.phase.is_in_cycle() {
            self.set_pacing_rate(1.0);
        } else if self.phase == Phase::ProbeRtt {
            self.check_probe_rtt_done(cx);
        }
    }

    fn permit(&self) -> Permit {
        Permit {
            window: Some(Bytes::from_f64(self.window)),
            pace: Some(Rate::from_bps_f64(8.0 * self.pacing_rate).max(Rate::from_bps(1))),
            quantum: self.quantum().map(Bytes::from_f64),
            ..Permit::default()
        }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("phase", "1", self.phase.number());
        gauge.quantity("bandwidth", "bit/s", 8.0 * self.bw);
        gauge.quantity("base RTT", "s", self.min_rtt.get().unwrap_or_default());
        gauge.quantity("window", "packets", self.window / self.packet);
        if self.limits.in_flight_long_term.is_finite() {
            gauge.quantity("long-term limit", "packets", self.limits.in_flight_long_term / self.packet);
        }
    }
}
