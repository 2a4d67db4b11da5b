//! Specification of flows: a chain of loops and a workload.

use crate::schedule::Schedule;
use crate::{AggregateId, LinkId};
use millpond_endpoint::{ReceiverConfig, RelayBuffer, SenderConfig};
use millpond_law::{Receiver, Sender};
use millpond_units::{Bytes, Span, Time};
use std::sync::Arc;

/// What the application sends between start and stop of the flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// Unlimited data.
    Bulk,
    /// This much data; then the flow is complete.
    Sized(Bytes),
    /// Full packets at this rate of payload over time. The first is produced as soon as the rate is positive.
    Produced(Arc<Schedule>),
    /// A full packet at the start and then in each such time.
    Periodic(Span),
    /// What an application supplies ([`ApplicationSpec`](crate::ApplicationSpec)).
    Requested,
}

/// Specification of one control loop.
pub struct LoopSpec {
    /// The law of the sender.
    pub sender: Box<dyn Sender>,
    /// The law of the receiver.
    pub receiver: Box<dyn Receiver>,
    /// Configuration of the sender; its credit is set by the relay that follows, if any.
    pub sender_config: SenderConfig,
    /// Configuration of the receiver.
    pub receiver_config: ReceiverConfig,
    /// The links of the forward path, in order; at least one.
    pub forward: Vec<LinkId>,
    /// The links of the backward path, in order; at least one.
    pub backward: Vec<LinkId>,
    /// Additional one-way delay before the first link of the forward path. It does not count as a packet hop.
    pub extra_delay: Span,
    /// Upper bound of the time in which the sender's host processes an acknowledgement or a timer.
    pub host_processing: Span,
}

/// One of the loops of a flow.
pub enum FlowLoop {
    /// A loop that only this flow uses.
    Own(Box<LoopSpec>),
    /// A loop that several flows share; never the first one of a flow.
    Shared(AggregateId),
}

impl From<LoopSpec> for FlowLoop {
    fn from(spec: LoopSpec) -> Self {
        Self::Own(Box::new(spec))
    }
}

/// A loop that several flows share: one sender, one receiver, one send queue for each flow.
pub struct AggregateSpec {
    /// Name; seeds its random streams.
    pub name: String,
    /// The loop.
    pub shared: LoopSpec,
}

/// Specification of a flow.
pub struct FlowSpec {
    /// Name; seeds its random streams and appears in results.
    pub name: String,
    /// Weight in fair queueing.
    pub weight: f64,
    /// Its loops, from source to destination.
    pub loops: Vec<FlowLoop>,
    /// Buffers of the relays between them: one fewer than loops.
    pub relays: Vec<RelayBuffer>,
    /// What it sends.
    pub workload: Workload,
    /// When it starts.
    pub start: Time,
    /// When it stops: data not sent by then is discarded. None: when the workload ends.
    pub stop: Option<Time>,
}

/// A source of transfers. Each transfer is a flow of its own that starts without state and is removed when complete.
pub struct TransfersSpec {
    /// Name; transfer `n` is the flow `name/n`, which seeds its random streams.
    pub name: String,
    /// Weight of each transfer in fair queueing.
    pub weight: f64,
    /// Creates the loops of one transfer. Those of all transfers differ only in the state of their laws.
    pub loops: Box<dyn Fn() -> Vec<LoopSpec> + Send>,
    /// Buffers of the relays between them.
    pub relays: Vec<RelayBuffer>,
    /// Arrival time and size of each transfer, ascending in time.
    pub arrivals: Box<dyn Iterator<Item = (Time, Bytes)> + Send>,
}
