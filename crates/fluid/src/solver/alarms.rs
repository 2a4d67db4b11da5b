//! What ends a step early: a state meets its bound or is let go, a guard of a law changes its sign.

use super::Solver;
use crate::assembly::{Assembly, Entity};
use crate::error::Error;
use crate::field::Held;

/// How far beyond a bound counts as beyond it, in scales of the state.
const BEYOND: f64 = 1e-13;

/// How fast a state must turn back, in scales per second, to be let go.
const TURNS: f64 = 1e-9;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Alarm {
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
    pub(super) fn is_alarmed(&self, x: &[f64]) -> bool {
        self.bounded.iter().any(|i| self.alarm_of(*i, x[*i]).is_some())
            || (0..self.guards.len()).any(|g| self.alarm_of_guard(g).is_some())
    }

    /// What happens at the states probed last.
    pub(super) fn alarms(&self) -> Vec<Alarm> {
        let states = self.bounded.iter().filter_map(|i| self.alarm_of(*i, self.inside[*i]));
        states.chain((0..self.guards.len()).filter_map(|g| self.alarm_of_guard(g))).collect()
    }

    fn alarm_of(&self, i: usize, x: f64) -> Option<Alarm> {
        let (state, scale, raw) = (&self.field.asm.states[i], self.scales[i], self.raw[i]);
        match self.situation.held[i] {
            Held::Free if x < state.lower - BEYOND * scale => Some(Alarm::Hold(i, Held::Lower)),
            Held::Free if x > state.upper + BEYOND * scale => Some(Alarm::Hold(i, Held::Upper)),
            Held::Lower if raw > TURNS * scale => Some(Alarm::Release(i)),
            Held::Upper if raw < -TURNS * scale => Some(Alarm::Release(i)),
            _ => None,
        }
    }

    fn alarm_of_guard(&self, g: usize) -> Option<Alarm> {
        let (value, sign) = (self.guards[g], self.signs[g]);
        (value * sign < 0.0).then_some(Alarm::Guard(g, value > 0.0))
    }

    /// Does what the alarms say.
    pub(super) fn act(&mut self, alarms: &[Alarm]) -> Result<(), Error> {
        for alarm in alarms {
            match *alarm {
                Alarm::Hold(i, held) => {
                    let state = &self.field.asm.states[i];
                    self.x[i] = if held == Held::Lower { state.lower } else { state.upper };
                    self.situation.held[i] = held;
                    self.turned(i);
                }
                Alarm::Release(i) => {
                    self.situation.held[i] = Held::Free;
                    self.turned(i);
                }
                Alarm::Guard(g, is_rising) => self.cross(g, is_rising),
            }
        }
        self.refresh()
    }

    /// The derivative of a state has jumped. A full buffer's loss and an empty relay's rate jump themselves.
    fn turned(&mut self, i: usize) {
        self.agenda.spread(self.field.asm, self.time, self.owners[i], 1);
    }

    fn cross(&mut self, g: usize, is_rising: bool) {
        self.signs[g] = if is_rising { 1.0 } else { -1.0 };
        if let Some(entity) = self.field.cross_guard(g, is_rising, &mut self.x, &self.situation.active) {
            self.agenda.spread(self.field.asm, self.time, entity, 0);
        }
    }

    /// Holds and lets go by what the states do now; says whether anything changed.
    pub(super) fn settle(&mut self) -> bool {
        let mut changed = false;
        for b in 0..self.bounded.len() {
            let i = self.bounded[b];
            let (state, scale) = (self.field.asm.states[i], self.scales[i]);
            let (x, raw) = (self.x[i], self.raw[i]);
            let held = match self.situation.held[i] {
                Held::Free if x <= state.lower + BEYOND * scale && raw <= 0.0 => Held::Lower,
                Held::Free if x >= state.upper - BEYOND * scale && raw >= 0.0 => Held::Upper,
                Held::Lower if raw > TURNS * scale || x > state.lower => Held::Free,
                Held::Upper if raw < -TURNS * scale || x < state.upper => Held::Free,
                held => held,
            };
            if held != self.situation.held[i] {
                self.situation.held[i] = held;
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
            if self.signs[g] == 0.0 && value != 0.0 {
                self.signs[g] = value.signum();
            } else if self.alarm_of_guard(g).is_some() {
                self.cross(g, value > 0.0);
                jumped = true;
            }
        }
        jumped
    }

    pub(super) fn state_name(&self, i: usize) -> String {
        let entity: Entity = self.owners[i];
        format!("{} of {}", self.field.asm.states[i].name, self.field.asm.name(entity))
    }

    /// A quantity that is infinite or not a number now.
    pub(super) fn unbounded(&self) -> Option<String> {
        let bad = |values: &[f64]| values.iter().position(|v| !v.is_finite());
        let asm = self.field.asm;
        let state = bad(&self.raw).map(|i| self.state_name(i));
        state.or_else(|| {
            let column = &asm.channel_columns()[bad(&self.nodes[4])?];
            Some(format!("{} of {}", column.quantity, asm.name(column.entity)))
        })
    }
}
