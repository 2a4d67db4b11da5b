//! What a flow is to be: a chain of loops and something to send.

use crate::schedule::Schedule;
use crate::{AggregateId, LinkId};
use millpond_endpoint::{ReceiverConfig, SenderConfig};
use millpond_law::{Receiver, Sender};
use millpond_units::{Bytes, Span, Time};
use std::sync::Arc;

/// What the application does, between the flow's start and its stop.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// It always has more to send.
    Bulk,
    /// It sends this much and is then complete.
    Sized(Bytes),
    /// It produces a full packet's payload at a time, at this rate of payload over time: the first as soon as the
    /// rate is above zero.
    Produced(Arc<Schedule>),
}

/// One control loop of a flow.
pub struct LoopSpec {
    /// The sender's law.
    pub sender: Box<dyn Sender>,
    /// The receiver's law.
    pub receiver: Box<dyn Receiver>,
    /// The sending end; its credit is set by the relay that follows, if there is one.
    pub sending: SenderConfig,
    /// The receiving end.
    pub receiving: ReceiverConfig,
    /// The links that data cross, in order; at least one.
    pub forward: Vec<LinkId>,
    /// The links that acknowledgements cross, in order; at least one.
    pub backward: Vec<LinkId>,
    /// Further delay of data before the first link: a private line of infinite rate, not a packet-hop.
    pub extra_delay: Span,
}

/// A loop as its flow takes part in it.
pub enum Leg {
    /// Its own alone.
    Own(LoopSpec),
    /// One that it shares with others, never its first.
    Shared(AggregateId),
}

impl From<LoopSpec> for Leg {
    fn from(spec: LoopSpec) -> Self {
        Self::Own(spec)
    }
}

/// A loop that several flows share: one sender, one receiver, a send queue for each flow.
pub struct AggregateSpec {
    /// Names its random streams.
    pub name: String,
    /// The loop itself.
    pub shared: LoopSpec,
}

/// A flow.
pub struct FlowSpec {
    /// Names its random streams and appears in results.
    pub name: String,
    /// Its share under fair queueing, relative to others.
    pub weight: f64,
    /// Its loops, first to last.
    pub loops: Vec<Leg>,
    /// The send queues of the relays between them: one less than there are loops.
    pub relays: Vec<Bytes>,
    /// What it sends.
    pub workload: Workload,
    /// When it starts.
    pub start: Time,
    /// When it stops: what has not been sent by then is not sent. None: at its end or never.
    pub stop: Option<Time>,
}

/// Transfers that come one by one, each a flow of its own that begins anew and is gone when it is complete.
pub struct TransfersSpec {
    /// Transfer `n` is the flow `name/n`, after which its random streams are named.
    pub name: String,
    /// The share of each under fair queueing.
    pub weight: f64,
    /// Makes the loops of one transfer; those of all differ in nothing but the state of their laws.
    pub loops: Box<dyn Fn() -> Vec<LoopSpec> + Send>,
    /// The send queues of the relays between them.
    pub relays: Vec<Bytes>,
    /// When each arrives, ascending, and how much it has to send.
    pub arrivals: Box<dyn Iterator<Item = (Time, Bytes)> + Send>,
}
