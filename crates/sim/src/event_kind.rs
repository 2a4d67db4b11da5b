//! The kinds of events of the simulator.

use crate::event_queue::{EventTarget, TARGET_BITS};

/// What an event is for. The event target combines the kind with the index of a link, a loop or a flow.
#[derive(Clone, Copy)]
pub(crate) enum EventKind {
    /// A packet arrives at a link.
    Link = 0,
    /// A data packet arrives at the receiver of a loop.
    Data = 1,
    /// An acknowledgement arrives at the sender of a loop.
    Ack = 2,
    /// The deadline of a sender.
    SenderTimer = 3,
    /// The deadline of a receiver.
    ReceiverTimer = 4,
    /// The end of a control interval of a law at a link.
    LawTick = 5,
    /// The configured capacity of a link changes.
    CapacityChange = 6,
    /// A flow starts or stops, or its application produces data.
    Flow = 7,
    /// A transfer arrives.
    TransferArrival = 8,
    /// With a packet: it reaches the end of a link with random loss. Without: a link with lazy dequeueing must be called before
    /// packets that wait there now reach its end.
    LinkEvent = 9,
    /// A packet reaches the end of the last link of its route, and a driver brings it to the host of this loop.
    Exit = 10,
    /// A time at which an application acts.
    Application = 11,
}

/// Number of low bits of a target that hold the index; the 4 bits above hold the kind.
const INDEX_BITS: u32 = TARGET_BITS - 4;

/// Upper bound of the index in a target.
pub(crate) const INDEX_LIMIT: u32 = 1 << INDEX_BITS;

/// The event target of this kind and index.
#[inline]
pub(crate) const fn target(kind: EventKind, index: u32) -> EventTarget {
    (kind as u32) << INDEX_BITS | index
}

/// The number of the kind of a target.
#[inline]
pub(crate) const fn kind_of(target: EventTarget) -> u32 {
    target >> INDEX_BITS
}

/// The index in a target.
#[inline]
pub(crate) const fn index_of(target: EventTarget) -> u32 {
    target % INDEX_LIMIT
}
