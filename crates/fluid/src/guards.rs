//! The switching functions of all laws, and where the hop that counts on a path changes.

use crate::assembly::{Assembly, Entity};
use crate::path_switches::GuardOwner;
use crate::right_hand_side::RightHandSide;

impl Assembly {
    /// Whose each guard is, in the order of the guards.
    pub(crate) fn guard_owners(&self, rhs: &RightHandSide<'_>) -> Vec<Entity> {
        let owner = |whose: GuardOwner| match whose {
            GuardOwner::Sender(c, place) => Entity::Loop(self.classes[c].loops[place]),
            GuardOwner::Link(s, place) => Entity::Link(self.sets[s].links[place]),
            GuardOwner::Path(w) => {
                let switch = &rhs.switches[w];
                Entity::Loop(self.classes[switch.class].loops[switch.place])
            }
        };
        rhs.guards.iter().map(|(whose, _)| owner(*whose)).collect()
    }

    /// In words, for errors.
    pub(crate) fn guard_name(&self, rhs: &RightHandSide<'_>, guard: usize) -> &'static str {
        let (whose, place) = rhs.guards[guard];
        match whose {
            GuardOwner::Sender(c, _) => self.classes[c].law.guard_names()[place],
            GuardOwner::Link(s, _) => self.sets[s].law.guard_names()[place],
            GuardOwner::Path(_) => "the hop that counts",
        }
    }
}

impl RightHandSide<'_> {
    /// All guards, with what was heard last.
    pub(crate) fn read_guards(&self, x: &[f64], guards: &mut [f64]) {
        let mut first = 0;
        for (whose, count) in &self.guarded {
            let out = &mut guards[first..first + count];
            match *whose {
                GuardOwner::Sender(c, place) => {
                    let class = &self.asm.classes[c];
                    let x = &x[class.first_state + place * class.width..][..class.width];
                    let input = self.senders[c].flow(place);
                    class.law.guards(place, x, &input, out);
                }
                GuardOwner::Link(s, place) => {
                    let set = &self.asm.sets[s];
                    let x = &x[set.first_state + place * set.width..][..set.width];
                    set.law.guards(place, x, &self.links[s].link(place), out);
                }
                GuardOwner::Path(w) => out[0] = self.switches[w].guard(),
            }
            first += count;
        }
    }

    /// Where the hop that counts changes: how great the words are that were heard last.
    pub(crate) fn said(&self, guard: usize) -> Option<f64> {
        match self.guards[guard] {
            (GuardOwner::Path(w), _) => Some(self.switches[w].said()),
            _ => None,
        }
    }

    /// A guard is seen for the first time: its sign. A path begins with the hop that counts.
    pub(crate) fn first_sign(&mut self, guard: usize, value: f64) -> f64 {
        let (GuardOwner::Path(w), _) = self.guards[guard] else { return value.signum() };
        let switch = &mut self.switches[w];
        if !switch.is_right() {
            switch.switch();
        }
        value.signum()
    }

    /// A guard has changed its sign: its law may let its states jump. Says whether they did.
    pub(crate) fn cross_guard(&mut self, guard: usize, is_rising: bool, x: &mut [f64]) -> bool {
        let (whose, guard) = self.guards[guard];
        match whose {
            GuardOwner::Sender(c, place) => {
                let class = &self.asm.classes[c];
                let x = &mut x[class.first_state + place * class.width..][..class.width];
                let input = self.senders[c].flow(place);
                let before = x.to_vec();
                class.law.crossed(place, guard, is_rising, x, &input);
                before != x
            }
            GuardOwner::Link(s, place) => {
                let set = &self.asm.sets[s];
                let x = &mut x[set.first_state + place * set.width..][..set.width];
                let before = x.to_vec();
                set.law.crossed(place, guard, is_rising, x, &self.links[s].link(place));
                before != x
            }
            GuardOwner::Path(w) => {
                self.switches[w].switch();
                false
            }
        }
    }
}
