//! What relays tell the loops on their two sides.

use crate::Sharing;

/// What the relay at the end of a loop tells of the loop behind it, one way back ago. Where flows that share a loop part
/// at its end, of all loops behind it together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextLoop<T> {
    /// What its law permits it to send, for all that share it, in bit/s: while the relay is empty it sends less, namely
    /// what arrives there.
    pub rate: T,
    /// What waits in the relay of what this loop has brought, in bits.
    pub backlog: T,
    /// Its round-trip time with queues, in seconds.
    pub rtt: T,
    /// How incoming loops share it.
    pub sharing: Sharing,
}

/// What the relay at the beginning of a loop hands on to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forwarded<T> {
    /// Probability that a packet bears a mark of an earlier loop.
    pub marked: T,
    /// The sum of the weights of the flows that share the loop now; none if it is one flow's own.
    pub weight: Option<f64>,
}
