//! The owners of switching functions, and the switching functions at which the selected hop of a path changes.

use crate::assembly::Assembly;
use crate::path::{join, neutral, selects_hop};
use millpond_law::fluid::PathAggregation;
use std::ops::Range;

/// The owner of one or more guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardOwner {
    /// A sender: class and position in it.
    Sender(usize, usize),
    /// A law at a link: set and position in it.
    Link(usize, usize),
    /// The selected hop of a path: index into [`RightHandSide::switches`](crate::right_hand_side::RightHandSide).
    Path(usize),
}

/// Which hop of a path has the minimum (or maximum) of one kind of feedback.
///
/// The switching function is the difference between the best other signal and the selected signal. The sign is flipped
/// at every switch so that the switching function stays continuous.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathSwitch {
    pub(crate) class: usize,
    pub(crate) place: usize,
    over_path: PathAggregation,
    /// The selected hop, and the hop with the best signal among the others.
    selected: usize,
    runner_up: usize,
    is_inverted: bool,
    /// The signal of the selected hop, and the best signal of the others.
    selected_signal: f64,
    best_other: f64,
}

impl PathSwitch {
    fn new(class: usize, place: usize, over_path: PathAggregation) -> Self {
        let (selected_signal, best_other) = (f64::NAN, neutral(over_path));
        Self {
            class,
            place,
            over_path,
            selected: 0,
            runner_up: 0,
            is_inverted: false,
            selected_signal,
            best_other,
        }
    }

    /// Forgets the signals before the path is read again.
    pub(crate) fn reset(&mut self) {
        (self.selected_signal, self.best_other) = (f64::NAN, neutral(self.over_path));
    }

    /// Adds the signal of one hop.
    pub(crate) fn add_signal(&mut self, hop: usize, signal: f64) {
        if hop == self.selected {
            self.selected_signal = signal;
        } else if join(self.over_path, self.best_other, signal) != self.best_other {
            (self.best_other, self.runner_up) = (signal, hop);
        }
    }

    pub(crate) fn is_consistent(&self) -> bool {
        match self.over_path {
            PathAggregation::Max => self.selected_signal >= self.best_other,
            _ => self.selected_signal <= self.best_other,
        }
    }

    pub(crate) fn value(&self) -> f64 {
        let ahead = if self.over_path == PathAggregation::Max { -1.0 } else { 1.0 };
        (self.best_other - self.selected_signal) * if self.is_inverted { -ahead } else { ahead }
    }

    /// Magnitude of the larger of the two signals.
    pub(crate) fn magnitude(&self) -> f64 {
        self.selected_signal.abs().max(self.best_other.abs())
    }

    pub(crate) fn toggle(&mut self) {
        (self.selected, self.is_inverted) = (self.runner_up, !self.is_inverted);
    }
}

impl Assembly {
    /// The owners of guards, each with its number of guards.
    pub(crate) fn guard_counts(&self, switches: usize) -> Vec<(GuardOwner, usize)> {
        let senders = self.sender_classes.iter().enumerate().flat_map(|(c, class)| {
            (0..class.loops.len()).map(move |i| (GuardOwner::Sender(c, i), class.law.guard_names().len()))
        });
        let links = self.link_sets.iter().enumerate().flat_map(|(s, set)| {
            (0..set.links.len()).map(move |i| (GuardOwner::Link(s, i), set.law.guard_names().len()))
        });
        let paths = (0..switches).map(|w| (GuardOwner::Path(w), 1));
        senders.chain(links).chain(paths).filter(|(_, count)| *count > 0).collect()
    }

    /// One switch for each feedback that selects a hop, and the range of each sender's switches by class and position.
    pub(crate) fn switches(&self) -> (Vec<PathSwitch>, Vec<Vec<Range<usize>>>) {
        let (mut switches, mut places) = (Vec::new(), Vec::new());
        for (c, class) in self.sender_classes.iter().enumerate() {
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
