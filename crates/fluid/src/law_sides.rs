//! Evaluation of laws on the side of their threshold that a hysteresis keeps them on.

use crate::hysteresis::{HeldSide, Hysteresis, LawSet};
use crate::path_switches::GuardOwner;
use crate::right_hand_side::RightHandSide;
use std::ops::Range;

/// The distance from the threshold at which a law is evaluated, relative to the terms of its switching function.
const DISTANCE: f64 = 1e-12;

/// Step of the difference quotients of a switching function, relative to each of its variables.
const DIFFERENCE: f64 = 1e-6;

/// Largest number of Newton steps to the side of a law.
const NEWTON_STEPS: usize = 4;

impl RightHandSide<'_> {
    /// From now on, evaluates the law of a guard on the side of this sign. No effect for the guard of a path, whose signals
    /// are equal at a switch.
    pub(crate) fn hold_side(&mut self, guard: usize, sign: f64) {
        let (owner, place) = self.guards[guard];
        if !matches!(owner, GuardOwner::Path(_)) {
            self.hysteresis.hold(owner, place, sign);
        }
    }

    /// Moves the inputs and states of laws that are not on their side, given the present states. The laws of senders are
    /// the first of an evaluation.
    pub(crate) fn move_to_sides(&mut self, present: &[f64], laws: LawSet) {
        if self.hysteresis.sides.is_empty() {
            return;
        }
        let mut hysteresis = std::mem::take(&mut self.hysteresis);
        let Hysteresis { sides, x, inputs } = &mut hysteresis;
        if laws == LawSet::Senders {
            x.clear();
            x.extend_from_slice(present);
        }
        for side in sides.iter().filter(|side| laws.contain(side.owner)) {
            if self.value(*side, x) * side.sign <= 0.0 {
                let (variables, before) = (self.variables(side.owner, x), self.inputs(side.owner));
                if self.move_to_side(*side, x, &variables) {
                    inputs.push((side.owner, before));
                } else {
                    self.set_variables(side.owner, x, &variables);
                }
            }
        }
        self.hysteresis = hysteresis;
    }

    /// Restores the inputs that [`Self::move_to_sides`] has moved.
    pub(crate) fn restore_inputs(&mut self) {
        let mut inputs = std::mem::take(&mut self.hysteresis.inputs);
        for (owner, before) in inputs.drain(..).rev() {
            self.set_inputs_of(owner, &before);
        }
        self.hysteresis.inputs = inputs;
    }

    /// Moves one law to its side by Newton's method along the gradient of the switching function at `variables`. Returns
    /// whether it is there.
    fn move_to_side(&mut self, side: HeldSide, x: &mut [f64], variables: &[f64]) -> bool {
        let value = self.value(side, x);
        let mut terms = Vec::with_capacity(variables.len());
        for (i, variable) in variables.iter().enumerate() {
            let mut differing = variables.to_vec();
            differing[i] += DIFFERENCE * variable.abs();
            self.set_variables(side.owner, x, &differing);
            terms.push((self.value(side, x) - value) / DIFFERENCE);
        }
        let (sum, squares) =
            terms.iter().fold((0.0, 0.0), |(sum, squares), term| (sum + term.abs(), squares + term * term));
        let (mut moved, mut value) = (variables.to_vec(), value);
        for _ in 0..NEWTON_STEPS {
            let share = (side.sign * DISTANCE * sum - value) / squares;
            for ((moved, variable), term) in moved.iter_mut().zip(variables).zip(&terms) {
                *moved += share * term * variable.abs();
            }
            self.set_variables(side.owner, x, &moved);
            value = self.value(side, x);
            if value * side.sign > 0.0 {
                return true;
            }
        }
        false
    }

    /// The value of a switching function at the present inputs and these states.
    fn value(&self, side: HeldSide, x: &[f64]) -> f64 {
        let count =
            self.guard_counts.iter().find(|(owner, _)| *owner == side.owner).map_or(0, |(_, count)| *count);
        let mut values = vec![0.0; count];
        self.read_guards_of(side.owner, x, &mut values);
        values[side.place]
    }

    /// Inputs and states of a law.
    fn variables(&self, owner: GuardOwner, x: &[f64]) -> Vec<f64> {
        let mut variables = self.inputs(owner);
        variables.extend_from_slice(&x[self.states_of(owner)]);
        variables
    }

    fn set_variables(&mut self, owner: GuardOwner, x: &mut [f64], variables: &[f64]) {
        let states = self.states_of(owner);
        let (inputs, of_states) = variables.split_at(variables.len() - states.len());
        self.set_inputs_of(owner, inputs);
        x[states].copy_from_slice(of_states);
    }

    /// The inputs of a law, except those from relays.
    fn inputs(&self, owner: GuardOwner) -> Vec<f64> {
        match owner {
            GuardOwner::Sender(c, place) => {
                let input = self.senders[c].flow(place);
                let numbers = [
                    input.queueing,
                    input.queueing_slope,
                    input.marked,
                    input.lost,
                    input.acked,
                    input.present_queueing,
                    input.earlier_queueing,
                ];
                numbers.into_iter().chain(input.feedback.iter().copied()).collect()
            }
            GuardOwner::Link(s, place) => {
                let input = self.links[s].link(place);
                let numbers = [input.arriving, input.own_arriving, input.queue];
                numbers.into_iter().chain(input.carried.iter().copied()).collect()
            }
            GuardOwner::Path(_) => Vec::new(),
        }
    }

    /// Sets the inputs of a law, in the order of [`Self::inputs`].
    fn set_inputs_of(&mut self, owner: GuardOwner, values: &[f64]) {
        match (owner, values) {
            (
                GuardOwner::Sender(c, place),
                [queueing, slope, marked, lost, acked, present_queueing, earlier_queueing, feedback @ ..],
            ) => {
                let inputs = &mut self.senders[c];
                inputs.queueing[place] = *queueing;
                inputs.queueing_slope[place] = *slope;
                inputs.marked[place] = *marked;
                inputs.lost[place] = *lost;
                inputs.acked[place] = *acked;
                inputs.present_queueing[place] = *present_queueing;
                inputs.earlier_queueing[place] = *earlier_queueing;
                inputs.feedback[place * feedback.len()..][..feedback.len()].copy_from_slice(feedback);
            }
            (GuardOwner::Link(s, place), [arriving, own_arriving, queue, carried @ ..]) => {
                let inputs = &mut self.links[s];
                inputs.arriving[place] = *arriving;
                inputs.own_arriving[place] = *own_arriving;
                inputs.queue[place] = *queue;
                inputs.carried[place * carried.len()..][..carried.len()].copy_from_slice(carried);
            }
            _ => {}
        }
    }

    /// The range of a law's states.
    fn states_of(&self, owner: GuardOwner) -> Range<usize> {
        match owner {
            GuardOwner::Sender(c, place) => self.asm.sender_classes[c].states_of(place),
            GuardOwner::Link(s, place) => self.asm.link_sets[s].states_of(place),
            GuardOwner::Path(_) => 0..0,
        }
    }
}
