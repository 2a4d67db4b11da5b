//! The law at a link: a queue law (RED, CoDel) or a protocol's router.

use crate::{Context, Ecn, Gauge, Header};
use alloc::boxed::Box;
use millpond_units::{Bytes, Rate, Span, Time};

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// Carries data of a flow.
    Data,
    /// Carries an acknowledgement.
    Ack,
}

/// The fields of a packet that a link law can access: the ECN bits and the header of its own protocol, never the echo.
pub struct PacketView<'a> {
    /// Size on the wire.
    pub bytes: Bytes,
    /// Data or acknowledgement.
    pub kind: PacketKind,
    /// A number that all packets of a flow have at this link and no other flow has; zero unless a law of the link requests
    /// it ([`Hooks::flow`]). It stands for addresses and ports.
    pub flow: u32,
    /// The ECN bits. A law that signals congestion returns [`Verdict::Mark`]; only routers of ABC and VCP write here.
    pub ecn: &'a mut Ecn,
    /// The header. A law writes only headers of its own protocol.
    pub header: &'a mut Header,
}

/// The state of a queue that its laws can read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueView {
    /// The configured capacity, which may differ from the true one. For a link driven by delivery opportunities it is
    /// their mean over a window.
    pub configured_capacity: Rate,
    /// Bytes waiting or in service, without an arriving packet, with a departing one.
    pub bytes: Bytes,
    /// The same of all queues of the link; `bytes` if this is the only one.
    pub link_bytes: Bytes,
    /// `bytes` in packets.
    pub packets: u64,
    /// At departures, the sojourn time of the departing packet; otherwise that of the packet at the head so far. At
    /// arrivals it is computed only for laws that request it ([`Hooks::sojourn`]).
    pub head_sojourn: Span,
}

/// The decision of a law about a packet. Of several laws, Drop overrides Mark, and Mark overrides Keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Forward it.
    Keep,
    /// Forward it with a CE mark; the element drops it if it is not ECN-capable.
    Mark,
    /// Drop it.
    Drop,
}

/// The functions of a law that the element calls; it skips the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// [`Link::arrive`].
    pub arrive: bool,
    /// [`Link::depart`].
    pub depart: bool,
    /// [`Link::tick`].
    pub tick: bool,
    /// [`QueueView::head_sojourn`] also at arrivals.
    pub sojourn: bool,
    /// [`Link::release`].
    pub release: bool,
    /// [`PacketView::flow`].
    pub flow: bool,
}

/// A control law at a link. The element owns the buffer; the law returns a verdict.
pub trait Link: Send {
    /// The functions that the element calls.
    fn hooks(&self) -> Hooks;

    /// A packet arrives. The limit of the buffer is applied afterwards.
    fn arrive(&mut self, _cx: &mut Context<'_>, _packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        Verdict::Keep
    }

    /// A packet at the head is about to be served. After `Drop` the next packet takes its place.
    fn depart(&mut self, _cx: &mut Context<'_>, _packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        Verdict::Keep
    }

    /// The time from which on the packet at the head, of `bytes`, may be served: `now` or later. Called once for each
    /// packet, in order, after [`Self::depart`]. A shaper holds packets back with it.
    fn release(&mut self, now: Time, _bytes: Bytes) -> Time {
        now
    }

    /// A packet of `bytes` is lost, since the buffer has no room for it. Where laws have several queues, a packet that another
    /// one displaces is not reported.
    fn refuse(&mut self, _bytes: Bytes) {}

    /// A control interval ended (first called at time zero); returns when the next one ends.
    fn tick(&mut self, _cx: &mut Context<'_>, _queue: &QueueView) -> Option<Time> {
        None
    }

    /// A law with the same settings for one of several queues of a link, such as that of one flow under fair queueing,
    /// before its first packet. It receives that queue as [`QueueView`], with the capacity of the whole link. None, the
    /// default: the law is one for the queue of the whole link, and scenarios with a queue for each flow are refused.
    fn for_flow(&self) -> Option<Box<dyn Link>> {
        None
    }

    /// Number of unreadable headers of its own protocol so far, see [`crate::Unread`]; zero for a law that reads none.
    fn unread(&self) -> u64 {
        0
    }

    /// Reports internal quantities with name and unit, for plots.
    fn observe(&self, _gauge: &mut dyn Gauge) {}
}

/// The properties of a link that its laws can read at construction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkFacts {
    /// The configured capacity at the start.
    pub capacity: Rate,
    /// Whether the configured capacity changes during the run.
    pub capacity_changes: bool,
    /// Size of the buffer; none if it is unlimited.
    pub buffer: Option<Bytes>,
    /// Size of a full data packet of the flows that cross the link.
    pub packet: Bytes,
    /// Whether each flow, or each hash value of flows, has a queue of its own, so that traffic of others does not wait in
    /// the queue of a flow.
    pub has_flow_queues: bool,
    /// Whether the packets of at least one flow that crosses the link are ECN-capable.
    pub carries_ecn: bool,
}

impl LinkFacts {
    /// A link of constant capacity with one queue for all flows, some of them ECN-capable.
    pub const fn fifo(capacity: Rate, buffer: Option<Bytes>, packet: Bytes) -> Self {
        Self { capacity, capacity_changes: false, buffer, packet, has_flow_queues: false, carries_ecn: true }
    }
}
