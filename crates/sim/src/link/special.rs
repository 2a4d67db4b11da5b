//! Links with laws, random loss, variable delay or a scheduler.

use super::laws::{AttachedLaws, LawHook, LawResult};
use super::{Link, ServiceMode, Special};
use crate::packet_pool::{PacketHandle, PacketPool};
use millpond_law::{QueueView, QueuedFlow};
use millpond_units::{Bytes, Span, Time};

/// What the event loop must do after a packet has arrived at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkAction {
    /// Nothing: the packet has been dropped.
    Dropped,
    /// Deliver the packet at this time.
    Deliver(WireArrival),
    /// Take all packets whose service has begun ([`Link::take_served`]), and call the link at this time.
    TakeServed(Time),
}

/// When a packet arrives at the end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireArrival {
    pub(crate) at: Time,
    /// True if random loss may remove it then ([`Link::unless_lost`]).
    pub(crate) may_be_lost: bool,
}

impl Special {
    /// When a packet whose service ends at `leaves` arrives at the end of the link. `delay`: the constant delay. Must be
    /// called once for each packet, in order.
    #[inline]
    pub(super) fn arrival(&mut self, leaves: Time, delay: Span) -> Time {
        match &mut self.channel {
            None => leaves + delay,
            Some(channel) => channel.arrival(leaves, delay),
        }
    }

    /// When a packet may be served that arrived at `entered` and is at the head of the queue at `free`.
    #[inline]
    pub(super) fn release(&mut self, entered: Time, free: Time, bytes: u32) -> Time {
        let released = self.laws.release(free, bytes);
        match &mut self.channel {
            None => released,
            Some(channel) => channel.release(entered, released),
        }
    }

    /// True if a packet may overtake another one.
    #[inline]
    pub(super) fn reorders(&self) -> bool {
        self.channel.as_ref().is_some_and(|channel| channel.reorders())
    }

    /// True if the packet that arrives next at the end of the link is lost, at random or after its last attempt.
    #[inline]
    fn loses_next(&mut self) -> bool {
        self.channel.as_mut().is_some_and(|channel| channel.loses_next())
    }

    #[inline]
    pub(super) fn wire_arrival(&self, at: Time) -> WireArrival {
        let may_be_lost = self.channel.as_ref().is_some_and(|channel| channel.may_lose());
        WireArrival { at, may_be_lost }
    }
}

impl Link {
    pub(super) fn laws(&self) -> Option<&AttachedLaws> {
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

    /// Adds a flow for its queues.
    pub(crate) fn add_flow(&mut self, flow: QueuedFlow) {
        if let Some(queues) = self.special.as_mut().and_then(|special| special.waiting.several()) {
            queues.add_flow(flow);
        }
    }

    /// Enqueues a packet at a link that is not plain.
    #[inline(always)]
    pub(crate) fn enqueue_special(
        &mut self,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> LinkAction {
        // Not a closure: the compiler would call it once per packet.
        let Some(mut special) = self.special.take() else { return LinkAction::Dropped };
        let action = match special.mode {
            ServiceMode::LazyDequeue => self.enqueue_lazy(&mut special, now, handle, packets),
            ServiceMode::Precomputed => self.enqueue_precomputed(&mut special, now, handle, packets),
        };
        self.special = Some(special);
        action
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
        if self.admit(special, now, head_sojourn, &handle, packets).is_none() {
            packets.release(handle.packet);
            return LinkAction::Dropped;
        }
        let leaves = match special.channel.as_ref().is_some_and(|channel| channel.delays_services()) {
            true => self.join_medium(special, now, handle, packets),
            false => self.join(now, handle, packets),
        };
        let arrives = special.arrival(leaves, self.delay);
        LinkAction::Deliver(special.wire_arrival(arrives))
    }

    /// As [`Link::join`], where the medium delays services.
    #[cold]
    fn join_medium(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Time {
        self.add_to_queue(now, handle.bytes);
        let released = special.release(now, now.max(self.service.free_at()), handle.bytes);
        let entry = self.serve(released, now, handle, packets);
        self.pipeline.push(entry);
        entry.due
    }

    /// Handles a call that [`LinkAction::TakeServed`] requested. Returns when the link must be called next; before, the event
    /// loop takes the packets whose service has begun.
    #[inline]
    pub(crate) fn on_call(&mut self, now: Time, packets: &mut PacketPool) -> Time {
        let next = self.with_special(|link, special| link.on_lazy_call(special, now, packets));
        next.unwrap_or(Time::NEVER)
    }

    /// A packet whose service has begun, and when it arrives at the end of the link.
    #[inline(always)]
    pub(crate) fn take_served(&mut self) -> Option<(WireArrival, PacketHandle)> {
        let special = self.special.as_ref()?;
        let served = self.pipeline.pop()?;
        Some((special.wire_arrival(served.due), served.handle))
    }

    /// A packet at the end of the link, unless random loss removes it.
    #[inline(always)]
    pub(crate) fn unless_lost(
        &mut self,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Option<PacketHandle> {
        if self.special.as_mut().is_some_and(|special| special.loses_next()) {
            self.cold.meter.losses.wire += 1;
            packets.release(handle.packet);
            return None;
        }
        Some(handle)
    }

    /// The number of the internal queue that an arriving packet joins, zero if there is one queue; none if laws or buffer do
    /// not accept it.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        special: &mut Special,
        now: Time,
        head_sojourn: Span,
        handle: &PacketHandle,
        packets: &mut PacketPool,
    ) -> Option<u32> {
        let (mut result, mut queue) = (LawResult::Forwarded, 0);
        if let Some(queues) = special.waiting.several() {
            queue = queues.classify(now, packets.get_mut(handle.packet));
            result = self.apply(special, LawHook::Arrival, now, head_sojourn, queue, handle, packets);
        } else if !special.laws.is_empty() {
            result = self.apply(special, LawHook::Arrival, now, head_sojourn, queue, handle, packets);
        }
        if result == LawResult::Dropped {
            self.cold.meter.losses.law += 1;
            return None;
        }
        if !self.has_room(handle.bytes) && !self.make_room(special, now, queue, handle, packets) {
            self.cold.meter.losses.buffer += 1;
            special.laws.refuse(handle.bytes);
            return None;
        }
        if result == LawResult::Marked {
            self.cold.meter.losses.marks += 1;
        }
        Some(queue)
    }

    /// Lets the law of several queues drop other packets in favour of the arriving one. Returns true if there is room now.
    #[cold]
    fn make_room(
        &mut self,
        special: &mut Special,
        now: Time,
        queue: u32,
        arriving: &PacketHandle,
        packets: &mut PacketPool,
    ) -> bool {
        while !self.has_room(arriving.bytes) {
            let Some(queues) = special.waiting.several() else { return false };
            let Some(victims) = queues.make_room(now, queue, arriving.bytes, packets) else { return false };
            let mut dropped = false;
            for _ in 0..victims.packets {
                let Some(victim) = queues.remove_victim(&victims) else { break };
                dropped = true;
                self.cold.meter.losses.buffer += 1;
                self.remove_from_queue(now, victim.bytes);
                packets.release(victim.packet);
            }
            if !dropped {
                return false;
            }
        }
        true
    }

    /// Evaluates the departure laws for a packet of an internal queue that arrived at `entered`. If they drop it, it is
    /// removed and the result is false.
    #[inline(always)]
    pub(super) fn passes_departure_laws(
        &mut self,
        special: &mut Special,
        now: Time,
        (queue, entered): (u32, Time),
        handle: &PacketHandle,
        packets: &mut PacketPool,
    ) -> bool {
        match self.apply(special, LawHook::Departure, now, now.since(entered), queue, handle, packets) {
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

    /// Evaluates the laws of one hook for a packet of an internal queue.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what a law reads")]
    fn apply(
        &mut self,
        special: &mut Special,
        hook: LawHook,
        now: Time,
        head_sojourn: Span,
        queue: u32,
        handle: &PacketHandle,
        packets: &mut PacketPool,
    ) -> LawResult {
        let view = self.view(now, head_sojourn);
        let packet = packets.get_mut(handle.packet);
        let result = special.laws.apply(hook, now, packet, &view);
        match special.waiting.several() {
            None => result,
            Some(queues) => result.max(queues.apply(hook, now, queue, packet, view)),
        }
    }

    #[inline]
    pub(super) fn view(&mut self, now: Time, head_sojourn: Span) -> QueueView {
        QueueView {
            configured_capacity: self.cold.configured_capacity.at(now),
            bytes: Bytes::new(self.queued_bytes),
            link_bytes: Bytes::new(self.queued_bytes),
            packets: self.queued.into(),
            head_sojourn,
        }
    }

    /// Brings the queue up to date.
    #[inline]
    pub(super) fn sync_special(&mut self, special: &mut Special, now: Time, packets: &mut PacketPool) {
        match special.mode {
            ServiceMode::Precomputed => self.depart_until(now),
            ServiceMode::LazyDequeue => self.complete_services(special, now, packets),
        }
    }

    /// The sojourn time of the head packet if a law needs it at arrivals, otherwise zero.
    #[inline]
    pub(super) fn arrival_sojourn(&self, special: &Special, now: Time, packets: &PacketPool) -> Span {
        if special.laws.need_sojourn() { self.head_sojourn(special, now, packets) } else { Span::ZERO }
    }

    /// Time since arrival of the packet in service.
    #[inline]
    pub(super) fn head_sojourn(&self, special: &Special, now: Time, packets: &PacketPool) -> Span {
        let head = match special.mode {
            ServiceMode::Precomputed => self.pipeline.get(0).map(|entry| &entry.handle),
            ServiceMode::LazyDequeue => self.in_lazy_service(special),
        };
        head.map_or(Span::ZERO, |handle| now.since(packets.get(handle.packet).entered))
    }
}
