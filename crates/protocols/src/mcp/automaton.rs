//! The automaton of Fig. 2: one of six modes, a rate, and the state of overloads and of fairing. The packet sender and
//! the fluid model share it.

use super::fairing::FairingRequest;
use super::header::Load;
use super::params::{LightFairing, Notified, Requester, SenderParams};

/// Largest rate in bit/s: a path without an MCP router always appears idle.
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
    /// The mode with this number; scaling for an unknown number.
    pub(super) fn numbered(number: u64) -> Self {
        use Mode::{Enhancing, Fairing, Overloaded, Scaling, Smoothing, Stable};
        let all = [Scaling, Fairing, Enhancing, Smoothing, Stable, Overloaded];
        all.into_iter().find(|mode| *mode as u64 == number).unwrap_or(Scaling)
    }
}

/// The state of the automaton.
pub(super) struct Automaton {
    pub(super) params: SenderParams,
    pub(super) weight: f64,
    /// In bit/s.
    pub(super) rate: f64,
    pub(super) mode: Mode,
    pub(super) request: FairingRequest,
    /// Number of steps back since the last load below overload.
    pub(super) steps_back: u64,
    /// The additive step that the links request, in bit/s; none: the step of the parameters.
    pub(super) requested_step: Option<f64>,
}

impl Automaton {
    /// The automaton of a flow that starts.
    pub(super) fn new(params: SenderParams) -> Self {
        let request = FairingRequest::new(params.halvings);
        Self {
            params,
            weight: 1.0,
            rate: params.initial_rate,
            mode: Mode::Scaling,
            request,
            steps_back: 0,
            requested_step: None,
        }
    }

    fn set_rate(&mut self, rate: f64) {
        let least = self.least_rate();
        self.rate = rate.clamp(least, MOST_RATE.max(least));
    }

    /// The initial rate, or the step that the links request if that is less: with many flows a fair share can be less than
    /// the initial rate.
    fn least_rate(&self) -> f64 {
        self.requested_step.map_or(self.params.initial_rate, |step| step.min(self.params.initial_rate))
    }

    fn step(&self) -> f64 {
        self.weight * self.requested_step.unwrap_or(self.params.step)
    }

    /// Whether the reaction to this overload is a step back: the smoothing mode has caused it, or a step back has not
    /// ended it yet.
    fn steps_back(&self) -> bool {
        match self.mode {
            Mode::Smoothing => true,
            Mode::Stable => self.steps_back < self.params.steps_back,
            _ => false,
        }
    }

    /// Applies AD, once after smoothing; otherwise MD.
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

    /// Fig. 2, below overload: the next mode and its rate in bit/s.
    fn next(&self, load: Load, fairing: bool) -> (Mode, f64) {
        match (load, fairing) {
            (Load::Light, _) if !fairing || self.params.light_fairing == LightFairing::Scaling => {
                (Mode::Scaling, self.rate * self.params.scaling_factor)
            }
            (_, true) => (Mode::Fairing, self.rate + self.step()),
            (Load::Medium, false) => (Mode::Enhancing, self.rate * self.params.enhancing_factor),
            (_, false) if self.mode == Mode::Stable => (Mode::Stable, self.rate),
            (_, false) => (Mode::Smoothing, self.rate + self.step()),
        }
    }

    /// Processes a received load and fairing signal.
    pub(super) fn receive(&mut self, load: Load, fairing: bool) {
        let is_fairing = fairing && matches!(load, Load::Medium | Load::Heavy);
        if is_fairing && self.params.notified == Notified::Asks && !self.request.is_active() {
            self.request.restart();
        }
    }

    /// The decision every 2 T below overload; an unused rate does not grow.
    pub(super) fn increase(&mut self, load: Load, fairing: bool, is_used: bool) {
        let fairing = fairing && (self.params.requester == Requester::Obeys || !self.request.is_active());
        let (mode, rate) = self.next(load, fairing);
        self.mode = mode;
        if is_used {
            self.set_rate(rate);
            if mode == Mode::Fairing {
                self.request.on_increase();
            }
        }
    }

    /// Returns to the state of a flow that starts.
    pub(super) fn restart(&mut self) {
        self.requested_step = None;
        self.set_rate(self.params.initial_rate);
        self.mode = Mode::Scaling;
        self.request.restart();
    }
}
