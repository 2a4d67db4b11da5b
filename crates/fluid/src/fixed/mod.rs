//! The scheme for large networks: fixed steps, order two, one evaluation per step.
//!
//! States advance by the two-step formula of Adams and Bashforth, `x + h (3 f(n) - f(n-1)) / 2`, and are clipped to
//! their bounds. Delayed quantities are interpolated linearly. Blocks of flows that fit into the cache are advanced by
//! several steps at once, limited by their smallest feedback delay. A change between two steps (start, stop, capacity)
//! applies in part at the nearest step, such that linear interpolation preserves the area under the jump. The scheme
//! has order one, with a small constant, where a jump moves a state off its bound (the first flow on an idle link) or
//! makes a law's signal jump.

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
use crate::network::{CapacityKind, CapacityStep};
use flows::ClassState;
use hops::DelayedHops;
use links::LinkSetState;

/// An integration with fixed steps.
pub struct FixedStep<'a> {
    asm: &'a Assembly,
    /// Step in seconds.
    step: f64,
    /// Index of the present step.
    n: usize,
    /// Index of the step at time zero. Earlier steps fill the ring buffers with the history.
    zero: usize,
    hops: DelayedHops,
    /// One for each sender class.
    flow_classes: Vec<ClassState<'a>>,
    /// One for each link set.
    routers: Vec<LinkSetState<'a>>,
    /// Length of each queue, in bits.
    queues: Vec<f64>,
    /// Derivative of each queue one step ago, in bit/s.
    queue_moves: Vec<f64>,
    /// Capacity of each link, in bit/s.
    capacity: Vec<f64>,
    /// The capacity of each link with which laws compute, in bit/s.
    configured: Vec<f64>,
    arriving: Vec<f64>,
    /// Arriving rate minus the drops of the queue law, in bit/s.
    admitted: Vec<f64>,
    /// Present marking and loss probability of each link.
    marked: Vec<f64>,
    lost: Vec<f64>,
    changes: Vec<TimedChange>,
    /// Number of changes that have been applied.
    changed: usize,
}

/// A change at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ChangeKind {
    /// A loop, by class and position.
    Start(usize, usize),
    Stop(usize, usize),
    /// A link's capacity changes in part; the rest follows one step later.
    PartOfCapacity(CapacityStep),
    Capacity(CapacityStep),
}

/// A change with its nearest step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimedChange {
    step: usize,
    /// Time from the step to the change, in steps: from -1/2 to 1/2.
    later: f64,
    what: ChangeKind,
}

/// The part of a jump that applies at its nearest step, such that linear interpolation preserves the area under the
/// jump.
fn part_after(later: f64) -> f64 {
    0.5 - later
}

/// `x + h (3 f - f_last) / 2`, clipped to the bounds. The derivative of a state at its bound that points outwards is
/// zero.
#[inline]
fn step_state(x: &mut f64, f: f64, last: &mut f64, step: f64, lower: f64, upper: f64) {
    let is_held = (*x <= lower && f < 0.0) || (*x >= upper && f > 0.0);
    let (f, last_f) = if is_held { (0.0, 0.0) } else { (f, *last) };
    *x = (*x + step * (1.5 * f - 0.5 * last_f)).max(lower).min(upper);
    *last = f;
}

impl FixedStep<'_> {
    /// The present time, in seconds.
    pub fn time(&self) -> f64 {
        (self.n - self.zero) as f64 * self.step
    }

    /// Advances by this number of steps.
    pub fn advance(&mut self, steps: usize) {
        let end = self.n + steps;
        while self.n < end {
            self.step_towards(end);
        }
    }

    /// Makes one step. Blocks of flows may run ahead, but not beyond step `end`.
    fn step_towards(&mut self, end: usize) {
        self.change();
        // Blocks do not run beyond the next change.
        let due = self.changes.get(self.changed).map_or(end, |change| change.step.min(end));
        for flows in &mut self.flow_classes {
            flows.step(self.n, due, &mut self.hops);
        }
        self.step_links();
        self.n += 1;
    }

    /// Applies the changes of this step.
    fn change(&mut self) {
        while let Some(change) = self.changes.get(self.changed).filter(|change| change.step <= self.n) {
            match change.what {
                ChangeKind::Start(class, place) => self.flow_classes[class].start(place, change.later),
                ChangeKind::Stop(class, place) => self.flow_classes[class].stop(place, change.later),
                ChangeKind::PartOfCapacity(step) => self.change_capacity(step, part_after(change.later)),
                ChangeKind::Capacity(step) => {
                    self.change_capacity(step, 1.0);
                    self.set_capacities();
                }
            }
            self.changed += 1;
        }
    }

    /// Moves a capacity of a link towards its new value by this part of the difference.
    fn change_capacity(&mut self, CapacityStep { link, kind, capacity, .. }: CapacityStep, part: f64) {
        let after = |before: f64| if part < 1.0 { before + part * (capacity - before) } else { capacity };
        let (l, configured) = (link.0, self.configured[link.0]);
        match kind {
            CapacityKind::Actual => {
                self.capacity[l] = after(self.capacity[l]);
                self.configured[l] = self.asm.links[l].configured.after_change(self.capacity[l], configured);
            }
            CapacityKind::Configured => self.configured[l] = after(configured),
        }
    }

    fn set_capacities(&mut self) {
        for (flows, class) in self.flow_classes.iter_mut().zip(&self.asm.sender_classes) {
            for (place, &l) in class.loops.iter().enumerate() {
                let hops = self.asm.hops_of(l).iter().map(|hop| self.configured[hop.link]);
                flows.set_capacity(place, hops.fold(f64::INFINITY, f64::min));
            }
        }
    }
}
