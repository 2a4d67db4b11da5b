//! The law at a link: a queue law (RED, CoDel) or a protocol's router.

use crate::{Context, Ecn, Gauge, Header};
use millpond_units::{Bytes, Rate, Span, Time};

/// What kind of packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Carries a flow's bytes.
    Data,
    /// Carries an acknowledgement.
    Ack,
}

/// What a link law may see and touch of a packet: the ECN bits and its own protocol's header, never the echo.
pub struct PacketView<'a> {
    /// Size on the wire.
    pub bytes: Bytes,
    /// Data or acknowledgement.
    pub kind: Kind,
    /// The ECN bits. A law that means "congestion" returns [`Verdict::Mark`]; only routers of ABC and VCP write here.
    pub ecn: &'a mut Ecn,
    /// The header: a law writes its own protocol's alone.
    pub header: &'a mut Header,
}

/// The queue as the law is told of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueView {
    /// The capacity that the link is told it has; may differ from the true one, and for a link driven by delivery
    /// opportunities it is their mean over a window.
    pub told_capacity: Rate,
    /// Waiting or in service, without the packet that arrives, with the packet that departs.
    pub bytes: Bytes,
    /// The same in packets.
    pub packets: u64,
    /// Of a departing packet, its whole stay; otherwise how long the packet at the head has been here: at arrivals
    /// told only to laws that want to know it ([`Hooks::sojourn`]).
    pub head_sojourn: Span,
}

/// What is to become of a packet. Drop beats Mark beats Keep when several laws judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It goes on.
    Keep,
    /// It goes on with a CE mark; one that is not ECN-capable is dropped by the element.
    Mark,
    /// It is dropped.
    Drop,
}

/// Which of its functions a law wants to be called for; the element skips the others.
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
}

/// A control law at a link. The element owns the buffer; the law returns a verdict.
pub trait Link: Send {
    /// Which functions it wants.
    fn hooks(&self) -> Hooks;

    /// A packet arrives (drop-tail has not judged it yet).
    fn arrive(&mut self, _cx: &mut Context<'_>, _packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        Verdict::Keep
    }

    /// A packet has come to the head and is about to be served. `Drop` lets the next one take its place.
    fn depart(&mut self, _cx: &mut Context<'_>, _packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        Verdict::Keep
    }

    /// A control interval ended (first called at time zero); returns when the next one ends.
    fn tick(&mut self, _cx: &mut Context<'_>, _queue: &QueueView) -> Option<Time> {
        None
    }

    /// How many headers of its own protocol it could not read so far, see [`crate::Unread`]; zero for a law that reads none.
    fn unread(&self) -> u64 {
        0
    }

    /// Reports internals by name and unit, for plots.
    fn observe(&self, _gauge: &mut dyn Gauge) {}
}

/// What a link law may know when it is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkFacts {
    /// The capacity told at the start.
    pub capacity: Rate,
    /// What the buffer holds; none if it is unlimited.
    pub buffer: Option<Bytes>,
    /// A full data packet of the flows that cross it.
    pub packet: Bytes,
}
