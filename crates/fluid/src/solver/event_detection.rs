//! Events that end a step early: a state reaches or leaves its bound, a guard of a law changes its sign.

use super::Solver;
use crate::assembly::{Assembly, Entity};
use crate::discrete_state::Held;
use crate::error::Error;

/// A state is beyond a bound if it exceeds the bound by this multiple of its scale.
const BOUND_TOLERANCE: f64 = 1e-13;

/// A held state is released if its derivative towards the interior exceeds this multiple of its scale per second. For a
/// queue: arrivals exceed the service by 1e-9 of the capacity. A smaller value would let rounding errors hold and
/// release states at an equilibrium.
const RELEASE_RATE: f64 = 1e-6;

/// A guard has changed its sign if it is beyond zero by this share of its largest magnitude so far. A smaller value
/// would let rounding errors trigger events at an equilibrium on a threshold.
const GUARD_BAND: f64 = 1e-13;

/// Two signals of a path that differ by less than this share of the tolerance are treated as equal.
const SIGNAL_BAND: f64 = 0.1;

/// A channel jumps at an event if its values on both sides differ by more than this share.
const JUMP: f64 = 1e-7;

/// An event detected within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DetectedEvent {
    /// A state has reached its bound.
    Hold(usize, Held),
    /// A state leaves its bound.
    Release(usize),
    /// A guard has changed its sign.
    Guard(usize),
}

impl Assembly {
    /// The scale of each state: the absolute initial value, or one if that is zero. For queues, backlogs, credits and what loops
    /// have in queues: the capacity times one millisecond.
    pub(crate) fn scales(&self) -> Vec<f64> {
        let known = |initial: f64| if initial == 0.0 { 1.0 } else { initial.abs() };
        let mut scales: Vec<f64> = self.states.iter().map(|state| known(state.initial)).collect();
        for (l, link) in self.links.iter().enumerate() {
            scales[self.offsets.queues + l] = 1e-3 * link.capacity;
        }
        for (r, relay) in self.relays.iter().enumerate() {
            let first = self.hops_of(relay.downstream.0).first();
            let capacity = first.map_or(1e3, |hop| self.links[hop.link].capacity);
            scales[self.offsets.backlogs + r] = 1e-3 * capacity;
        }
        for (number, relay) in self.credits.iter().enumerate() {
            let scale = scales[self.offsets.backlogs + relay];
            scales[self.offsets.credits + number] = scale;
            scales[self.offsets.credits + self.credits.len() + number] = scale;
        }
        scales
    }

    /// The states with at least one finite bound.
    pub(super) fn bounded(&self) -> Vec<usize> {
        let has_bound = |i: &usize| {
            let state = &self.states[*i];
            state.lower.is_finite() || state.upper.is_finite()
        };
        (0..self.states.len()).filter(has_bound).collect()
    }
}

impl Solver<'_> {
    /// Whether there is an event at these states, with the derivatives and guards of the last evaluation.
    pub(super) fn detects_event(&self, x: &[f64]) -> bool {
        self.bounded.iter().any(|i| self.bound_event(*i, x[*i]).is_some())
            || (0..self.guards.len()).any(|g| self.guard_event(g).is_some())
    }

    /// The events at the states probed last.
    pub(super) fn detected_events(&self) -> Vec<DetectedEvent> {
        let states = self.bounded.iter().filter_map(|i| self.bound_event(*i, self.inside[*i]));
        states.chain((0..self.guards.len()).filter_map(|g| self.guard_event(g))).collect()
    }

    fn bound_event(&self, i: usize, x: f64) -> Option<DetectedEvent> {
        let (state, scale, raw) = (&self.rhs.asm.states[i], self.scales[i], self.raw[i]);
        match self.discrete.held[i] {
            Held::Free if x < state.lower - BOUND_TOLERANCE * scale => {
                Some(DetectedEvent::Hold(i, Held::Lower))
            }
            Held::Free if x > state.upper + BOUND_TOLERANCE * scale => {
                Some(DetectedEvent::Hold(i, Held::Upper))
            }
            Held::Lower if raw > RELEASE_RATE * scale => Some(DetectedEvent::Release(i)),
            Held::Upper if raw < -RELEASE_RATE * scale => Some(DetectedEvent::Release(i)),
            _ => None,
        }
    }

    fn guard_event(&self, g: usize) -> Option<DetectedEvent> {
        let is_beyond = self.guards[g] * self.signs[g] < -self.band(g);
        (is_beyond && self.is_evaluated(g)).then_some(DetectedEvent::Guard(g))
    }

    /// The width of the band around zero in which a guard has not changed its sign. For the selected hop of a path it
    /// depends on the tolerance, because signals within the tolerance are interchangeable.
    fn band(&self, g: usize) -> f64 {
        let is_path = self.rhs.path_magnitude(g).is_some();
        let share = match self.sliding_width(g) {
            _ if is_path => SIGNAL_BAND * self.accuracy.tolerance.min(1e-6),
            Some(width) => width,
            None => GUARD_BAND,
        };
        share * self.guard_sizes[g]
    }

    /// Whether a guard is evaluated: guards of inactive loops are not.
    fn is_evaluated(&self, g: usize) -> bool {
        match self.guard_owners[g] {
            Entity::Loop(l) => self.discrete.active[l],
            Entity::Link(_) | Entity::Relay(_) => true,
        }
    }

    /// Evaluates the guards at these states with the inputs of the last evaluation.
    pub(super) fn read_guards(&mut self, x: &[f64]) {
        if !self.guards.is_empty() {
            self.rhs.read_guards(x, &mut self.guards);
        }
    }

    /// Updates the largest magnitude of each guard.
    pub(super) fn update_guard_sizes(&mut self) {
        for (g, (size, value)) in self.guard_sizes.iter_mut().zip(&self.guards).enumerate() {
            let value = self.rhs.path_magnitude(g).unwrap_or(value.abs());
            *size = size.max(if value.is_finite() { value } else { 0.0 });
        }
    }

    /// Applies events. `order` is the order of the derivative that jumps where a guard changes its sign.
    pub(super) fn apply_events(&mut self, events: &[DetectedEvent], order: u8) -> Result<(), Error> {
        if events.iter().any(|event| matches!(event, DetectedEvent::Guard(..))) {
            // Laws receive the inputs at the time of the event.
            self.evaluate_now();
        }
        for event in events {
            match *event {
                DetectedEvent::Hold(i, held) => {
                    let state = &self.rhs.asm.states[i];
                    self.x[i] = if held == Held::Lower { state.lower } else { state.upper };
                    self.discrete.held[i] = held;
                    self.propagate_derivative_jump(i);
                }
                DetectedEvent::Release(i) => {
                    self.discrete.held[i] = Held::Free;
                    self.propagate_derivative_jump(i);
                }
                DetectedEvent::Guard(g) => {
                    self.count_crossing(g)?;
                    self.cross(g, order);
                }
            }
        }
        self.refresh()
    }

    /// Propagates a jump of a state's derivative. The loss probability of a full buffer and the rate of a loop after an
    /// empty relay jump themselves; the events of their own entities follow.
    fn propagate_derivative_jump(&mut self, i: usize) {
        self.scheduled.propagate(self.rhs.asm, self.time, self.owners[i], 1);
    }

    /// Changes the sign of a guard.
    fn cross(&mut self, g: usize, order: u8) {
        self.signs[g] = -self.signs[g];
        let is_rising = self.signs[g] > 0.0;
        let jumps =
            self.rhs.cross_guard(g, is_rising, &mut self.x, &mut self.discrete) || self.switches_side(g);
        self.scheduled.propagate(
            self.rhs.asm,
            self.time,
            self.guard_owners[g],
            if jumps { 0 } else { order },
        );
    }

    /// The order of the derivative in which channels jump between two nodes at almost equal times: zero if values
    /// differ, otherwise one.
    pub(super) fn jump_order(&self, left: usize, right: usize) -> u8 {
        let differs = |(a, b): (&f64, &f64)| (a - b).abs() > JUMP * a.abs().max(b.abs());
        let jumps = self.nodes[left].iter().zip(&self.nodes[right]).any(differs);
        if jumps { 0 } else { 1 }
    }

    /// Holds and releases states according to their present derivatives. Returns whether anything changed. A held state
    /// is set exactly to its bound, otherwise it would be released immediately.
    pub(super) fn update_held_states(&mut self) -> bool {
        let mut changed = false;
        for b in 0..self.bounded.len() {
            let i = self.bounded[b];
            let (state, scale) = (self.rhs.asm.states[i], self.scales[i]);
            let (x, raw) = (self.x[i], self.raw[i]);
            let held = match self.discrete.held[i] {
                Held::Free if x <= state.lower + BOUND_TOLERANCE * scale && raw <= 0.0 => Held::Lower,
                Held::Free if x >= state.upper - BOUND_TOLERANCE * scale && raw >= 0.0 => Held::Upper,
                Held::Lower if raw > RELEASE_RATE * scale || x > state.lower => Held::Free,
                Held::Upper if raw < -RELEASE_RATE * scale || x < state.upper => Held::Free,
                held => held,
            };
            if held != self.discrete.held[i] {
                self.discrete.held[i] = held;
                self.x[i] = match held {
                    Held::Free => x,
                    Held::Lower => state.lower,
                    Held::Upper => state.upper,
                };
                self.propagate_derivative_jump(i);
                changed = true;
            }
        }
        changed
    }

    /// Applies sign changes of guards whose inputs have jumped. Returns whether there were any.
    ///
    /// # Errors
    /// A guard jumps without end at one time.
    pub(super) fn apply_guard_jumps(&mut self) -> Result<bool, Error> {
        let mut jumped = false;
        for g in 0..self.guards.len() {
            let value = self.guards[g];
            if self.signs[g] == 0.0 {
                let is_seen = value.abs() > self.band(g) && self.is_followed(g);
                self.signs[g] = if is_seen { self.rhs.first_sign(g, value) } else { 0.0 };
            } else if self.guard_event(g).is_some() {
                self.count_jump(g)?;
                self.cross(g, 0);
                jumped = true;
            }
        }
        Ok(jumped)
    }

    fn is_followed(&self, g: usize) -> bool {
        self.is_evaluated(g) && (self.accuracy.track_discontinuities || self.rhs.path_magnitude(g).is_none())
    }

    /// Forgets the signs of a loop's guards when the loop starts.
    pub(super) fn forget_guards(&mut self, loop_index: usize) {
        for (sign, _) in
            self.signs.iter_mut().zip(&self.guard_owners).filter(|(_, o)| **o == Entity::Loop(loop_index))
        {
            *sign = 0.0;
        }
    }

    pub(super) fn state_name(&self, i: usize) -> String {
        let entity: Entity = self.owners[i];
        format!("{} of {}", self.rhs.asm.states[i].name, self.rhs.asm.name(entity))
    }

    /// The first state or channel that is infinite or not a number now.
    pub(super) fn first_non_finite(&self) -> Option<String> {
        let bad = |values: &[f64]| values.iter().position(|v| !v.is_finite());
        let asm = self.rhs.asm;
        let state = bad(&self.raw).map(|i| self.state_name(i));
        state.or_else(|| {
            let column = &asm.channel_columns()[bad(&self.nodes[4])?];
            Some(format!("{} of {}", column.quantity, asm.name(column.entity)))
        })
    }
}
