//! The automaton of Fig. 2: one of six modes, a rate, and what is remembered of overloads and of fairing. The packet
//! world and the fluid world drive the same.

use super::fairing::Request;
use super::header::Load;
use super::params::SenderParams;

/// Rates end here, in bit/s: a path without a router of MCP always looks idle.
const MOST_RATE: f64 = 1e12;

/// The modes of Fig. 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Mode {
    Scaling,
    Fairing,
    Enhancing,
    Smoothing,
    Stable,
    Overloaded,
}

impl Mode {
    /// The mode of this number; scaling if there is none.
    pub(super) fn numbered(number: f64) -> Self {
        use Mode::{Enhancing, Fairing, Overloaded, Scaling, Smoothing, Stable};
        let all = [Scaling, Fairing, Enhancing, Smoothing, Stable, Overloaded];
        all.into_iter().find(|mode| f64::from(*mode as u8) == number).unwrap_or(Scaling)
    }
}

/// See the module.
pub(super) struct Automaton {
    pub(super) params: SenderParams,
    pub(super) weight: f64,
    /// In bit/s.
    pub(super) rate: f64,
    pub(super) mode: Mode,
    pub(super) request: Request,
    /// Steps back since the load was last less than an overload.
    pub(super) steps_back: u32,
}

impl Automaton {
    /// Of a flow that starts.
    pub(super) fn new(params: SenderParams) -> Self {
        let request = Request::new(params.halvings);
        Self { params, weight: 1.0, rate: params.initial_rate, mode: Mode::Scaling, request, steps_back: 0 }
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.clamp(self.params.initial_rate, MOST_RATE.max(self.params.initial_rate));
    }

    fn step(&self) -> f64 {
        self.weight * self.params.step
    }

    /// May this overload be answered by a step back? It is the smoothing mode's own doing, or one that a step back
    /// has not ended yet.
    fn steps_back(&self) -> bool {
        match self.mode {
            Mode::Smoothing => true,
            Mode::Stable => self.steps_back < self.params.steps_back,
            _ => false,
        }
    }

    /// AD, once after smoothing; or MD.
    pub(super) fn decrease(&mut self) {
        if self.steps_back() {
            self.set_rate(self.rate - self.step());
            self.mode = Mode::Stable;
            self.steps_back += 1;
            self.request.on_step_back();
        } else {
            self.set_rate(self.rate * self.params.decrease_factor);
            self.mode = Mode::Overloaded;
            self.request.on_halving();
        }
    }

    /// Fig. 2, below overload: the next mode and its rate.
    fn next(&self, load: Load, fairing: bool) -> (Mode, f64) {
        match (load, fairing) {
            (Load::Light, _) if !fairing || self.params.scales_while_fairing => {
                (Mode::Scaling, self.rate * self.params.scaling_factor)
            }
            (_, true) => (Mode::Fairing, self.rate + self.step()),
            (Load::Medium, false) => (Mode::Enhancing, self.rate * self.params.enhancing_factor),
            (_, false) if self.mode == Mode::Stable => (Mode::Stable, self.rate),
            (_, false) => (Mode::Smoothing, self.rate + self.step()),
        }
    }

    /// The flow is told of this load, and of fairing or not.
    pub(super) fn hear(&mut self, load: Load, fairing: bool) {
        let is_fairing = fairing && matches!(load, Load::Medium | Load::Heavy);
        if is_fairing && self.params.notified_asks && !self.request.is_made() {
            self.request.renew();
        }
    }

    /// What is done every 2 T below overload; a rate that is not used does not grow.
    pub(super) fn increase(&mut self, load: Load, fairing: bool, is_used: bool) {
        let fairing = fairing && (self.params.requester_obeys || !self.request.is_made());
        let (mode, rate) = self.next(load, fairing);
        self.mode = mode;
        if is_used {
            self.set_rate(rate);
        }
        if mode == Mode::Fairing {
            self.request.on_increase();
        }
    }

    /// The flow begins anew.
    pub(super) fn restart(&mut self) {
        self.set_rate(self.params.initial_rate);
        self.mode = Mode::Scaling;
        self.request.renew();
    }
}
