//! The sender of BBRv1 (section 4 of the draft).

use super::params::Params;
use super::phase::{CYCLE, Phase};
use crate::parts::full_pipe::FullPipe;
use crate::parts::own_limit::OwnLimit;
use crate::parts::window::{MOST, initial_window_bytes};
use crate::parts::windowed_max::WindowedMax;
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Permit, Sender, Start};
use millpond_units::{Bytes, Rate, Span, Time};

/// BBRMinPipeCwnd (section 4.2.3.4), in packets.
const MIN_WINDOW_PACKETS: f64 = 4.0;

/// BBRv1's state. Volumes are bytes on the wire, rates bytes/s.
pub(super) struct Bbr1Sender {
    params: Params,
    packet: f64,
    initial_window: f64,
    window: f64,
    /// BBR.prior_cwnd.
    saved_window: f64,
    pacing_rate: f64,
    phase: Phase,
    /// When the phase of the bandwidth cycle began (BBR.cycle_stamp).
    cycle_stamp: Time,
    /// BBR.round_count and BBR.next_round_delivered.
    round: u64,
    round_ends_after: f64,
    round_started: bool,
    /// BBR.BtlBw.
    bandwidth: WindowedMax,
    full_pipe: FullPipe,
    /// BBR.RTprop and BBR.rtprop_stamp.
    min_rtt: Span,
    min_rtt_at: Time,
    min_rtt_expired: bool,
    /// BBR.probe_rtt_done_stamp and BBR.probe_rtt_round_done.
    probe_rtt_ends: Option<Time>,
    probe_rtt_round_done: bool,
    /// When the window was four packets.
    own_limit: OwnLimit,
    /// In recovery: bytes delivered at the last loss.
    recovery: Option<f64>,
    /// C.delivered at the last acknowledgement.
    delivered: f64,
    /// The round trip in which recovery began: the window follows the delivery (BBR.packet_conservation).
    conservation: Option<u64>,
    restarted: bool,
    has_rtt: bool,
}

/// What one acknowledgement says, in bytes and bytes/s.
struct AckedData {
    rate: f64,
    total: f64,
    prior: f64,
    acked: f64,
    lost: f64,
    in_flight: f64,
    prior_in_flight: f64,
    app_limited: bool,
}

impl AckedData {
    /// `held_back`: its newest packet was sent while the window was four packets.
    fn new(ack: &Ack, held_back: bool) -> Self {
        Self {
            rate: ack.delivery_rate().map_or(0.0, |rate| rate.bytes_per_sec()),
            total: ack.delivered.as_f64(),
            prior: ack.prior_delivered.as_f64(),
            acked: ack.bytes.as_f64(),
            lost: ack.newly_lost.as_f64(),
            in_flight: ack.in_flight.as_f64(),
            prior_in_flight: ack.prior_in_flight.as_f64(),
            app_limited: ack.app_limited || held_back,
        }
    }
}

impl Bbr1Sender {
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
            cycle_stamp: Time::ZERO,
            round: 0,
            round_ends_after: 0.0,
            round_started: false,
            bandwidth: WindowedMax::default(),
            full_pipe: FullPipe::default(),
            min_rtt: Span::MAX,
            min_rtt_at: Time::ZERO,
            min_rtt_expired: false,
            probe_rtt_ends: None,
            probe_rtt_round_done: false,
            own_limit: OwnLimit::default(),
            recovery: None,
            delivered: 0.0,
            conservation: None,
            restarted: false,
            has_rtt: false,
        }
    }

    fn min_window(&self) -> f64 {
        MIN_WINDOW_PACKETS * self.packet
    }

    /// BBRInflight(gain) (section 4.2.3.2), in bytes; an initial window before the first RTT sample.
    fn in_flight_target(&self, gain: f64) -> f64 {
        if self.min_rtt == Span::MAX {
            return self.initial_window;
        }
        gain * self.bandwidth.get() * self.min_rtt.secs() + 3.0 * self.quantum()
    }

    /// BBR.send_quantum (section 4.2.2), in bytes.
    fn quantum(&self) -> f64 {
        let bits_per_second = 8.0 * self.pacing_rate;
        if bits_per_second < 1.2e6 {
            self.packet
        } else if bits_per_second < 24e6 {
            2.0 * self.packet
        } else {
            (self.pacing_rate * 1e-3).min(65_536.0).max(self.packet)
        }
    }

    /// BBRInitPacingRate(): an initial window per RTT, or per millisecond before the first RTT sample (section 4.2.1).
    fn set_initial_pacing_rate(&mut self, rtt: Option<Span>) {
        let rtt = rtt.filter(|rtt| !rtt.is_zero()).unwrap_or(Span::from_millis(1));
        self.pacing_rate = self.params.high_gain * self.initial_window / rtt.secs();
    }

    /// BBRSetPacingRateWithGain().
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth.get() * (1.0 - self.params.pacing_margin);
        if self.full_pipe.was_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// BBRUpdateBtlBw() (section 4.1.1): samples of a sender without data count only if they are higher.
    fn update_bandwidth(&mut self, ack: &AckedData) {
        self.round_started = ack.prior >= self.round_ends_after;
        if self.round_started {
            self.round_ends_after = ack.total;
            self.round += 1;
        }
        if ack.rate > 0.0 && (ack.rate >= self.bandwidth.get() || !ack.app_limited) {
            self.bandwidth.record(self.round, ack.rate, self.params.bandwidth_rounds);
        }
    }

    /// BBRCheckDrain() (section 4.3.3).
    fn check_drain(&mut self, cx: &mut Context<'_>, ack: &AckedData) {
        if self.phase == Phase::Startup && self.full_pipe.was_reached {
            self.phase = Phase::Drain;
        }
        if self.phase == Phase::Drain && ack.in_flight <= self.in_flight_target(1.0) {
            self.enter_probe_bandwidth(cx);
        }
    }

    /// BBREnterProbeBW(): begins in any phase of the cycle but the one below the bandwidth (section 4.3.4.2).
    fn enter_probe_bandwidth(&mut self, cx: &mut Context<'_>) {
        let random = (cx.random.uniform() * f64::from(CYCLE - 1)) as u32;
        self.phase = Phase::ProbeBandwidth(CYCLE - 1 - random.min(CYCLE - 2));
        self.advance_cycle(cx.now);
    }

    /// BBRAdvanceCyclePhase().
    fn advance_cycle(&mut self, now: Time) {
        if let Phase::ProbeBandwidth(number) = self.phase {
            self.phase = Phase::ProbeBandwidth((number + 1) % CYCLE);
            self.cycle_stamp = now;
        }
    }

    /// BBRCheckCyclePhase() (section 4.3.4.3).
    fn check_cycle(&mut self, now: Time, ack: &AckedData) {
        let Phase::ProbeBandwidth(_) = self.phase else { return };
        let full_length = now.since(self.cycle_stamp) > self.min_rtt;
        let gain = self.phase.pacing_gain(&self.params);
        let ends = if gain > 1.0 {
            full_length && (ack.lost > 0.0 || ack.prior_in_flight >= self.in_flight_target(gain))
        } else if gain < 1.0 {
            full_length || ack.prior_in_flight <= self.in_flight_target(1.0)
        } else {
            full_length
        };
        if ends {
            self.advance_cycle(now);
        }
    }

    /// BBRUpdateRTprop() (section 4.1.2.3).
    fn update_min_rtt(&mut self, now: Time, rtt: Option<Span>) {
        self.min_rtt_expired = now > self.min_rtt_at + self.params.min_rtt_window;
        if let Some(rtt) = rtt.filter(|rtt| *rtt <= self.min_rtt || self.min_rtt_expired) {
            (self.min_rtt, self.min_rtt_at) = (rtt, now);
        }
    }

    /// BBRCheckProbeRTT() (section 4.3.5).
    fn check_probe_rtt(&mut self, cx: &mut Context<'_>, ack: &AckedData) {
        if self.phase != Phase::ProbeRtt && self.min_rtt_expired && !self.restarted {
            self.phase = Phase::ProbeRtt;
            self.save_window();
            self.probe_rtt_ends = None;
        }
        if self.phase == Phase::ProbeRtt {
            self.handle_probe_rtt(cx, ack);
        }
        self.restarted = false;
    }

    /// BBRHandleProbeRTT().
    fn handle_probe_rtt(&mut self, cx: &mut Context<'_>, ack: &AckedData) {
        self.own_limit.mark(ack.total, ack.in_flight);
        let Some(ends) = self.probe_rtt_ends else {
            if ack.in_flight <= self.min_window() {
                self.probe_rtt_ends = Some(cx.now + self.params.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.round_ends_after = ack.total;
            }
            return;
        };
        self.probe_rtt_round_done |= self.round_started;
        if self.probe_rtt_round_done && cx.now > ends {
            self.min_rtt_at = cx.now;
            self.restore_window();
            self.leave_probe_rtt(cx);
        }
    }

    /// BBRExitProbeRTT().
    fn leave_probe_rtt(&mut self, cx: &mut Context<'_>) {
        if self.full_pipe.was_reached {
            self.enter_probe_bandwidth(cx);
        } else {
            self.phase = Phase::Startup;
        }
    }

    /// BBRSaveCwnd().
    fn save_window(&mut self) {
        let replaces = self.recovery.is_none() && self.phase != Phase::ProbeRtt;
        self.saved_window = if replaces { self.window } else { self.saved_window.max(self.window) };
    }

    fn enter_recovery(&mut self) {
        self.save_window();
        self.recovery = Some(self.delivered);
    }

    /// Losses begin recovery, with a window of what is in flight and `acked` newly delivered bytes (section 4.2.3.4).
    fn enter_fast_recovery(&mut self, in_flight: f64, acked: f64) {
        self.enter_recovery();
        self.conservation = Some(self.round);
        self.window = in_flight + acked.max(self.packet);
    }

    /// Recovery ends with a packet that was sent after the last loss, if no further one is reported with it.
    fn check_recovery_end(&mut self, ack: &AckedData) {
        if ack.lost == 0.0 && self.recovery.is_some_and(|last_loss| ack.prior >= last_loss) {
            (self.recovery, self.conservation) = (None, None);
            self.restore_window();
        }
    }

    /// BBRRestoreCwnd().
    fn restore_window(&mut self) {
        self.window = self.window.max(self.saved_window);
    }

    /// BBRSetCwnd() (section 4.2.3.6).
    fn set_window(&mut self, ack: &AckedData) {
        self.modulate_for_recovery(ack);
        let target = self.in_flight_target(self.phase.window_gain(&self.params));
        if self.conservation.is_none() {
            if self.full_pipe.was_reached {
                self.window = (self.window + ack.acked).min(target);
            } else if self.window < target || ack.total < self.initial_window {
                self.window += ack.acked;
            }
            self.window = self.window.max(self.min_window());
        }
        if self.phase == Phase::ProbeRtt {
            self.window = self.window.min(self.min_window());
        }
        self.window = self.window.clamp(self.packet, MOST);
    }

    /// BBRModulateCwndForRecovery() (section 4.2.3.4): in the first round trip of recovery a packet leaves for each that
    /// is delivered.
    fn modulate_for_recovery(&mut self, ack: &AckedData) {
        if ack.lost > 0.0 {
            self.window = (self.window - ack.lost).max(self.packet);
        }
        if self.conservation.is_some_and(|round| self.round > round) {
            self.conservation = None;
        }
        if self.conservation.is_some() {
            self.window = self.window.max(ack.in_flight + ack.acked);
        }
    }
}

impl Sender for Bbr1Sender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet.as_f64().clamp(1.0, 1e9);
        self.initial_window = initial_window_bytes(self.packet, self.params.initial_window);
        self.window = self.initial_window;
        self.min_rtt_at = cx.now;
        self.set_initial_pacing_rate(None);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        let delivered = AckedData::new(ack, self.own_limit.applies(ack));
        self.delivered = delivered.total;
        self.check_recovery_end(&delivered);
        if !self.has_rtt && ack.rtt.is_some() {
            self.has_rtt = true;
            self.set_initial_pacing_rate(Some(ack.smoothed_rtt));
        }
        self.update_bandwidth(&delivered);
        self.check_cycle(cx.now, &delivered);
        self.full_pipe.update(self.bandwidth.get(), delivered.app_limited, self.round_started);
        self.check_drain(cx, &delivered);
        self.update_min_rtt(cx.now, ack.rtt);
        self.check_probe_rtt(cx, &delivered);
        self.set_pacing_rate(self.phase.pacing_gain(&self.params));
        if delivered.lost > 0.0 && self.recovery.is_none() {
            self.enter_fast_recovery(delivered.in_flight, delivered.acked);
        }
        self.set_window(&delivered);
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Loss if self.recovery.is_some() => self.recovery = Some(self.delivered),
            // A timer found the loss: without an acknowledgement.
            Cause::Loss => self.enter_fast_recovery(congestion.in_flight.as_f64(), 0.0),
            Cause::NoFeedback => {
                self.enter_recovery();
                self.window = self.packet;
            }
            Cause::Timeout | Cause::Ecn => {}
        }
    }

    /// BBRHandleRestartFromIdle() (section 4.3.4.4).
    fn on_idle_restart(&mut self, _cx: &mut Context<'_>) {
        self.restarted = true;
        if let Phase::ProbeBandwidth(_) = self.phase {
            self.set_pacing_rate(1.0);
        }
    }

    fn permit(&self) -> Permit {
        Permit {
            window: Some(Bytes::from_f64(self.window)),
            pace: Some(Rate::from_bps_f64(8.0 * self.pacing_rate).max(Rate::from_bps(1))),
            quantum: Some(Bytes::from_f64(self.quantum())),
            ..Permit::default()
        }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("phase", "1", self.phase.number());
        gauge.quantity("bandwidth", "bit/s", 8.0 * self.bandwidth.get());
        let min_rtt = if self.min_rtt == Span::MAX { Span::ZERO } else { self.min_rtt };
        gauge.quantity("base RTT", "s", min_rtt.secs());
        gauge.quantity("window", "packets", self.window / self.packet);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr1;
    use super::*;
    use crate::testing::{PACKET, SenderBench};
    use millpond_law::{Episode, Value};

    const STARTUP: f64 = 0.0;
    const PROBE_RTT: f64 = 3.0;

    fn bench() -> SenderBench {
        let window = ("initial_window", Value::Number(100.0));
        SenderBench::new(&Bbr1, &[window], Span::from_millis(40))
    }

    /// An acknowledgement of one packet, sent when `prior` packets had been delivered, after which `in_flight` packets are in flight.
    fn ack(bench: &SenderBench, prior: u64, in_flight: u64) -> Ack {
        Ack { prior_delivered: PACKET * prior, in_flight: PACKET * in_flight, ..bench.plain() }
    }

    /// Section 4.3.5: HandleProbeRTT marks the connection as application-limited, so that these samples say nothing about the path
    /// (section 4.3.2.2).
    #[test]
    fn round_trips_with_four_packets_in_flight_do_not_end_startup() {
        let mut bench = bench();
        let acknowledge = |bench: &mut SenderBench, rtt: u64| {
            bench.now += Span::from_millis(5);
            let app_limited = bench.gauge("phase") != PROBE_RTT;
            let (rtt, delivery_span) = (Some(Span::from_millis(rtt)), Span::from_millis(20));
            let plain = bench.plain();
            let prior_delivered = plain.delivered.saturating_sub(PACKET * 4);
            bench.ack(&Ack { rtt, app_limited, delivery_span, prior_delivered, ..plain });
            bench.gauge("phase")
        };
        assert_eq!(acknowledge(&mut bench, 40), STARTUP);
        // The base RTT expires after 10 s. It is then measured for 200 ms, eight round trips of five acknowledgements.
        let phases: Vec<f64> = (0..2100).map(|_| acknowledge(&mut bench, 41)).collect();
        assert!(phases.iter().filter(|phase| **phase == PROBE_RTT).count() >= 40);
        assert_eq!(phases.last(), Some(&STARTUP));
    }

    /// Section 4.2.3.4: the window is saved when recovery begins, before the losses reduce it.
    #[test]
    fn after_recovery_the_window_is_that_of_before_the_losses() {
        let mut bench = bench();
        bench.ack(&ack(&bench, 0, 99));
        assert_eq!(bench.window(), 101.0);
        let losses = Ack { newly_lost: PACKET * 60, lost: PACKET * 60, ..ack(&bench, 0, 40) };
        bench.ack(&losses);
        bench.congestion(Cause::Loss, Episode::New);
        assert_eq!(bench.window(), 41.0, "in flight, and one packet for the one delivered");
        bench.ack(&ack(&bench, 2, 40));
        assert!(bench.window() >= 101.0, "{}", bench.window());
    }
}
