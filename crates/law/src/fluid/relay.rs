//! Feedback that relays give to the loops on their two sides.

use crate::Sharing;

/// Feedback from the downstream loop: the loop that begins at the relay at the end of this one. It is delayed by the
/// return path from the relay. If the flows of this loop continue on different loops, it aggregates all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DownstreamFeedback<T> {
    /// The rate that the downstream loop's law permits for all flows that share that loop, in bit/s. While the relay is
    /// empty, the loop sends at the lower rate at which data arrive there.
    pub rate: T,
    /// Data of this loop that wait in the relay, in bits.
    pub backlog: T,
    /// Round-trip time of the downstream loop with queues, in seconds.
    pub rtt: T,
    /// The same without queues, in seconds.
    pub base_rtt: f64,
    /// How incoming loops share the downstream loop.
    pub sharing: Sharing,
}

/// Feedback from the relay at the beginning of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpstreamFeedback<T> {
    /// Probability that a packet was marked in an earlier loop of its chain.
    pub marked: T,
    /// Sum of the weights of the flows that share this loop now; none if the loop is not shared.
    pub weight: Option<f64>,
}
