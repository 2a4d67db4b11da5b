//! Who has switching functions, and where the hop that counts on a path changes.

use crate::assembly::Assembly;
use crate::path::{join, neutral, selects_hop};
use millpond_law::fluid::PathAggregation;
use std::ops::Range;

/// Whose guards: all of one sender or of one link's law, and how many.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GuardOwner {
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
pub(crate) struct PathSwitch {
    pub(crate) class: usize,
    pub(crate) place: usize,
    over_path: PathAggregation,
    /// The hop that counts, and the one that would be next.
    chosen: usize,
    rival: usize,
    turned: bool,
    /// What the hop that counts says, and the best of what the others say.
    here: f64,
    others: f64,
}

impl PathSwitch {
    fn new(class: usize, place: usize, over_path: PathAggregation) -> Self {
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

    pub(crate) fn is_right(&self) -> bool {
        match self.over_path {
            PathAggregation::Max => self.here >= self.others,
            _ => self.here <= self.others,
        }
    }

    pub(crate) fn guard(&self) -> f64 {
        let ahead = if self.over_path == PathAggregation::Max { -1.0 } else { 1.0 };
        (self.others - self.here) * if self.turned { -ahead } else { ahead }
    }

    /// How great what is said is.
    pub(crate) fn said(&self) -> f64 {
        self.here.abs().max(self.others.abs())
    }

    pub(crate) fn switch(&mut self) {
        (self.chosen, self.turned) = (self.rival, !self.turned);
    }
}

impl Assembly {
    /// Who has guards, and how many each.
    pub(crate) fn guarded(&self, switches: usize) -> Vec<(GuardOwner, usize)> {
        let senders = self.classes.iter().enumerate().flat_map(|(c, class)| {
            (0..class.loops.len()).map(move |i| (GuardOwner::Sender(c, i), class.law.guard_names().len()))
        });
        let links = self.sets.iter().enumerate().flat_map(|(s, set)| {
            (0..set.links.len()).map(move |i| (GuardOwner::Link(s, i), set.law.guard_names().len()))
        });
        let paths = (0..switches).map(|w| (GuardOwner::Path(w), 1));
        senders.chain(links).chain(paths).filter(|(_, count)| *count > 0).collect()
    }

    /// What can switch: feedback by feedback of each sender, and where each has its own, by class and place.
    pub(crate) fn switches(&self) -> (Vec<PathSwitch>, Vec<Vec<Range<usize>>>) {
        let (mut switches, mut places) = (Vec::new(), Vec::new());
        for (c, class) in self.classes.iter().enumerate() {
            let loop_subsystem = |(place, l): (usize, &usize)| {
                let first = switches.len();
                let kinds = class.law.feedback().iter().map(|kind| kind.over_path);
                let choose = kinds.filter(|kind| self.hops_of(*l).len() > 1 && selects_hop(*kind));
                switches.extend(choose.map(|kind| PathSwitch::new(c, place, kind)));
                first..switches.len()
            };
            places.push(class.loops.iter().enumerate().map(loop_subsystem).collect());
        }
        (switches, places)
    }
}
