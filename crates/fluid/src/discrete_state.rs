//! What changes at events alone: capacities, which loops are active, which states are held at a bound.

use crate::assembly::Assembly;
use crate::queue::QueueModel;

/// Whether a state is held at one of its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Held {
    /// It moves.
    #[default]
    Free,
    /// At its lower bound.
    Lower,
    /// At its upper bound.
    Upper,
}

/// What changes at events alone.
#[derive(Clone, Debug)]
pub(crate) struct DiscreteState {
    /// Of each link, in bit/s.
    pub(crate) capacity: Vec<f64>,
    /// Of each loop.
    pub(crate) active: Vec<bool>,
    /// Of each state.
    pub(crate) held: Vec<Held>,
    /// Of each link's queue.
    pub(crate) queue_models: Vec<QueueModel>,
}

impl DiscreteState {
    /// Before time zero: loops that have always been there are active.
    pub(crate) fn before(asm: &Assembly) -> Self {
        Self {
            capacity: asm.links.iter().map(|link| link.capacity).collect(),
            active: asm.loops.iter().map(|l| l.start.is_none()).collect(),
            held: vec![Held::Free; asm.states.len()],
            queue_models: vec![QueueModel::Sharp; asm.links.len()],
        }
    }
}
