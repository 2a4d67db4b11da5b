//! A protocol's fluid model under given settings.

use super::{Allocation, Links, Senders};
use crate::LinkFacts;

/// What a sender may know of its loop when it is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopFacts {
    /// A full data packet, in bits.
    pub packet: f64,
    /// Round-trip time without queues, in seconds.
    pub base_rtt: f64,
    /// The least capacity of its links at the start, in bit/s.
    pub capacity: f64,
    /// How many links it crosses on its way to the receiver.
    pub hops: usize,
    /// The flow's weight; one is the rule.
    pub weight: f64,
    /// Is there a relay before or behind it?
    pub chained: bool,
}

/// A protocol as differential equations, its settings read: hands out the pieces that the engine puts together.
pub trait FluidModel: Send + Sync {
    /// The sender of one loop: [`sender_piece`](super::sender_piece).
    fn sender(&self, facts: &LoopFacts) -> Box<dyn Senders>;

    /// Its router at one link: [`link_piece`](super::link_piece); by default it has none.
    fn link(&self, _facts: &LinkFacts) -> Option<Box<dyn Links>> {
        None
    }

    /// How it shares the network.
    fn allocation(&self, facts: &LoopFacts) -> Allocation;

    /// What of the packets' law these equations leave out, a few words each: why the two may differ.
    fn left_out(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What a queue law does with the packets that it chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdicts {
    /// It marks them: flows that are not ECN-capable lose them instead.
    Marks,
    /// It drops them.
    Drops,
}

/// A queue as differential equations.
pub enum FluidQueue {
    /// It has no fluid model: refused by name where a scenario asks for it.
    Missing,
    /// The buffer alone, which the engine has.
    DropTail,
    /// A law whose only signal is a probability.
    Law {
        /// The law.
        law: Box<dyn Links>,
        /// Of what.
        verdicts: Verdicts,
    },
}
