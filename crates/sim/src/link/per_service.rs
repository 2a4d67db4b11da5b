//! Links with a scheduler, or whose packets may overtake each other: one event per service.

use super::scheduler::{Scheduler, ServiceQueue};
use super::{Link, ServedPacket, ServiceMode, Special};
use crate::packet_pool::{PacketHandle, PacketPool};
use millpond_units::Time;

/// State of such a link. The packet in service is already in the pipeline, with its arrival time at the end of the link.
#[derive(Debug)]
pub(super) struct PerService {
    waiting: ServiceQueue,
    /// The packet in service, and when its service ends.
    in_service: Option<ServedPacket>,
    flow_in_service: u32,
    /// Time of the pending event of this link.
    armed: Time,
}

impl PerService {
    pub(super) fn new(scheduler: &Scheduler, weights: &[f64]) -> Self {
        Self {
            waiting: ServiceQueue::new(scheduler, weights),
            in_service: None,
            flow_in_service: 0,
            armed: Time::NEVER,
        }
    }

    /// Adds a flow.
    pub(super) fn add_flow(&mut self, weight: f64) {
        self.waiting.add_flow(weight);
    }

    /// Bytes and packets of a flow that wait or are in service.
    pub(super) fn flow_queue(&self, flow: u32) -> (u64, u64) {
        let (bytes, packets) = self.waiting.of_flow(flow);
        match &self.in_service {
            Some(served) if self.flow_in_service == flow => {
                (bytes + u64::from(served.handle.bytes), packets + 1)
            }
            _ => (bytes, packets),
        }
    }

    /// The packet in service, or the next one.
    #[inline]
    pub(super) fn head(&self) -> Option<&PacketHandle> {
        let in_service = self.in_service.as_ref().map(|served| &served.handle);
        in_service.or_else(|| self.waiting.head())
    }

    /// End of the current service, if another packet waits for it.
    #[inline]
    fn next_service_end(&self) -> Time {
        match &self.in_service {
            Some(served) if self.waiting.head().is_some() => served.due,
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
        if self.admit(special, now, head_sojourn, &handle, packets) {
            self.add_to_queue(now, handle.bytes);
            self.enqueue(special, now, handle, packets);
        } else {
            packets.release(handle.packet);
        }
        self.set_event(special)
    }

    /// Adds a packet that has been counted to the queue.
    fn enqueue(&mut self, special: &mut Special, now: Time, handle: PacketHandle, packets: &mut PacketPool) {
        let ServiceMode::PerService(per_service) = &mut special.mode else { return };
        if per_service.in_service.is_none() && per_service.waiting.is_pass_through() {
            self.start_service(special, now, handle, packets);
            return;
        }
        per_service.waiting.push(handle, packets.get(handle.packet).flow);
        if per_service.in_service.is_none() {
            self.start_next(special, now, packets);
        }
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
            if self.queued == 0 {
                return;
            }
            self.start_next(special, served.due, packets);
        }
    }

    /// Starts the service of the next packet that the departure laws do not drop.
    #[inline(never)]
    fn start_next(&mut self, special: &mut Special, now: Time, packets: &mut PacketPool) {
        while let ServiceMode::PerService(per_service) = &mut special.mode
            && let Some(handle) = per_service.waiting.pop()
        {
            if self.start_service(special, now, handle, packets) {
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
        packets: &mut PacketPool,
    ) -> bool {
        let (entered, flow) = (packets.get(handle.packet).entered, packets.get(handle.packet).flow);
        if !self.passes_departure_laws(special, now, entered, &handle, packets) {
            return false;
        }
        let entry = self.serve(now, entered, handle, packets);
        let on_wire = ServedPacket { due: special.arrival(entry.due, self.delay), ..entry };
        self.pipeline.insert_behind(on_wire, |other| other.due <= on_wire.due);
        if let ServiceMode::PerService(per_service) = &mut special.mode {
            (per_service.in_service, per_service.flow_in_service) = (Some(entry), flow);
        }
        true
    }

    /// Lets the scheduler drop other packets in favour of the arriving one. Returns true if there is room now.
    #[cold]
    pub(super) fn drop_for(
        &mut self,
        special: &mut Special,
        now: Time,
        arriving: &PacketHandle,
        packets: &mut PacketPool,
    ) -> bool {
        let flow = packets.get(arriving.packet).flow;
        while !self.has_room(arriving.bytes) {
            let ServiceMode::PerService(per_service) = &mut special.mode else { return false };
            let Some(victim) = per_service.waiting.drop_for(flow, arriving.bytes) else { return false };
            self.cold.meter.losses.buffer += 1;
            self.remove_from_queue(now, victim.bytes);
            packets.release(victim.packet);
        }
        true
    }

    /// Time of the next event, if it is earlier than the pending one.
    #[inline]
    pub(super) fn set_event(&mut self, special: &mut Special) -> Time {
        let arrives = self.pipeline.get(0).map_or(Time::NEVER, |entry| entry.due);
        let ServiceMode::PerService(per_service) = &mut special.mode else { return Time::NEVER };
        let next = per_service.next_service_end().min(arrives);
        if next >= per_service.armed {
            return Time::NEVER;
        }
        per_service.armed = next;
        next
    }
}
