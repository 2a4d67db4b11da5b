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
mod inputs;
mod integration;
mod links;
mod meter;
mod parallel;
mod rings;
mod snapshots;
mod start;

pub use integration::FixedStepIntegration;
pub use parallel::{Executor, OneThread};
pub use snapshots::{Snapshot, Snapshots};

use crate::assembly::Assembly;
use crate::network::{CapacityKind, CapacityStep};
use flows::FlowBlock;
use hops::{RecordLayout, place_of};
use inputs::{InputBuffers, SignalSource};
use links::LinkBlock;
use std::sync::{Mutex, PoisonError};

/// An integration with fixed steps.
pub struct FixedStep<'a> {
    asm: &'a Assembly,
    /// Step in seconds.
    step: f64,
    /// Index of the present step.
    n: usize,
    /// Index of the step at time zero. Earlier steps fill the ring buffers with the history.
    zero: usize,
    /// The flows of the first sender class, then those of the second, and so on.
    flow_blocks: Vec<FlowBlock<'a>>,
    link_blocks: Vec<LinkBlock<'a>>,
    /// The layout of a record of signals.
    record: RecordLayout,
    buffers: SharedBuffers,
    changes: Vec<TimedChange>,
    /// Number of changes that have been applied.
    changed: usize,
}

/// Buffers for inputs: one for each thread that advances flows.
#[derive(Default)]
struct SharedBuffers(Mutex<Vec<InputBuffers>>);

impl SharedBuffers {
    /// Calls `work` with buffers that no other thread uses at this time.
    fn lend(&self, work: impl FnOnce(&mut InputBuffers)) {
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = all().pop();
        let mut buffers = unused.unwrap_or_default();
        work(&mut buffers);
        all().push(buffers);
    }
}

/// A change of a capacity at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ChangeKind {
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
        self.advance_with(&OneThread, steps);
    }

    /// Advances by this number of steps; `executor` executes the blocks of flows and of links. The result does not
    /// depend on it.
    pub fn advance_with(&mut self, executor: &impl Executor, steps: usize) {
        let end = self.n + steps;
        while self.n < end {
            self.step_towards(executor, end);
        }
    }

    /// Makes one step. Blocks of flows may run ahead, but not beyond step `end`.
    ///
    /// Flows only read what links have emitted in earlier steps. Each block of links adds up what the flows have sent to
    /// it, in the order of the flows, so that the order of all sums is fixed.
    fn step_towards(&mut self, executor: &impl Executor, end: usize) {
        self.change();
        // Blocks do not run beyond the next change of a capacity.
        let due = self.changes.get(self.changed).map_or(end, |change| change.step.min(end));
        let Self { n, step, record, ref buffers, ref mut flow_blocks, ref mut link_blocks, .. } = *self;
        let source = SignalSource { record, links: link_blocks };
        executor.for_each(flow_blocks, |block| {
            if block.is_due(n) {
                buffers.lend(|buffers| buffers.advance(block, n, due, source));
            }
        });
        let sending: Vec<&FlowBlock<'_>> = flow_blocks.iter().filter(|block| block.sends_at(n)).collect();
        executor.for_each(link_blocks, |block| block.step(n, step, &sending));
        self.n += 1;
    }

    /// Applies the changes of this step.
    fn change(&mut self) {
        while let Some(change) = self.changes.get(self.changed).filter(|change| change.step <= self.n) {
            match change.what {
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
        let (block, l) = place_of(link.0);
        let LinkBlock { capacity: actual, configured, .. } = &mut self.link_blocks[block];
        match kind {
            CapacityKind::Actual => {
                actual[l] = after(actual[l]);
                let kind = &self.asm.links[link.0].configured;
                configured[l] = kind.after_change(actual[l], configured[l]);
            }
            CapacityKind::Configured => configured[l] = after(configured[l]),
        }
    }

    /// Sets the capacity that each flow knows: the least of its path.
    fn set_capacities(&mut self) {
        let configured = |link: usize| {
            let (block, place) = place_of(link);
            self.link_blocks[block].configured[place]
        };
        for block in &mut self.flow_blocks {
            for (capacity, l) in block.capacity.iter_mut().zip(block.loops) {
                let hops = self.asm.hops_of(*l).iter().map(|hop| configured(hop.link));
                *capacity = hops.fold(f64::INFINITY, f64::min);
            }
        }
    }
}
