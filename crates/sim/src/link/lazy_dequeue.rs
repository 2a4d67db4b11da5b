//! Links whose laws act on departures (AQM at dequeue) or have several internal queues, evaluated lazily.
//!
//! A packet is dequeued when the service before it ends. Scheduler and departure laws are evaluated with that time stamp, but not
//! before the state of the link is needed: when a packet arrives here or at the end of the link, when a control interval
//! of a law ends, or when statistics are read. In between nothing changes at this link, so that laws see no difference.
//! Such a link needs one event for the first packet on the wire, and none for a service.

use super::laws::LawResult;
use super::waiting::Waiting;
use super::{Link, Special};
use crate::packet_pool::{PacketHandle, PacketPool};
use millpond_units::{Span, Time};

impl Link {
    /// Enqueues a packet. Returns when the link must be called next, if that is earlier than known.
    #[inline(always)]
    pub(super) fn enqueue_lazy(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Time {
        self.complete_services(special, now, packets);
        if self.queued > 0 {
            self.join_queue(special, now, handle, packets);
            return Time::NEVER;
        }
        if let Waiting::Fifo(_) = special.waiting
            && self.has_room(handle.bytes)
        {
            return self.serve_at_once(special, now, handle, packets);
        }
        self.join_empty_queues(special, now, handle, packets)
    }

    /// Adds a packet to queues that are all empty and starts its service. Returns when the link must be called, if its
    /// pipeline was empty.
    #[inline]
    fn join_empty_queues(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Time {
        let on_wire = self.pipeline.len();
        if let Waiting::Several(queues) = &mut special.waiting {
            queues.end_service();
        }
        self.join_queue(special, now, handle, packets);
        self.start_next_service(special, now, packets);
        match self.pipeline.get(0) {
            Some(first) if on_wire == 0 => special.arrival(first.due, self.delay),
            _ => Time::NEVER,
        }
    }

    /// Serves a packet that arrives at an empty queue. Returns when the link must be called, if its pipeline was empty.
    #[inline(always)]
    fn serve_at_once(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Time {
        let queue = self.view(now, Span::ZERO);
        let packet = packets.get_mut(handle.packet);
        packet.entered = now;
        let results = special.laws.apply_both(now, packet, queue);
        if results != [LawResult::Forwarded; 2] && !self.count_results(results) {
            packets.release(handle.packet);
            return Time::NEVER;
        }
        let leaves = self.join_released(special, now, handle, packets);
        if self.pipeline.len() > 1 { Time::NEVER } else { special.arrival(leaves, self.delay) }
    }

    /// As [`Self::join`], for a packet that a law may hold back.
    #[inline(always)]
    fn join_released(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Time {
        let released = special.laws.release(now, handle.bytes);
        self.add_to_queue(now, handle.bytes);
        let entry = self.serve(released, now, handle, packets);
        self.pipeline.push(entry);
        entry.due
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

    /// Removes the first packet on the wire, which has arrived. Returns it, and the arrival time of the next one.
    #[inline(always)]
    pub(super) fn on_wire_arrival(
        &mut self,
        special: &mut Special,
        now: Time,
        packets: &mut PacketPool,
    ) -> (Option<PacketHandle>, Time) {
        self.complete_services(special, now, packets);
        let arrived = self.pipeline.pop().map(|entry| entry.handle);
        let next = self.pipeline.get(0).map(|next| next.due);
        (arrived, next.map_or(Time::NEVER, |due| special.arrival(due, self.delay)))
    }

    /// Completes all services that are due, and starts the next ones. If packets are queued, the last entry of the
    /// pipeline is the packet in service.
    #[inline(always)]
    pub(super) fn complete_services(&mut self, special: &mut Special, now: Time, packets: &mut PacketPool) {
        while self.queued > 0
            && let Some(&served) = self.pipeline.last()
            && served.due <= now
        {
            self.leave(&served, served.due);
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
                let released = special.laws.release(now, handle.bytes);
                let entry = self.serve(released, entered, handle, packets);
                return self.pipeline.push(entry);
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
                let entry = self.serve(now, entered, handle, packets);
                return self.pipeline.push(entry);
            }
        }
    }

    /// Time since arrival of the packet in service, which is the last entry of the pipeline.
    #[inline]
    pub(super) fn sojourn_in_service(&self, now: Time, packets: &PacketPool) -> Span {
        let in_service = if self.queued > 0 { self.pipeline.last() } else { None };
        in_service.map_or(Span::ZERO, |served| now.since(packets.get(served.handle.packet).entered))
    }
}
