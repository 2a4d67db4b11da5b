//! What ends a step early: a state meets its bound or is let go, a guard of a law changes its sign.

use super::Solver;
use crate::assembly::{Assembly, Entity};
use crate::discrete_state::Held;
use crate::error::Error;

/// How far beyond a bound counts as beyond it, in scales of the state.
const BEYOND: f64 = 1e-13;

/// How fast a state must turn back, in scales per second, to be let go: a queue, when a billionth of the capacity more
/// arrives than is served. Below that a network at rest would hold and let go by its roundings.
const TURNS: f64 = 1e-6;

/// How far beyond zero a guard has changed its sign, as a share of the greatest value that it has ever had: what is at
/// rest on a threshold would cross it with every rounding.
const BAND: f64 = 1e-13;

/// Two hops say the same if they differ by no more than this share of the tolerance.
const NEAR: f64 = 0.1;

/// A guard that changes its sign so often within a hundredth of the shortest delay lets no step through.
const CHATTER: u32 = 100;

/// What differs by more than this share of itself on the two sides of an event jumps there.
const JUMP: f64 = 1e-7;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DetectedEvent {
    /// A state has met its bound.
    Hold(usize, Held),
    /// A state is let go.
    Release(usize),
    /// A guard has changed its sign; true: it has risen.
    Guard(usize, bool),
}

impl Assembly {
    /// What is a small value of each state: its start, a millisecond of the capacity for a queue, otherwise one.
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
        scales
    }

    /// States that have a bound.
    pub(super) fn bounded(&self) -> Vec<usize> {
        let has_bound = |i: &usize| {
            let state = &self.states[*i];
            state.lower.is_finite() || state.upper.is_finite()
        };
        (0..self.states.len()).filter(has_bound).collect()
    }
}

impl Solver<'_> {
    /// Does anything happen at these states, with derivatives and guards as computed last?
    pub(super) fn detects_event(&self, x: &[f64]) -> bool {
        self.bounded.iter().any(|i| self.bound_event(*i, x[*i]).is_some())
            || (0..self.guards.len()).any(|g| self.guard_event(g).is_some())
    }

    /// What happens at the states probed last.
    pub(super) fn alarms(&self) -> Vec<DetectedEvent> {
        let states = self.bounded.iter().filter_map(|i| self.bound_event(*i, self.inside[*i]));
        states.chain((0..self.guards.len()).filter_map(|g| self.guard_event(g))).collect()
    }

    fn bound_event(&self, i: usize, x: f64) -> Option<DetectedEvent> {
        let (state, scale, raw) = (&self.rhs.asm.states[i], self.scales[i], self.raw[i]);
        match self.discrete.held[i] {
            Held::Free if x < state.lower - BEYOND * scale => Some(DetectedEvent::Hold(i, Held::Lower)),
            Held::Free if x > state.upper + BEYOND * scale => Some(DetectedEvent::Hold(i, Held::Upper)),
            Held::Lower if raw > TURNS * scale => Some(DetectedEvent::Release(i)),
            Held::Upper if raw < -TURNS * scale => Some(DetectedEvent::Release(i)),
            _ => None,
        }
    }

    fn guard_event(&self, g: usize) -> Option<DetectedEvent> {
        let (value, sign) = (self.guards[g], self.signs[g]);
        let is_beyond = value * sign < -self.band(g);
        (is_beyond && self.is_watched(g)).then_some(DetectedEvent::Guard(g, value > 0.0))
    }

    /// Two hops may say the same: within the tolerance it does not matter which of them counts.
    fn band(&self, g: usize) -> f64 {
        let is_path = self.rhs.said(g).is_some();
        let share = if is_path { NEAR * self.accuracy.tolerance.min(1e-6) } else { BAND };
        share * self.guard_sizes[g]
    }

    /// Nobody sees what a loop does that is not there.
    fn is_watched(&self, g: usize) -> bool {
        match self.guard_owners[g] {
            Entity::Loop(l) => self.discrete.active[l],
            Entity::Link(_) | Entity::Relay(_) => true,
        }
    }

    /// The guards at these states, with what was heard last.
    pub(super) fn read_guards(&mut self, x: &[f64]) {
        if !self.guards.is_empty() {
            self.rhs.read_guards(x, &mut self.guards);
        }
    }

    /// What was just read counts.
    pub(super) fn measure_guards(&mut self) {
        for (g, (size, value)) in self.guard_sizes.iter_mut().zip(&self.guards).enumerate() {
            let value = self.rhs.said(g).unwrap_or(value.abs());
            *size = size.max(if value.is_finite() { value } else { 0.0 });
        }
    }

    /// Does what the alarms say; `level`: in which derivative a quantity jumps where a guard changes its sign.
    pub(super) fn act(&mut self, alarms: &[DetectedEvent], level: u8) -> Result<(), Error> {
        if alarms.iter().any(|event| matches!(event, DetectedEvent::Guard(..))) {
            // What laws see that cross is what has arrived by now.
            self.hear();
        }
        for event in alarms {
            match *event {
                DetectedEvent::Hold(i, held) => {
                    let state = &self.rhs.asm.states[i];
                    self.x[i] = if held == Held::Lower { state.lower } else { state.upper };
                    self.discrete.held[i] = held;
                    self.turned(i);
                }
                DetectedEvent::Release(i) => {
                    self.discrete.held[i] = Held::Free;
                    self.turned(i);
                }
                DetectedEvent::Guard(g, is_rising) => {
                    self.notice_chatter(g)?;
                    self.cross(g, is_rising, level);
                }
            }
        }
        self.refresh()
    }

    /// The derivative of a state has jumped. A full buffer's loss and an empty relay's rate jump themselves.
    fn turned(&mut self, i: usize) {
        self.scheduled.spread(self.rhs.asm, self.time, self.owners[i], 1);
    }

    fn cross(&mut self, g: usize, is_rising: bool, level: u8) {
        self.signs[g] = if is_rising { 1.0 } else { -1.0 };
        let jumps = self.rhs.cross_guard(g, is_rising, &mut self.x);
        self.scheduled.spread(self.rhs.asm, self.time, self.guard_owners[g], if jumps { 0 } else { level });
    }

    /// A law that is driven back at once from either side of a threshold slides along it: no step ends beyond.
    fn notice_chatter(&mut self, g: usize) -> Result<(), Error> {
        if self.time - self.calm > 0.01 * self.shortest_delay {
            self.calm = self.time;
            self.crossings.fill(0);
        }
        self.crossings[g] += 1;
        if self.crossings[g] <= CHATTER {
            return Ok(());
        }
        let asm = self.rhs.asm;
        let guard = format!("{} of {}", asm.guard_name(&self.rhs, g), asm.name(self.guard_owners[g]));
        Err(Error::Chattering { time: self.time, guard })
    }

    /// In which derivative do channels jump between two nodes a few roundings apart?
    pub(super) fn level_between(&self, left: usize, right: usize) -> u8 {
        let differs = |(a, b): (&f64, &f64)| (a - b).abs() > JUMP * a.abs().max(b.abs());
        let jumps = self.nodes[left].iter().zip(&self.nodes[right]).any(differs);
        if jumps { 0 } else { 1 }
    }

    /// Holds and lets go by what the states do now; says whether anything changed. What is held is at its bound, or it would be
    /// let go at once, again and again.
    pub(super) fn settle(&mut self) -> bool {
        let mut changed = false;
        for b in 0..self.bounded.len() {
            let i = self.bounded[b];
            let (state, scale) = (self.rhs.asm.states[i], self.scales[i]);
            let (x, raw) = (self.x[i], self.raw[i]);
            let held = match self.discrete.held[i] {
                Held::Free if x <= state.lower + BEYOND * scale && raw <= 0.0 => Held::Lower,
                Held::Free if x >= state.upper - BEYOND * scale && raw >= 0.0 => Held::Upper,
                Held::Lower if raw > TURNS * scale || x > state.lower => Held::Free,
                Held::Upper if raw < -TURNS * scale || x < state.upper => Held::Free,
                held => held,
            };
            if held != self.discrete.held[i] {
                self.discrete.held[i] = held;
                self.x[i] = match held {
                    Held::Free => x,
                    Held::Lower => state.lower,
                    Held::Upper => state.upper,
                };
                self.turned(i);
                changed = true;
            }
        }
        changed
    }

    /// Guards whose sign jumped with what was heard.
    pub(super) fn jump_guards(&mut self) -> bool {
        let mut jumped = false;
        for g in 0..self.guards.len() {
            let value = self.guards[g];
            if self.signs[g] == 0.0 {
                let is_seen = value.abs() > self.band(g) && self.is_followed(g);
                self.signs[g] = if is_seen { self.rhs.first_sign(g, value) } else { 0.0 };
            } else if self.guard_event(g).is_some() {
                self.cross(g, value > 0.0, 0);
                jumped = true;
            }
        }
        jumped
    }

    fn is_followed(&self, g: usize) -> bool {
        self.is_watched(g) && (self.accuracy.track_discontinuities || self.rhs.said(g).is_none())
    }

    /// A loop begins anew: what its guards said before it was there does not count.
    pub(super) fn forget_guards(&mut self, l: usize) {
        for (sign, _) in self.signs.iter_mut().zip(&self.guard_owners).filter(|(_, o)| **o == Entity::Loop(l))
        {
            *sign = 0.0;
        }
    }

    pub(super) fn state_name(&self, i: usize) -> String {
        let entity: Entity = self.owners[i];
        format!("{} of {}", self.rhs.asm.states[i].name, self.rhs.asm.name(entity))
    }

    /// A quantity that is infinite or not a number now.
    pub(super) fn unbounded(&self) -> Option<String> {
        let bad = |values: &[f64]| values.iter().position(|v| !v.is_finite());
        let asm = self.rhs.asm;
        let state = bad(&self.raw).map(|i| self.state_name(i));
        state.or_else(|| {
            let column = &asm.channel_columns()[bad(&self.nodes[4])?];
            Some(format!("{} of {}", column.quantity, asm.name(column.entity)))
        })
    }
}
