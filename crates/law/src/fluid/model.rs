//! The fluid model of a protocol under given settings.

use super::{Allocation, LinkLaws, SenderLaws, SteadyStateFacts};
use crate::LinkFacts;
use alloc::boxed::Box;

/// What a sender may know about its loop when it is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopFacts {
    /// Size of a full data packet, in bits.
    pub packet: f64,
    /// Round-trip time without queues, in seconds.
    pub base_rtt: f64,
    /// Smallest initial capacity of the loop's links, in bit/s.
    pub capacity: f64,
    /// Number of links from the sender to the receiver.
    pub hops: usize,
    /// Weight of the flow; one by default.
    pub weight: f64,
    /// Whether there is a relay at either end of the loop.
    pub chained: bool,
}

/// A protocol as differential equations under given settings: it creates the laws from which the engine assembles a
/// network.
pub trait FluidModel: Send + Sync {
    /// The law of one loop's sender, made with [`sender_law`](super::sender_law).
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws>;

    /// The law of the protocol's router at one link, made with [`link_law`](super::link_law). None by default.
    fn link(&self, _facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        None
    }

    /// The rates at equilibrium.
    fn allocation(&self, facts: &LoopFacts) -> Allocation;

    /// What the law does in the steady state beside what its equations show; by default nothing.
    fn steady_state(&self, _facts: &LoopFacts) -> SteadyStateFacts {
        SteadyStateFacts::default()
    }

    /// Parts of the packet law that these equations do not contain, a few words each. They are possible causes of
    /// differences between the two worlds.
    fn left_out(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What a queue law does with the packets that it selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdicts {
    /// It marks them. Flows that are not ECN-capable lose them instead.
    Marks,
    /// It drops them.
    Drops,
}

impl Verdicts {
    /// Marks if the queue law marks and a flow is ECN-capable, otherwise drops.
    #[must_use]
    pub const fn marks_if(ecn: bool) -> Self {
        if ecn { Self::Marks } else { Self::Drops }
    }
}

/// A queue as differential equations.
pub enum FluidQueue {
    /// The queue has no fluid model; a fluid scenario that uses it is rejected with its name.
    Missing,
    /// A finite buffer without a law; the engine models it.
    DropTail,
    /// A law whose only signal is a probability.
    Law {
        /// The law.
        law: Box<dyn LinkLaws>,
        /// What the probability applies to.
        verdicts: Verdicts,
    },
}
