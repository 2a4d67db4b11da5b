//! What changes at events alone: capacities, which loops are active, which states are held at a bound.

use crate::assembly::Assembly;
use crate::queue::Edge;

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
pub(crate) struct Situation {
    /// Of each link, in bit/s.
    pub(crate) capacity: Vec<f64>,
    /// Of each loop.
    pub(crate) active: Vec<bool>,
    /// Of each state.
    pub(crate) held: Vec<Held>,
    /// Of each link's queue.
    pub(crate) edges: Vec<Edge>,
}

impl Situation {
    /// Before time zero: loops that have always been there are active.
    pub(crate) fn before(asm: &Assembly) -> Self {
        Self {
            capacity: asm.links.iter().map(|link| link.capacity).collect(),
            active: asm.loops.iter().map(|l| l.start.is_none()).collect(),
            held: vec![Held::Free; asm.states.len()],
            edges: vec![Edge::Sharp; asm.links.len()],
        }
    }
}
