//! Links whose packets may overtake each other: one event per service.

use super::waiting::Waiting;
use super::{Link, ServedPacket, ServiceMode, Special};
use crate::packet_pool::{PacketHandle, PacketPool};
use millpond_units::Time;

/// State of such a link. The packet in service is already in the pipeline, with its arrival time at the end of the link.
#[derive(Debug)]
pub(super) struct PerService {
    /// The packet in service, and when its service ends.
    in_service: Option<ServedPacket>,
    /// Time of the pending event of this link.
    armed: Time,
}

impl PerService {
    pub(super) fn new() -> Self {
        Self { in_service: None, armed: Time::NEVER }
    }

    /// The packet in service.
    #[inline]
    pub(super) fn in_service(&self) -> Option<&PacketHandle> {
        self.in_service.as_ref().map(|served| &served.handle)
    }

    /// End of the current service, if another packet waits for it.
    #[inline]
    fn next_service_end(&self, waiting: &Waiting) -> Time {
        match &self.in_service {
            Some(served) if !waiting.is_empty() => served.due,
            _ => Time::NEVER,
        }
    }
}

impl Link {
    /// Enqueues a packet. Returns when the link must be called next, if that is earlier than known.
    #[inline(never)]
    pub(super) fn enqueue_per_service(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Time {
        self.complete_due_services(special, now, packets);
        packets.get_mut(handle.packet).entered = now;
        let head_sojourn = self.arrival_sojourn(special, now, packets);
        if let Some(queue) = self.admit(special, now, head_sojourn, &handle, packets) {
            self.add_to_queue(now, handle.bytes);
            special.waiting.push(handle, queue);
            if let ServiceMode::PerService(PerService { in_service: None, .. }) = &special.mode {
                self.start_next(special, now, packets);
            }
        } else {
            packets.release(handle.packet);
        }
        self.set_event(special)
    }

    /// Handles the end of a service and the arrival of a packet at the end of the link.
    #[inline(never)]
    pub(super) fn step(
        &mut self,
        special: &mut Special,
        now: Time,
        packets: &mut PacketPool,
    ) -> (Option<PacketHandle>, Time) {
        if let ServiceMode::PerService(per_service) = &mut special.mode {
            if now != per_service.armed {
                return (None, Time::NEVER);
            }
            per_service.armed = Time::NEVER;
        }
        self.complete_due_services(special, now, packets);
        let arrives = self.pipeline.get(0).is_some_and(|entry| entry.due <= now);
        let arrived = if arrives { self.pipeline.pop() } else { None };
        let arrived = arrived.and_then(|entry| self.unless_lost(special, entry.handle, packets));
        (arrived, self.set_event(special))
    }

    /// Completes all services that are due.
    #[inline]
    pub(super) fn complete_due_services(
        &mut self,
        special: &mut Special,
        now: Time,
        packets: &mut PacketPool,
    ) {
        while let ServiceMode::PerService(per_service) = &mut special.mode
            && let Some(served) = per_service.in_service.take_if(|served| served.due <= now)
        {
            self.leave(&served, served.due);
            if let Waiting::Several(queues) = &mut special.waiting {
                queues.end_service();
            }
            if self.queued == 0 {
                return;
            }
            self.start_next(special, served.due, packets);
        }
    }

    /// Starts the service of the next packet that the departure laws do not drop.
    #[inline(never)]
    fn start_next(&mut self, special: &mut Special, now: Time, packets: &mut PacketPool) {
        while let Some((handle, queue)) = special.waiting.pop(now, packets) {
            if self.start_service(special, now, handle, queue, packets) {
                return;
            }
        }
    }

    /// Starts the service of a packet, unless the departure laws drop it.
    #[inline]
    fn start_service(
        &mut self,
        special: &mut Special,
        now: Time,
        handle: PacketHandle,
        queue: u32,
        packets: &mut PacketPool,
    ) -> bool {
        let entered = packets.get(handle.packet).entered;
        if !self.passes_departure_laws(special, now, (queue, entered), &handle, packets) {
            return false;
        }
        if let Waiting::Several(queues) = &mut special.waiting {
            queues.begin_service(now, queue, handle.bytes, packets);
        }
        let released = special.laws.release(now, handle.bytes);
        let entry = self.serve(released, entered, handle, packets);
        let on_wire = ServedPacket { due: special.arrival(entry.due, self.delay), ..entry };
        self.pipeline.insert_behind(on_wire, |other| other.due <= on_wire.due);
        if let ServiceMode::PerService(per_service) = &mut special.mode {
            per_service.in_service = Some(entry);
        }
        true
    }

    /// Time of the next event, if it is earlier than the pending one.
    #[inline]
    pub(super) fn set_event(&mut self, special: &mut Special) -> Time {
        let arrives = self.pipeline.get(0).map_or(Time::NEVER, |entry| entry.due);
        let ServiceMode::PerService(per_service) = &mut special.mode else { return Time::NEVER };
        let next = per_service.next_service_end(&special.waiting).min(arrives);
        if next >= per_service.armed {
            return Time::NEVER;
        }
        per_service.armed = next;
        next
    }
}
