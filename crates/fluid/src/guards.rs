//! The switching functions of all laws, and where the hop that counts on a path changes.

use crate::assembly::{Assembly, Entity};
use crate::field::{Field, join, neutral};
use millpond_law::fluid::Aggregate;
use std::ops::Range;

/// Whose guards: all of one sender or of one link's law, and how many.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guarded {
    /// Class and place.
    Sender(usize, usize),
    /// Set and place.
    Link(usize, usize),
    /// The hop that counts: place among [`Field::switches`].
    Path(usize),
}

/// Which hop of a path says the least (or the most) of one kind of feedback.
///
/// Its switching function is by how much the others are behind. It turns its sign with each switch, so that it is
/// continuous like any other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    class: usize,
    place: usize,
    over_path: Aggregate,
    /// The hop that counts, and the one that would be next.
    chosen: usize,
    rival: usize,
    turned: bool,
    /// What the hop that counts says, and the best of what the others say.
    here: f64,
    others: f64,
}

/// A sum has no hop that counts alone.
pub(crate) fn chooses(over_path: Aggregate) -> bool {
    matches!(over_path, Aggregate::Min | Aggregate::Max)
}

impl Switch {
    fn new(class: usize, place: usize, over_path: Aggregate) -> Self {
        let (here, others) = (f64::NAN, neutral(over_path));
        Self { class, place, over_path, chosen: 0, rival: 0, turned: false, here, others }
    }

    /// The path is heard anew.
    pub(crate) fn begin(&mut self) {
        (self.here, self.others) = (f64::NAN, neutral(self.over_path));
    }

    /// What one of its hops says.
    pub(crate) fn hear(&mut self, hop: usize, word: f64) {
        if hop == self.chosen {
            self.here = word;
        } else if join(self.over_path, self.others, word) != self.others {
            (self.others, self.rival) = (word, hop);
        }
    }

    fn is_right(&self) -> bool {
        match self.over_path {
            Aggregate::Max => self.here >= self.others,
            _ => self.here <= self.others,
        }
    }

    fn guard(&self) -> f64 {
        let ahead = if self.over_path == Aggregate::Max { -1.0 } else { 1.0 };
        (self.others - self.here) * if self.turned { -ahead } else { ahead }
    }

    /// How great what is said is.
    fn said(&self) -> f64 {
        self.here.abs().max(self.others.abs())
    }

    fn switch(&mut self) {
        (self.chosen, self.turned) = (self.rival, !self.turned);
    }
}

impl Assembly {
    /// Who has guards, and how many each.
    pub(crate) fn guarded(&self, switches: usize) -> Vec<(Guarded, usize)> {
        let senders = self.classes.iter().enumerate().flat_map(|(c, class)| {
            (0..class.loops.len()).map(move |i| (Guarded::Sender(c, i), class.law.guard_names().len()))
        });
        let links = self.sets.iter().enumerate().flat_map(|(s, set)| {
            (0..set.links.len()).map(move |i| (Guarded::Link(s, i), set.law.guard_names().len()))
        });
        let paths = (0..switches).map(|w| (Guarded::Path(w), 1));
        senders.chain(links).chain(paths).filter(|(_, count)| *count > 0).collect()
    }

    /// What can switch: feedback by feedback of each sender, and where each has its own, by class and place.
    pub(crate) fn switches(&self) -> (Vec<Switch>, Vec<Vec<Range<usize>>>) {
        let (mut switches, mut places) = (Vec::new(), Vec::new());
        for (c, class) in self.classes.iter().enumerate() {
            let of_loop = |(place, l): (usize, &usize)| {
                let first = switches.len();
                let kinds = class.law.feedback().iter().map(|kind| kind.over_path);
                let choose = kinds.filter(|kind| self.hops_of(*l).len() > 1 && chooses(*kind));
                switches.extend(choose.map(|kind| Switch::new(c, place, kind)));
                first..switches.len()
            };
            places.push(class.loops.iter().enumerate().map(of_loop).collect());
        }
        (switches, places)
    }

    /// Whose each guard is, in the order of the guards.
    pub(crate) fn guard_owners(&self, field: &Field<'_>) -> Vec<Entity> {
        let owner = |whose: Guarded| match whose {
            Guarded::Sender(c, place) => Entity::Loop(self.classes[c].loops[place]),
            Guarded::Link(s, place) => Entity::Link(self.sets[s].links[place]),
            Guarded::Path(w) => {
                let switch = &field.switches[w];
                Entity::Loop(self.classes[switch.class].loops[switch.place])
            }
        };
        field.guards.iter().map(|(whose, _)| owner(*whose)).collect()
    }

    /// In words, for errors.
    pub(crate) fn guard_name(&self, field: &Field<'_>, guard: usize) -> &'static str {
        let (whose, place) = field.guards[guard];
        match whose {
            Guarded::Sender(c, _) => self.classes[c].law.guard_names()[place],
            Guarded::Link(s, _) => self.sets[s].law.guard_names()[place],
            Guarded::Path(_) => "the hop that counts",
        }
    }
}

impl Field<'_> {
    /// All guards, with what was heard last.
    pub(crate) fn read_guards(&self, x: &[f64], guards: &mut [f64]) {
        let mut first = 0;
        for (whose, count) in &self.guarded {
            let out = &mut guards[first..first + count];
            match *whose {
                Guarded::Sender(c, place) => {
                    let class = &self.asm.classes[c];
                    let x = &x[class.first_state + place * class.width..][..class.width];
                    let input = self.senders[c].at(place, class.law.feedback().len());
                    class.law.guards(place, x, &input, out);
                }
                Guarded::Link(s, place) => {
                    let set = &self.asm.sets[s];
                    let x = &x[set.first_state + place * set.width..][..set.width];
                    set.law.guards(place, x, &self.links[s].at(place), out);
                }
                Guarded::Path(w) => out[0] = self.switches[w].guard(),
            }
            first += count;
        }
    }

    /// Where the hop that counts changes: how great the words are that were heard last.
    pub(crate) fn said(&self, guard: usize) -> Option<f64> {
        match self.guards[guard] {
            (Guarded::Path(w), _) => Some(self.switches[w].said()),
            _ => None,
        }
    }

    /// A guard is seen for the first time: its sign. A path begins with the hop that counts.
    pub(crate) fn first_sign(&mut self, guard: usize, value: f64) -> f64 {
        let (Guarded::Path(w), _) = self.guards[guard] else { return value.signum() };
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
            Guarded::Sender(c, place) => {
                let class = &self.asm.classes[c];
                let x = &mut x[class.first_state + place * class.width..][..class.width];
                let input = self.senders[c].at(place, class.law.feedback().len());
                let before = x.to_vec();
                class.law.crossed(place, guard, is_rising, x, &input);
                before != x
            }
            Guarded::Link(s, place) => {
                let set = &self.asm.sets[s];
                let x = &mut x[set.first_state + place * set.width..][..set.width];
                let before = x.to_vec();
                set.law.crossed(place, guard, is_rising, x, &self.links[s].at(place));
                before != x
            }
            Guarded::Path(w) => {
                self.switches[w].switch();
                false
            }
        }
    }
}
