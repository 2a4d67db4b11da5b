//! The switching functions of all laws.

use crate::assembly::{Assembly, Entity};
use crate::field::Field;

/// Whose guards: all of one sender or of one link's law, and how many.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guarded {
    /// Class and place.
    Sender(usize, usize),
    /// Set and place.
    Link(usize, usize),
}

impl Assembly {
    /// Who has guards, and how many each.
    pub(crate) fn guarded(&self) -> Vec<(Guarded, usize)> {
        let senders = self.classes.iter().enumerate().flat_map(|(c, class)| {
            (0..class.loops.len()).map(move |i| (Guarded::Sender(c, i), class.law.guard_names().len()))
        });
        let links = self.sets.iter().enumerate().flat_map(|(s, set)| {
            (0..set.links.len()).map(move |i| (Guarded::Link(s, i), set.law.guard_names().len()))
        });
        senders.chain(links).filter(|(_, count)| *count > 0).collect()
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
            }
            first += count;
        }
    }

    /// A guard has changed its sign: its law may let its states jump. Says whose it is, unless that loop is not there.
    pub(crate) fn cross_guard(
        &self,
        guard: usize,
        is_rising: bool,
        x: &mut [f64],
        active: &[bool],
    ) -> Option<Entity> {
        let mut first = 0;
        for (whose, count) in &self.guarded {
            if guard >= first + count {
                first += count;
                continue;
            }
            return match *whose {
                Guarded::Sender(c, place) => {
                    let class = &self.asm.classes[c];
                    let x = &mut x[class.first_state + place * class.width..][..class.width];
                    let input = self.senders[c].at(place, class.law.feedback().len());
                    let l = class.loops[place];
                    active[l].then(|| {
                        class.law.crossed(place, guard - first, is_rising, x, &input);
                        Entity::Loop(l)
                    })
                }
                Guarded::Link(s, place) => {
                    let set = &self.asm.sets[s];
                    let x = &mut x[set.first_state + place * set.width..][..set.width];
                    set.law.crossed(place, guard - first, is_rising, x, &self.links[s].at(place));
                    Some(Entity::Link(set.links[place]))
                }
            };
        }
        None
    }
}
