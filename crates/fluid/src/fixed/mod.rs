//! The scheme for large networks: steps of one length, second order, one evaluation per step.
//!
//! States move by Adams and Bashforth's two-step formula `x + h (3 f(n) - f(n-1)) / 2`, bounds by clipping, delayed
//! quantities are linear between steps. Flows are worked on in chunks that stay in the cache (what they hear, what they
//! do, what they send), for as many steps at once as what they hear is old. What starts, stops or changes between two
//! steps does so in part at the nearest one: as much as what is linear between steps needs to have the jump's area.
//! Where a jump pushes a state off its bound (the first flow on an idle link) or a law's signal jumps with it, the scheme
//! is of first order, with a small constant.

mod flows;
mod hops;
mod integration;
mod links;
mod meter;
mod snapshots;
mod start;

pub use integration::FixedStepIntegration;
pub use snapshots::{Snapshot, Snapshots};

use crate::assembly::Assembly;
use flows::ClassState;
use hops::DelayedHops;
use links::LinkClassState;

/// An integration with steps of one length.
pub struct FixedStep<'a> {
    asm: &'a Assembly,
    /// In seconds.
    step: f64,
    /// The step that is now.
    n: usize,
    /// The step at time zero: those before it fill the rings with what was on its way.
    zero: usize,
    hops: DelayedHops,
    /// One for each class.
    flow_classes: Vec<ClassState<'a>>,
    /// One for each set.
    routers: Vec<LinkClassState<'a>>,
    /// In bits.
    queues: Vec<f64>,
    /// How the queues moved a step ago, in bit/s.
    queue_moves: Vec<f64>,
    /// Of each link, in bit/s.
    capacity: Vec<f64>,
    arriving: Vec<f64>,
    /// What its law does not drop, in bit/s.
    admitted: Vec<f64>,
    /// What each link says now: probability of a mark, of a loss.
    marked: Vec<f64>,
    lost: Vec<f64>,
    changes: Vec<Change>,
    /// How many of the changes have happened.
    changed: usize,
}

/// What changes at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ChangeKind {
    /// Class and place of a loop.
    Start(usize, usize),
    Stop(usize, usize),
    /// A link's capacity goes a part of the way to its new value, the rest of it a step later.
    LoopRole(usize, f64),
    Capacity(usize, f64),
}

/// At the step that is nearest to it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Change {
    step: usize,
    /// How much later than the step, in steps: from -1/2 to 1/2.
    later: f64,
    what: ChangeKind,
}

/// Of a jump so much later than a step, what counts at the step: then what is linear between steps has its area.
fn part_after(later: f64) -> f64 {
    0.5 - later
}

/// `x + h (3 f - f_last) / 2`, between bounds; what pushes against a bound rests there.
#[inline]
fn step_state(x: &mut f64, f: f64, last: &mut f64, step: f64, lower: f64, upper: f64) {
    let is_held = (*x <= lower && f < 0.0) || (*x >= upper && f > 0.0);
    let (f, last_f) = if is_held { (0.0, 0.0) } else { (f, *last) };
    *x = (*x + step * (1.5 * f - 0.5 * last_f)).max(lower).min(upper);
    *last = f;
}

impl FixedStep<'_> {
    /// Now, in seconds.
    pub fn time(&self) -> f64 {
        (self.n - self.zero) as f64 * self.step
    }

    /// So many steps.
    pub fn advance(&mut self, steps: usize) {
        let end = self.n + steps;
        while self.n < end {
            self.step_towards(end);
        }
    }

    /// A step; flows may run ahead, but not beyond step `end`.
    fn step_towards(&mut self, end: usize) {
        self.change();
        // Nobody goes beyond the next change, of which they would not know.
        let due = self.changes.get(self.changed).map_or(end, |change| change.step.min(end));
        for flows in &mut self.flow_classes {
            flows.step(self.n, due, &mut self.hops);
        }
        self.serve();
        self.n += 1;
    }

    /// What is due at this step happens.
    fn change(&mut self) {
        while let Some(change) = self.changes.get(self.changed).filter(|change| change.step <= self.n) {
            match change.what {
                ChangeKind::Start(class, place) => self.flow_classes[class].start(place, change.later),
                ChangeKind::Stop(class, place) => self.flow_classes[class].stop(place, change.later),
                ChangeKind::LoopRole(link, capacity) => {
                    self.capacity[link] += part_after(change.later) * (capacity - self.capacity[link]);
                }
                ChangeKind::Capacity(link, capacity) => {
                    self.capacity[link] = capacity;
                    self.set_capacities();
                }
            }
            self.changed += 1;
        }
    }

    fn set_capacities(&mut self) {
        for (flows, class) in self.flow_classes.iter_mut().zip(&self.asm.classes) {
            for (place, &l) in class.loops.iter().enumerate() {
                let hops = self.asm.hops_of(l).iter().map(|hop| self.capacity[hop.link]);
                flows.set_capacity(place, hops.fold(f64::INFINITY, f64::min));
            }
        }
    }
}
