//! Links with laws, random loss, variable delay or a scheduler.

use super::flow_laws::FlowLaws;
use super::laws::{LawHook, LawResult, Laws};
use super::{Link, LossState, ServiceMode, Special};
use crate::packet_pool::{Packet, PacketHandle, PacketPool};
use millpond_law::QueueView;
use millpond_units::{Bytes, Span, Time};

/// What the event loop must do after a packet has arrived at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkAction {
    /// Deliver it at the end of the link at this time.
    Deliver(Time),
    /// Call the link at this time; it delivers the packet unless random loss removes it.
    DeliverUnlessLost(Time),
    /// Call the link at this time.
    Wake(Time),
}

impl LinkAction {
    pub(super) const NOTHING: Self = Self::Wake(Time::NEVER);
}

/// The queue of the flow of a packet, in place of that of the whole link.
fn flow_view(mode: &ServiceMode, hook: LawHook, packet: &Packet, link: QueueView) -> QueueView {
    let ServiceMode::PerService(per_service) = mode else { return link };
    let (mut bytes, mut packets) = per_service.flow_queue(packet.flow);
    if hook == LawHook::Departure {
        (bytes, packets) = (bytes + u64::from(packet.frame.bytes()), packets + 1);
    }
    QueueView { bytes: Bytes::new(bytes), packets, ..link }
}

impl Special {
    /// When a packet whose service ends at `leaves` arrives at the end of the link. `delay`: the constant delay. Must be
    /// called once for each packet, in order.
    #[inline]
    pub(super) fn arrival(&mut self, leaves: Time, delay: Span) -> Time {
        self.wire.as_mut().map_or(leaves + delay, |wire| wire.arrival(leaves))
    }
}

impl Link {
    pub(super) fn laws(&self) -> Option<&Laws> {
        Some(&self.special.as_ref()?.laws)
    }

    /// Moves the box of special parts out during `work`, so that they and the link can both be changed.
    #[inline(always)]
    pub(super) fn with_special<T>(&mut self, work: impl FnOnce(&mut Self, &mut Special) -> T) -> Option<T> {
        let mut special = self.special.take()?;
        let result = work(self, &mut special);
        self.special = Some(special);
        Some(result)
    }

    /// Adds a flow with a weight for fair queueing.
    pub(crate) fn add_flow(&mut self, weight: f64) {
        if let Some(ServiceMode::PerService(per_service)) =
            self.special.as_mut().map(|special| &mut special.mode)
        {
            per_service.add_flow(weight);
        }
    }

    /// Enqueues a packet at a link that is not plain.
    pub(crate) fn enqueue_special(
        &mut self,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> LinkAction {
        let next = self.with_special(|link, special| match special.mode {
            ServiceMode::LazyDequeue(_) => LinkAction::Wake(link.enqueue_lazy(special, now, handle, packets)),
            ServiceMode::Precomputed => link.enqueue_precomputed(special, now, handle, packets),
            ServiceMode::PerService(_) => {
                LinkAction::Wake(link.enqueue_per_service(special, now, handle, packets))
            }
        });
        next.unwrap_or(LinkAction::NOTHING)
    }

    #[inline(always)]
    fn enqueue_precomputed(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> LinkAction {
        self.depart_until(now);
        packets.get_mut(handle.packet).entered = now;
        let head_sojourn = self.arrival_sojourn(special, now, packets);
        if !self.admit(special, now, head_sojourn, &handle, packets) {
            packets.release(handle.packet);
            return LinkAction::NOTHING;
        }
        let leaves = self.join(now, handle, packets);
        let arrives = special.arrival(leaves, self.delay);
        if special.loss.is_some() {
            LinkAction::DeliverUnlessLost(arrives)
        } else {
            LinkAction::Deliver(arrives)
        }
    }

    /// Handles an event requested by [`LinkAction`]. Returns the packet that arrives at the end of the link, if any, and
    /// when the link must be called next.
    #[inline]
    pub(crate) fn on_event(
        &mut self,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> (Option<PacketHandle>, Time) {
        let handled = self.with_special(|link, special| {
            let (arrived, next) = match special.mode {
                ServiceMode::LazyDequeue(_) => link.on_wire_arrival(special, now, packets),
                ServiceMode::Precomputed => (Some(handle), Time::NEVER),
                ServiceMode::PerService(_) => return link.step(special, now, packets),
            };
            (arrived.and_then(|handle| link.unless_lost(special, handle, packets)), next)
        });
        handled.unwrap_or((None, Time::NEVER))
    }

    /// A packet at the end of the link, unless random loss removes it.
    #[inline(always)]
    pub(super) fn unless_lost(
        &mut self,
        special: &mut Special,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Option<PacketHandle> {
        if special.loss.as_mut().is_some_and(LossState::is_lost) {
            self.cold.meter.losses.wire += 1;
            packets.release(handle.packet);
            return None;
        }
        Some(handle)
    }

    /// True if laws and buffer accept an arriving packet.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        special: &mut Special,
        now: Time,
        head_sojourn: Span,
        handle: &PacketHandle,
        packets: &mut PacketPool,
    ) -> bool {
        let mut result = LawResult::Forwarded;
        if !special.laws.is_empty() || special.flow_laws.is_some() {
            result = self.apply(special, LawHook::Arrival, now, head_sojourn, packets.get_mut(handle.packet));
        }
        if result == LawResult::Dropped {
            self.cold.meter.losses.law += 1;
            return false;
        }
        if !self.has_room(handle.bytes) && !self.drop_for(special, now, handle, packets) {
            self.cold.meter.losses.buffer += 1;
            return false;
        }
        if result == LawResult::Marked {
            self.cold.meter.losses.marks += 1;
        }
        true
    }

    /// Evaluates the departure laws for a packet that arrived at `entered`. If they drop it, it is removed and the result
    /// is false.
    #[inline(always)]
    pub(super) fn passes_departure_laws(
        &mut self,
        special: &mut Special,
        now: Time,
        entered: Time,
        handle: &PacketHandle,
        packets: &mut PacketPool,
    ) -> bool {
        let packet = packets.get_mut(handle.packet);
        match self.apply(special, LawHook::Departure, now, now.since(entered), packet) {
            LawResult::Forwarded => {}
            LawResult::Marked => self.cold.meter.losses.marks += 1,
            LawResult::Dropped => {
                self.cold.meter.losses.law += 1;
                self.remove_from_queue(now, handle.bytes);
                packets.release(handle.packet);
                return false;
            }
        }
        true
    }

    /// Evaluates the laws of one hook.
    #[inline(always)]
    pub(super) fn apply(
        &mut self,
        special: &mut Special,
        hook: LawHook,
        now: Time,
        head_sojourn: Span,
        packet: &mut Packet,
    ) -> LawResult {
        let view = self.view(now, head_sojourn);
        let result = special.laws.apply(hook, now, packet, &view);
        match &mut special.flow_laws {
            None => result,
            Some(laws) => {
                let view = flow_view(&special.mode, hook, packet, view);
                result.max(laws.apply(hook, now, packet, &view))
            }
        }
    }

    #[inline]
    pub(super) fn view(&mut self, now: Time, head_sojourn: Span) -> QueueView {
        QueueView {
            configured_capacity: self.cold.configured_capacity.at(now),
            bytes: Bytes::new(self.queued_bytes),
            packets: self.queued.into(),
            head_sojourn,
        }
    }

    /// Brings the queue up to date.
    #[inline]
    pub(super) fn sync_special(&mut self, special: &mut Special, now: Time, packets: &mut PacketPool) {
        match special.mode {
            ServiceMode::Precomputed => self.depart_until(now),
            ServiceMode::LazyDequeue(_) => self.complete_services(special, now, packets),
            ServiceMode::PerService(_) => self.complete_due_services(special, now, packets),
        }
    }

    /// The sojourn time of the head packet if a law needs it at arrivals, otherwise zero.
    #[inline]
    pub(super) fn arrival_sojourn(&self, special: &Special, now: Time, packets: &PacketPool) -> Span {
        let is_needed =
            special.laws.need_sojourn() || special.flow_laws.as_ref().is_some_and(FlowLaws::need_sojourn);
        if is_needed { self.head_sojourn(special, now, packets) } else { Span::ZERO }
    }

    /// Time since arrival of the packet in service.
    #[inline]
    pub(super) fn head_sojourn(&self, special: &Special, now: Time, packets: &PacketPool) -> Span {
        if self.queued == 0 {
            return Span::ZERO;
        }
        let head = match &special.mode {
            ServiceMode::Precomputed => self.pipeline.get(0).map(|entry| &entry.handle),
            ServiceMode::LazyDequeue(_) => return self.sojourn_in_service(now, packets),
            ServiceMode::PerService(per_service) => per_service.head(),
        };
        head.map_or(Span::ZERO, |handle| now.since(packets.get(handle.packet).entered))
    }
}
