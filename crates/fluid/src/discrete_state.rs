//! The discrete state of the network, which changes only at events: capacities, active loops, states held at a
//! bound, the discrete states of laws.

use crate::assembly::Assembly;
use crate::network::{CapacityKind, CapacityStep};
use crate::queue::QueueModel;

/// Whether a state is held at one of its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Held {
    /// The state follows its derivative.
    #[default]
    Free,
    /// Held at its lower bound.
    Lower,
    /// Held at its upper bound.
    Upper,
}

/// The part of the state that changes only at events.
#[derive(Clone, Debug)]
pub(crate) struct DiscreteState {
    /// Capacity of each link, in bit/s.
    pub(crate) capacity: Vec<f64>,
    /// The capacity of each link with which laws compute, in bit/s.
    pub(crate) configured: Vec<f64>,
    /// Whether each loop is active.
    pub(crate) active: Vec<bool>,
    /// Whether each state is held at a bound.
    pub(crate) held: Vec<Held>,
    /// The model of each link's queue.
    pub(crate) queue_models: Vec<QueueModel>,
    /// The discrete states of laws: modes and counts.
    pub(crate) laws: Vec<u64>,
}

impl DiscreteState {
    /// The discrete state before time zero: only loops without a start time are active.
    pub(crate) fn initial(asm: &Assembly) -> Self {
        Self {
            capacity: asm.links.iter().map(|link| link.capacity).collect(),
            configured: asm.links.iter().map(|link| link.configured.initial(link.capacity)).collect(),
            active: asm.loops.iter().map(|l| l.start.is_none()).collect(),
            held: vec![Held::Free; asm.states.len()],
            queue_models: vec![QueueModel::Exact; asm.links.len()],
            laws: asm.initial_discrete(),
        }
    }

    /// Sets the actual capacity of a link, in bit/s, and the configured one if that is a share of it.
    pub(crate) fn set_capacity(&mut self, asm: &Assembly, link: usize, capacity: f64) {
        self.capacity[link] = capacity;
        self.configured[link] = asm.links[link].configured.after_change(capacity, self.configured[link]);
    }

    /// Applies a change of a capacity.
    pub(crate) fn apply(&mut self, asm: &Assembly, step: CapacityStep) {
        match step.kind {
            CapacityKind::Actual => self.set_capacity(asm, step.link.0, step.capacity),
            CapacityKind::Configured => self.configured[step.link.0] = step.capacity,
        }
    }
}
