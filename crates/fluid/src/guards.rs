//! Evaluation and crossing of all switching functions: those of laws, and those at which the selected hop of a path
//! changes.

use crate::assembly::{Assembly, Entity, LinkLaw};
use crate::discrete_state::DiscreteState;
use crate::path_switches::GuardOwner;
use crate::right_hand_side::RightHandSide;
use millpond_law::fluid::LawState;

/// An event on which a law acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LawEvent {
    /// One of its guards has changed its sign.
    Crossing { guard: usize, is_rising: bool },
    /// Its period has passed.
    Tick,
}

impl Assembly {
    /// The entity that owns each guard, in the order of the guards.
    pub(crate) fn guard_owners(&self, rhs: &RightHandSide<'_>) -> Vec<Entity> {
        let owner = |whose: GuardOwner| match whose {
            GuardOwner::Sender(c, place) => Entity::Loop(self.sender_classes[c].loops[place]),
            GuardOwner::Link(s, place) => Entity::Link(self.link_sets[s].links[place]),
            GuardOwner::Path(w) => {
                let switch = &rhs.switches[w];
                Entity::Loop(self.sender_classes[switch.class].loops[switch.place])
            }
        };
        rhs.guards.iter().map(|(whose, _)| owner(*whose)).collect()
    }

    /// Name of a guard for error messages.
    pub(crate) fn guard_name(&self, rhs: &RightHandSide<'_>, guard: usize) -> &'static str {
        let (whose, place) = rhs.guards[guard];
        match whose {
            GuardOwner::Sender(c, _) => self.sender_classes[c].law.guard_names()[place],
            GuardOwner::Link(s, _) => self.link_sets[s].law.guard_names()[place],
            GuardOwner::Path(_) => "the hop that counts",
        }
    }
}

impl RightHandSide<'_> {
    /// The index of switching function number `place` of a loop or link, counted over all of its laws; none for a relay.
    pub(crate) fn guard_index(&self, entity: Entity, mut place: usize) -> Option<usize> {
        let owner = match entity {
            Entity::Loop(l) => GuardOwner::Sender(self.asm.loops[l].class, self.asm.loops[l].place),
            Entity::Link(link) => self.asm.laws_of(link).find_map(|LinkLaw { set, place: position }| {
                let count = self.asm.link_sets[set].law.guard_names().len();
                if place < count {
                    return Some(GuardOwner::Link(set, position));
                }
                place -= count;
                None
            })?,
            Entity::Relay(_) => return None,
        };
        self.guards.iter().position(|guard| *guard == (owner, place))
    }

    /// The values of all guards with the inputs of the last evaluation.
    pub(crate) fn read_guards(&self, x: &[f64], guards: &mut [f64]) {
        let mut first = 0;
        for (whose, count) in &self.guard_counts {
            self.read_guards_of(*whose, x, &mut guards[first..first + count]);
            first += count;
        }
    }

    /// The values of the guards of one owner with the inputs of the last evaluation.
    pub(crate) fn read_guards_of(&self, owner: GuardOwner, x: &[f64], out: &mut [f64]) {
        match owner {
            GuardOwner::Sender(c, place) => {
                let class = &self.asm.sender_classes[c];
                let x = &x[class.states_of(place)];
                let input = self.senders[c].flow(place);
                class.law.guards(place, x, &input, out);
            }
            GuardOwner::Link(s, place) => {
                let set = &self.asm.link_sets[s];
                let x = &x[set.states_of(place)];
                set.law.guards(place, x, &self.links[s].link(place), out);
            }
            GuardOwner::Path(w) => out[0] = self.switches[w].value(),
        }
    }

    /// For a guard of a path: the magnitude of its signals, used to scale the tolerance. None for the guard of a law.
    pub(crate) fn path_magnitude(&self, guard: usize) -> Option<f64> {
        match self.guards[guard] {
            (GuardOwner::Path(w), _) => Some(self.switches[w].magnitude()),
            _ => None,
        }
    }

    /// The initial sign of a guard. For a path, the best hop becomes the selected one.
    pub(crate) fn first_sign(&mut self, guard: usize, value: f64) -> f64 {
        let (GuardOwner::Path(w), _) = self.guards[guard] else { return value.signum() };
        let switch = &mut self.switches[w];
        if !switch.is_consistent() {
            switch.toggle();
        }
        value.signum()
    }

    /// Reports a sign change to the owner of a guard. Returns whether states have jumped.
    pub(crate) fn cross_guard(
        &mut self,
        guard: usize,
        is_rising: bool,
        x: &mut [f64],
        discrete: &mut DiscreteState,
    ) -> bool {
        let (owner, guard) = self.guards[guard];
        let event = LawEvent::Crossing { guard, is_rising };
        match owner {
            GuardOwner::Sender(c, place) => self.act_sender(c, place, event, x, discrete),
            GuardOwner::Link(s, place) => self.act_link(s, place, event, x, discrete),
            GuardOwner::Path(w) => {
                self.switches[w].toggle();
                false
            }
        }
    }

    /// Lets the law of a sender act on an event, with the inputs of the last evaluation. Returns whether its states have
    /// jumped.
    pub(crate) fn act_sender(
        &mut self,
        c: usize,
        place: usize,
        event: LawEvent,
        x: &mut [f64],
        discrete: &mut DiscreteState,
    ) -> bool {
        let class = &self.asm.sender_classes[c];
        let own = class.discrete_of(place);
        let state =
            &mut LawState { x: &mut x[class.states_of(place)], discrete: &mut discrete.laws[own.clone()] };
        let before = (state.x.to_vec(), state.discrete.to_vec());
        let input = self.senders[c].flow(place);
        match event {
            LawEvent::Crossing { guard, is_rising } => {
                class.law.crossed(place, guard, is_rising, state, &input)
            }
            LawEvent::Tick => class.law.tick(place, state, &input),
        }
        let first = own.start - class.first_discrete;
        self.senders[c].discrete[first..][..own.len()].copy_from_slice(state.discrete);
        before.0 != state.x || before.1 != state.discrete
    }

    /// Lets the law of a link act on an event, with the inputs of the last evaluation. Returns whether its states have
    /// jumped.
    pub(crate) fn act_link(
        &mut self,
        s: usize,
        place: usize,
        event: LawEvent,
        x: &mut [f64],
        discrete: &mut DiscreteState,
    ) -> bool {
        let set = &self.asm.link_sets[s];
        let own = set.discrete_of(place);
        let state =
            &mut LawState { x: &mut x[set.states_of(place)], discrete: &mut discrete.laws[own.clone()] };
        let before = (state.x.to_vec(), state.discrete.to_vec());
        let input = self.links[s].link(place);
        match event {
            LawEvent::Crossing { guard, is_rising } => {
                set.law.crossed(place, guard, is_rising, state, &input)
            }
            LawEvent::Tick => set.law.tick(place, state, &input),
        }
        let first = own.start - set.first_discrete;
        self.links[s].discrete[first..][..own.len()].copy_from_slice(state.discrete);
        before.0 != state.x || before.1 != state.discrete
    }
}
