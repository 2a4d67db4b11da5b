//! Queue laws at links where explicit feedback is invisible: in a tunnel, or where it is stripped.

use millpond_law::{
    Context, Ecn, Gauge, Header, Hooks, Link, MultiQueue, PacketView, QueueLaw, QueueView, QueuedFlow,
    Queues, Scheduler, Verdict, Victims,
};
use millpond_units::{Bytes, Rate, Time};

/// The law of a queue in a tunnel: it sees packets without header that are not ECN-capable, so that a mark becomes a drop.
pub(crate) fn hidden_from(queue: QueueLaw) -> QueueLaw {
    match queue {
        QueueLaw::DropTail => QueueLaw::DropTail,
        QueueLaw::Single(law) => QueueLaw::single(Concealed { law, feedback: Feedback::Hidden }),
        QueueLaw::Multi(law) => QueueLaw::multi(Concealed { law, feedback: Feedback::Hidden }),
    }
}

/// The law of a queue whose router removes header and ECN field of each arriving packet.
pub(crate) fn after_stripping(queue: QueueLaw) -> QueueLaw {
    match queue {
        QueueLaw::DropTail => after_stripping(QueueLaw::single(KeepAll)),
        QueueLaw::Single(law) => QueueLaw::single(Concealed { law, feedback: Feedback::Stripped }),
        QueueLaw::Multi(law) => QueueLaw::multi(Concealed { law, feedback: Feedback::Stripped }),
    }
}

/// What becomes of the explicit feedback of a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feedback {
    /// The law does not see it; it is in the packet behind the link.
    Hidden,
    /// It is removed.
    Stripped,
}

impl Feedback {
    /// Applies a law to a packet as it sees it.
    fn apply(self, packet: &mut PacketView<'_>, law: impl FnOnce(&mut PacketView<'_>) -> Verdict) -> Verdict {
        if self == Self::Stripped {
            (*packet.ecn, *packet.header) = (Ecn::NotCapable, Header::NONE);
        }
        let (mut ecn, mut header) = (Ecn::NotCapable, Header::NONE);
        let mut seen = PacketView {
            bytes: packet.bytes,
            kind: packet.kind,
            flow: packet.flow,
            ecn: &mut ecn,
            header: &mut header,
        };
        match law(&mut seen) {
            // RFC 3168, section 5: packets that are not ECN-capable are dropped instead.
            Verdict::Mark => Verdict::Drop,
            other => other,
        }
    }
}

/// Drop-tail as a law.
struct KeepAll;

impl Link for KeepAll {
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    fn for_flow(&self) -> Option<Box<dyn Link>> {
        Some(Box::new(Self))
    }
}

/// A law that sees no explicit feedback.
struct Concealed<L: ?Sized> {
    feedback: Feedback,
    law: Box<L>,
}

impl<L: ?Sized> Concealed<L> {
    /// The functions that the element calls of a law with these. Feedback is stripped at arrivals.
    fn hooks_of(&self, law: Hooks) -> Hooks {
        Hooks { arrive: law.arrive || self.feedback == Feedback::Stripped, ..law }
    }
}

impl Link for Concealed<dyn Link> {
    fn hooks(&self) -> Hooks {
        self.hooks_of(self.law.hooks())
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let arrives = self.law.hooks().arrive;
        let law = |seen: &mut PacketView<'_>| match arrives {
            true => self.law.arrive(cx, seen, queue),
            false => Verdict::Keep,
        };
        self.feedback.apply(packet, law)
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.feedback.apply(packet, |seen| self.law.depart(cx, seen, queue))
    }

    fn release(&mut self, now: Time, bytes: Bytes) -> Time {
        self.law.release(now, bytes)
    }

    fn refuse(&mut self, bytes: Bytes) {
        self.law.refuse(bytes);
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        self.law.tick(cx, queue)
    }

    fn for_flow(&self) -> Option<Box<dyn Link>> {
        let law = self.law.for_flow()?;
        Some(Box::new(Concealed { feedback: self.feedback, law }))
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        self.law.observe(gauge);
    }
}

impl MultiQueue for Concealed<dyn MultiQueue> {
    fn hooks(&self) -> Hooks {
        self.hooks_of(self.law.hooks())
    }

    fn has_flow_queues(&self) -> bool {
        self.law.has_flow_queues()
    }

    fn add_flow(&mut self, flow: QueuedFlow) {
        self.law.add_flow(flow);
    }

    fn classify(&mut self, cx: &mut Context<'_>, packet: &PacketView<'_>, flow: u32) -> u32 {
        let (mut ecn, mut header) = (Ecn::NotCapable, Header::NONE);
        let seen = PacketView {
            bytes: packet.bytes,
            kind: packet.kind,
            flow: packet.flow,
            ecn: &mut ecn,
            header: &mut header,
        };
        self.law.classify(cx, &seen, flow)
    }

    fn arrive(
        &mut self,
        cx: &mut Context<'_>,
        queue: u32,
        packet: &mut PacketView<'_>,
        view: &QueueView,
    ) -> Verdict {
        let arrives = self.law.hooks().arrive;
        let law = |seen: &mut PacketView<'_>| match arrives {
            true => self.law.arrive(cx, queue, seen, view),
            false => Verdict::Keep,
        };
        self.feedback.apply(packet, law)
    }

    fn depart(
        &mut self,
        cx: &mut Context<'_>,
        queue: u32,
        packet: &mut PacketView<'_>,
        view: &QueueView,
    ) -> Verdict {
        self.feedback.apply(packet, |seen| self.law.depart(cx, queue, seen, view))
    }

    fn tick(&mut self, cx: &mut Context<'_>, capacity: Rate, queues: &dyn Queues) -> Option<Time> {
        self.law.tick(cx, capacity, queues)
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        self.law.scheduler()
    }

    fn make_room(&mut self, queue: u32, bytes: Bytes, queues: &dyn Queues) -> Option<Victims> {
        self.law.make_room(queue, bytes, queues)
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        self.law.observe(gauge);
    }
}
