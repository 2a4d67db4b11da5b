//! The window of CUBIC (RFC 9438, section 4). As in the RFC, windows are in packets and times in seconds.

use crate::parts::hystart::{HyStart, SlowStart};
use crate::parts::window::Window;
use millpond_law::fluid::Number;
use millpond_law::{Ack, Cause, Congestion, Episode};
use millpond_units::{Bytes, Span, Time};

/// Upper limit of the target, as a multiple of the window (RFC 9438, section 4.2).
const MOST_PER_ROUND: f64 = 1.5;

/// Smallest window after a mark, in packets (RFC 9438, section 4.6).
const LEAST_AFTER_MARK: f64 = 1.0;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch, plus the time in which the flow was application-limited.
    start: Time,
    /// K: time until the window returns to W_max.
    k: f64,
    /// W_est: estimate of Reno's window.
    w_est: f64,
}

/// CUBIC's constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CubicConstants {
    /// C: coefficient of the cubic function, in packets/s^3.
    pub(crate) c: f64,
    /// beta: factor by which a loss episode multiplies the window.
    pub(crate) beta: f64,
    /// Whether fast convergence is enabled.
    pub(crate) fast_convergence: bool,
}

impl CubicConstants {
    /// The values of RFC 9438, sections 4.6, 4.7 and 5.1.
    pub(crate) const RFC9438: Self = Self { c: 0.4, beta: 0.7, fast_convergence: true };
}

/// A window that returns along a cubic function of time after a loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CubicWindow {
    shape: CubicConstants,
    window: Window,
    /// None from a loss to the end of its recovery, and in slow start.
    epoch: Option<Epoch>,
    /// W_max: the plateau; 0 before the first loss.
    w_max: f64,
    /// cwnd_prior: the window before the last reduction.
    cwnd_prior: f64,
    last_ack: Time,
    hystart: Option<HyStart>,
}

/// W_cubic(t) = C (t - K)^3 + W_max (Figure 1, RFC 9438).
pub(crate) fn w_cubic<T: Number>(c: f64, t: T, k: T, w_max: T) -> T {
    let x = t - k;
    T::from(c) * x * x * x + w_max
}

/// K = cbrt((W_max - cwnd_epoch) / C) (Figure 2, RFC 9438).
pub(crate) fn k(c: f64, w_max: f64, cwnd_epoch: f64) -> f64 {
    libm::cbrt((w_max - cwnd_epoch) / c)
}

/// alpha_cubic = 3 (1 - beta) / (1 + beta): packets per round for which Reno with this beta is as fast as with 1/2
/// (RFC 9438, section 4.3).
fn alpha_cubic(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

/// W_est + alpha_cubic segments_acked / cwnd (Figure 4, RFC 9438).
fn next_w_est(w_est: f64, alpha: f64, segments_acked: f64, cwnd: f64) -> f64 {
    w_est + alpha * segments_acked / cwnd
}

impl CubicWindow {
    /// A window for packets of this size; `initial` in packets, by default RFC 9002's.
    pub(crate) fn new(shape: CubicConstants, packet: Bytes, initial: Option<f64>) -> Self {
        let window = Window::new(packet, initial);
        Self { shape, window, epoch: None, w_max: 0.0, cwnd_prior: 0.0, last_ack: Time::ZERO, hystart: None }
    }

    /// The same window with this end of slow start.
    pub(crate) fn with_slow_start(self, slow_start: SlowStart) -> Self {
        Self { hystart: (slow_start == SlowStart::HyStart).then(|| HyStart::new(false)), ..self }
    }

    /// The window itself.
    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    /// W_max in packets; 0 before the first loss.
    pub(crate) fn plateau(&self) -> f64 {
        self.w_max
    }

    /// Shrinks to at most this number of packets, without a change of threshold and plateau.
    pub(crate) fn shrink_to_packets(&mut self, packets: f64) {
        self.window.shrink_to_packets(packets);
    }

    /// Grows on an acknowledgement, if it may.
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Ack) {
        let since_last = now.since(self.last_ack);
        self.last_ack = now;
        if let Some(epoch) = self.epoch.as_mut().filter(|_| ack.window_unused()) {
            // Application-limited time is excluded (RFC 9438, section 5.8).
            epoch.start += since_last;
        }
        if !self.window.may_grow(ack) {
            return;
        }
        let growth = self.hystart.as_mut().map_or(ack.bytes, |hystart| hystart.growth(ack, &mut self.window));
        let remaining = self.window.slow_start(growth);
        if remaining > Bytes::ZERO {
            self.avoid_congestion(now, ack.smoothed_rtt, remaining);
        }
    }

    /// The sender resumes after a time without data and without packets in flight, which is no part of the epoch (RFC 9438, sections
    /// 4.2 and 5.8).
    pub(crate) fn restart_from_idle(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now.since(self.last_ack);
        }
        self.last_ack = now;
    }

    /// Reduces the window once per episode, and resets it at persistent congestion. A probe timeout has no effect.
    pub(crate) fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.cause == Cause::Timeout {
            return;
        }
        if congestion.episode == Episode::New && !self.window.in_recovery() {
            self.decrease(congestion.cause);
        }
        if congestion.cause == Cause::NoFeedback {
            self.collapse();
        }
    }

    /// Starts congestion avoidance. After a timeout, or a slow start that ended without a loss, the plateau is the
    /// current window (RFC 9438, sections 4.8 and 4.10).
    fn begin_epoch(&mut self, now: Time) -> Epoch {
        let cwnd = self.window.packets();
        self.w_max = self.w_max.max(cwnd);
        Epoch { start: now, k: k(self.shape.c, self.w_max, cwnd), w_est: cwnd }
    }

    /// Congestion avoidance (RFC 9438, sections 4.2 to 4.5).
    fn avoid_congestion(&mut self, now: Time, rtt: Span, acked: Bytes) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now));
        let (cwnd, segments) = (self.window.packets(), self.window.in_packets(acked));
        let t = now.since(epoch.start).secs();

        // From the window before the loss on, the estimate grows with Reno's own increase (section 4.3).
        let alpha = if epoch.w_est < self.cwnd_prior { alpha_cubic(self.shape.beta) } else { 1.0 };
        epoch.w_est = next_w_est(epoch.w_est, alpha, segments, cwnd);
        self.epoch = Some(epoch);

        let w_cubic = |t| w_cubic(self.shape.c, t, epoch.k, self.w_max);
        if w_cubic(t) < epoch.w_est {
            return self.window.grow_to_packets(epoch.w_est);
        }
        let target = w_cubic(t + rtt.secs()).clamp(cwnd, MOST_PER_ROUND * cwnd);
        self.window.grow_to_packets((cwnd + (target - cwnd) * segments / cwnd).min(target));
    }

    /// Multiplicative decrease and fast convergence (RFC 9438, sections 4.6 and 4.7).
    fn decrease(&mut self, cause: Cause) {
        let cwnd = self.window.packets();
        let gives_way = self.shape.fast_convergence && cwnd < self.w_max;
        self.w_max = if gives_way { cwnd * (1.0 + self.shape.beta) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        match cause {
            Cause::Ecn => self.window.reduce_for_mark(self.shape.beta, LEAST_AFTER_MARK),
            Cause::Loss | Cause::Timeout | Cause::NoFeedback => self.window.reduce(self.shape.beta),
        }
        self.epoch = None;
    }

    /// Persistent congestion (RFC 9438, section 4.8): slow start, without a plateau.
    fn collapse(&mut self) {
        self.window.collapse();
        self.w_max = 0.0;
        self.epoch = None;
    }
}
