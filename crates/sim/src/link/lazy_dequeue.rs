//! Links whose laws act on departures (AQM at dequeue) or have several internal queues, evaluated lazily.
//!
//! A packet is dequeued when the service before it ends. Scheduler and departure laws are evaluated with that time stamp, but not
//! before the state of the link is needed: when a packet arrives here, when a control interval of a law ends, when
//! statistics are read, or when a packet that waits now could reach the end of the link. In between nothing changes at
//! this link, so that laws see no difference. As soon as a service has begun, the event loop takes the packet with its
//! arrival time, so that most packets need one event per link.

use super::laws::LawResult;
use super::special::LinkAction;
use super::waiting::Waiting;
use super::{Link, ServedPacket, Special};
use crate::packet_pool::{PacketHandle, PacketPool};
use millpond_units::{Span, Time};

/// The server of such a link.
#[derive(Debug, Default)]
pub(super) struct LazyServer {
    /// The packet in service, if packets are queued, and when its service ends.
    in_service: ServedPacket,
    /// When it arrives at the end of the link.
    arrives: Time,
    /// True if the event loop will call the link.
    has_event: bool,
}

impl Link {
    /// Enqueues a packet.
    #[inline(always)]
    pub(super) fn enqueue_lazy(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> LinkAction {
        self.complete_services(special, now, packets);
        if self.queued > 0 {
            self.join_queue(special, now, handle, packets);
            return LinkAction::TakeServed(self.next_call(special));
        }
        if let Waiting::Fifo(_) = special.waiting
            && self.has_room(handle.bytes)
        {
            return self.serve_at_once(special, now, handle, packets);
        }
        self.join_empty_queues(special, now, handle, packets);
        LinkAction::TakeServed(Time::NEVER)
    }

    /// Adds a packet to queues that are all empty and starts its service.
    #[inline]
    fn join_empty_queues(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) {
        self.join_queue(special, now, handle, packets);
        self.start_next_service(special, now, packets);
    }

    /// Serves a packet that arrives at an empty queue. The event loop delivers it at once, unless packets before it still have to
    /// be taken.
    #[inline(always)]
    fn serve_at_once(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> LinkAction {
        let queue = self.view(now, Span::ZERO);
        let packet = packets.get_mut(handle.packet);
        packet.entered = now;
        let results = special.laws.apply_both(now, packet, queue);
        if results != [LawResult::Forwarded; 2] && !self.count_results(results) {
            packets.release(handle.packet);
            return LinkAction::TakeServed(Time::NEVER);
        }
        // A law may hold the packet back.
        let released = special.release(now, now, handle.bytes);
        self.add_to_queue(now, handle.bytes);
        let entry = self.serve(released, now, handle, packets);
        if self.pipeline.len() == 0 {
            let arrives = self.record_service(special, entry);
            return LinkAction::Deliver(special.wire_arrival(arrives));
        }
        self.begin_service(special, entry);
        LinkAction::TakeServed(Time::NEVER)
    }

    /// Records that the service of a packet has begun, and puts it on the wire with its arrival time at the end of the link.
    #[inline(always)]
    fn begin_service(&mut self, special: &mut Special, entry: ServedPacket) {
        let arrives = self.record_service(special, entry);
        self.pipeline.push(ServedPacket { due: arrives, ..entry });
    }

    /// Records that the service of a packet has begun. Returns when it arrives at the end of the link.
    #[inline(always)]
    fn record_service(&self, special: &mut Special, entry: ServedPacket) -> Time {
        let arrives = special.arrival(entry.due, self.delay);
        (special.server.in_service, special.server.arrives) = (entry, arrives);
        arrives
    }

    /// When the event loop must call the link, so that it takes each packet before it arrives at the end of the link, if no
    /// call is pending. Without reordering no packet arrives before the one that is in service now.
    #[inline]
    fn next_call(&self, special: &mut Special) -> Time {
        if special.waiting.is_empty() || special.server.has_event {
            return Time::NEVER;
        }
        special.server.has_event = true;
        if special.reorders() { special.server.in_service.due } else { special.server.arrives }
    }

    /// Handles a call of the event loop. Returns when it must call next.
    #[inline]
    pub(super) fn on_lazy_call(
        &mut self,
        special: &mut Special,
        now: Time,
        packets: &mut PacketPool,
    ) -> Time {
        special.server.has_event = false;
        self.complete_services(special, now, packets);
        self.next_call(special)
    }

    /// Counts marks and drops of a packet; returns false if it was dropped.
    #[cold]
    fn count_results(&mut self, results: [LawResult; 2]) -> bool {
        let losses = &mut self.cold.meter.losses;
        losses.marks +=
            u64::from(results[0] == LawResult::Marked) + u64::from(results[1] == LawResult::Marked);
        let lost = results[1] == LawResult::Dropped;
        losses.law += u64::from(lost);
        !lost
    }

    /// Adds a packet to the queue, if laws and buffer accept it.
    #[inline(never)]
    fn join_queue(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) {
        packets.get_mut(handle.packet).entered = now;
        let head_sojourn = self.arrival_sojourn(special, now, packets);
        let Some(queue) = self.admit(special, now, head_sojourn, &handle, packets) else {
            return packets.release(handle.packet);
        };
        self.add_to_queue(now, handle.bytes);
        special.waiting.push(handle, queue);
    }

    /// Completes all services that are due, and starts the next ones.
    #[inline(always)]
    pub(super) fn complete_services(&mut self, special: &mut Special, now: Time, packets: &mut PacketPool) {
        while self.queued > 0 && special.server.in_service.due <= now {
            let served = special.server.in_service;
            self.leave(&served, served.due);
            if let Waiting::Several(queues) = &mut special.waiting {
                queues.end_service();
            }
            if self.queued > 0 {
                self.start_next_service(special, served.due, packets);
            }
        }
    }

    /// Starts the service of the next packet that the departure laws do not drop.
    #[inline(never)]
    fn start_next_service(&mut self, special: &mut Special, now: Time, packets: &mut PacketPool) {
        while let Waiting::Fifo(ring) = &mut special.waiting {
            let Some(handle) = ring.pop() else { return };
            let entered = packets.get(handle.packet).entered;
            if self.passes_departure_laws(special, now, (0, entered), &handle, packets) {
                let released = special.release(entered, now, handle.bytes);
                let entry = self.serve(released, entered, handle, packets);
                return self.begin_service(special, entry);
            }
        }
        self.start_next_of_several(special, now, packets);
    }

    /// The same where a law has several internal queues.
    #[inline(never)]
    fn start_next_of_several(&mut self, special: &mut Special, now: Time, packets: &mut PacketPool) {
        while let Some((handle, queue)) = special.waiting.pop(now, packets) {
            let entered = packets.get(handle.packet).entered;
            if self.passes_departure_laws(special, now, (queue, entered), &handle, packets) {
                if let Waiting::Several(queues) = &mut special.waiting {
                    queues.begin_service(now, queue, handle.bytes, packets);
                }
                let released = special.release(entered, now, handle.bytes);
                let entry = self.serve(released, entered, handle, packets);
                return self.begin_service(special, entry);
            }
        }
    }

    /// The packet in service.
    #[inline]
    pub(super) fn in_lazy_service<'a>(&self, special: &'a Special) -> Option<&'a PacketHandle> {
        (self.queued > 0).then_some(&special.server.in_service.handle)
    }
}
