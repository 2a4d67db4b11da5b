//! Pacing rate, quantum and window (section 5.6).

use super::delivery::RateSample;
use super::phase::Phase;
use super::sender::Bbr3Sender;
use crate::parts::window::MOST;
use millpond_units::Span;

/// BBR.MinPipeCwnd (section 2.8), in packets.
const MIN_WINDOW_PACKETS: f64 = 4.0;

/// Largest quantum, in bytes.
const MOST_QUANTUM: f64 = 65_536.0;

impl Bbr3Sender {
    /// BBR.MinPipeCwnd, in bytes.
    pub(super) fn min_window(&self) -> f64 {
        MIN_WINDOW_PACKETS * self.packet
    }

    /// InitPacingRate(): an initial window per RTT, or per millisecond before the first RTT sample.
    pub(super) fn set_initial_pacing_rate(&mut self, smoothed_rtt: Option<Span>) {
        let rtt = smoothed_rtt.filter(|rtt| !rtt.is_zero()).unwrap_or(Span::from_millis(1));
        self.pacing_rate = self.params.startup_pacing_gain * self.initial_window / rtt.secs();
    }

    /// SetPacingRateWithGain().
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * (1.0 - self.params.pacing_margin);
        if self.full_pipe.was_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// C.send_quantum, in bytes (SetSendQuantum); none for one packet at a time.
    pub(super) fn quantum(&self) -> Option<f64> {
        let quantum = self.pacing_rate * self.params.quantum.secs();
        (!self.params.quantum.is_zero()).then(|| quantum.min(MOST_QUANTUM).max(2.0 * self.packet))
    }

    /// The bandwidth-delay product at bandwidth `bw`, in bytes; an initial window before the first RTT sample.
    pub(super) fn bdp(&self, bw: f64) -> f64 {
        self.min_rtt.get().map_or(self.initial_window, |min_rtt| bw * min_rtt)
    }

    /// TargetInflight(): the bandwidth-delay product, unless losses have cut the window.
    pub(super) fn target_in_flight(&self) -> f64 {
        self.bdp(self.bw).min(self.window)
    }

    /// QuantizationBudget().
    fn with_budget(&self, in_flight: f64) -> f64 {
        let in_flight = in_flight.max(self.quantum().unwrap_or(self.packet)).max(self.min_window());
        if self.phase == Phase::Up { in_flight + 2.0 * self.packet } else { in_flight }
    }

    /// Inflight(bw, 1.0).
    pub(super) fn in_flight_target(&self, bw: f64) -> f64 {
        self.with_budget(self.bdp(bw))
    }

    /// ProbeRTTCwnd().
    pub(super) fn probe_rtt_window(&self) -> f64 {
        (self.params.probe_rtt_window_gain * self.bdp(self.bw)).max(self.min_window())
    }

    /// UpdateControlParameters().
    pub(super) fn update_control(&mut self, sample: &RateSample) {
        self.set_pacing_rate(self.phase.pacing_gain(&self.params));
        self.set_window(sample);
    }

    /// SetCwnd() (section 5.6.4.6).
    fn set_window(&mut self, sample: &RateSample) {
        let gain = self.phase.window_gain(&self.params);
        let most = self.with_budget(gain * self.bdp(self.bw) + self.aggregation.extra());
        let grown = self.window + sample.newly_acked;
        if self.full_pipe.was_reached {
            self.window = grown.min(most);
        } else if self.window < most || sample.total_delivered < self.initial_window {
            self.window = grown;
        }
        self.window = self.window.clamp(self.min_window(), MOST);
        if self.phase == Phase::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.window = self.window.min(self.window_limit());
    }

    /// The limit that losses have set (BoundCwndForModel).
    fn window_limit(&self) -> f64 {
        let long_term = match self.phase {
            Phase::Down | Phase::Refill | Phase::Up => self.limits.in_flight_long_term,
            Phase::Cruise | Phase::ProbeRtt => self.in_flight_with_headroom(),
            Phase::Startup | Phase::Drain => f64::INFINITY,
        };
        long_term.min(self.limits.in_flight_short_term).max(self.min_window())
    }
}
