//! The kinds of events of the simulator.

use crate::event_queue::{EventTarget, TARGETS};

/// What an event is for. The event target combines the kind with the index of a link, a loop or a flow.
#[derive(Clone, Copy)]
pub(crate) enum EventKind {
    /// A packet arrives at the end of a link.
    PacketArrival = 0,
    /// The deadline of a sender.
    SenderTimer = 1,
    /// The deadline of a receiver.
    ReceiverTimer = 2,
    /// The end of a control interval of a law at a link.
    LawTick = 3,
    /// The configured capacity of a link changes.
    CapacityChange = 4,
    /// A flow starts or stops, or its application produces data.
    Flow = 5,
    /// A transfer arrives.
    TransferArrival = 6,
    /// A service ends or a packet arrives at a link with laws, loss, variable delay or a scheduler.
    Link = 7,
}

/// Number of event kinds.
pub(crate) const EVENT_KINDS: u32 = 8;

/// Upper bound of the index in a target.
pub(crate) const INDEX_LIMIT: u32 = TARGETS / EVENT_KINDS;

/// The event target of this kind and index.
pub(crate) fn target(kind: EventKind, index: u32) -> EventTarget {
    kind as u32 * INDEX_LIMIT + index
}
