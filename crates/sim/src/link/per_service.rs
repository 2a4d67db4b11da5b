//! Links with a scheduler, or whose packets may overtake: one step per service.

use super::scheduler::{Scheduler, Waiting};
use super::{Entry, Link, Order, Special};
use crate::packet_pool::{Packets, Parcel};
use millpond_units::Time;

/// What such a link keeps besides. The packet in service is in the flight already, where its time is that at which it
/// will arrive at the far end.
#[derive(Debug)]
pub(super) struct Stepping {
    waiting: Waiting,
    /// The packet in service, and when it leaves the server.
    in_service: Option<Entry>,
    /// The earliest time at which the link will be called.
    armed: Time,
}

impl Stepping {
    pub(super) fn new(scheduler: &Scheduler, weights: &[f64]) -> Self {
        Self { waiting: Waiting::new(scheduler, weights), in_service: None, armed: Time::NEVER }
    }

    /// From now on there is one more flow.
    pub(super) fn add_flow(&mut self, weight: f64) {
        self.waiting.add_flow(weight);
    }

    /// The packet in service.
    #[inline]
    pub(super) fn head(&self) -> Option<&Parcel> {
        let in_service = self.in_service.as_ref().map(|served| &served.parcel);
        in_service.or_else(|| self.waiting.head())
    }

    /// The end of the present service needs attention if another packet waits for it.
    #[inline]
    fn attention(&self) -> Time {
        match &self.in_service {
            Some(served) if self.waiting.head().is_some() => served.due,
            _ => Time::NEVER,
        }
    }
}

impl Link {
    /// See [`Link::arrive_special`].
    #[inline(never)]
    pub(super) fn enter_stepping(
        &mut self,
        special: &mut Special,
        now: Time,
        parcel: Parcel,
        packets: &mut Packets,
    ) -> Time {
        self.finish_services(special, now, packets);
        packets.get_mut(parcel.packet).entered = now;
        let head_sojourn = self.told_sojourn(special, now, packets);
        if self.admit(special, now, head_sojourn, &parcel, packets) {
            self.count_in(now, parcel.bytes);
            self.enqueue(special, now, parcel, packets);
        } else {
            packets.release(parcel.packet);
        }
        self.rearm(special)
    }

    /// A packet joins the queue; it has been counted.
    fn enqueue(&mut self, special: &mut Special, now: Time, parcel: Parcel, packets: &mut Packets) {
        let Order::Stepping(stepping) = &mut special.order else { return };
        if stepping.in_service.is_none() && stepping.waiting.passes_through() {
            self.begin_service(special, now, parcel, packets);
            return;
        }
        stepping.waiting.push(parcel, packets.get(parcel.packet).flow);
        if stepping.in_service.is_none() {
            self.next_service(special, now, packets);
        }
    }

    /// The time has come for a service to end, or for a packet to arrive at the far end.
    #[inline(never)]
    pub(super) fn step(
        &mut self,
        special: &mut Special,
        now: Time,
        packets: &mut Packets,
    ) -> (Option<Parcel>, Time) {
        if let Order::Stepping(stepping) = &mut special.order {
            if now != stepping.armed {
                return (None, Time::NEVER);
            }
            stepping.armed = Time::NEVER;
        }
        self.finish_services(special, now, packets);
        let arrives = self.flight.get(0).is_some_and(|entry| entry.due <= now);
        let arrived = if arrives { self.flight.pop() } else { None };
        let arrived = arrived.and_then(|entry| self.survivor(special, entry.parcel, packets));
        (arrived, self.rearm(special))
    }

    /// Ends all services that are due.
    #[inline]
    pub(super) fn finish_services(&mut self, special: &mut Special, now: Time, packets: &mut Packets) {
        while let Order::Stepping(stepping) = &mut special.order
            && let Some(served) = stepping.in_service.take_if(|served| served.due <= now)
        {
            self.leave(&served, served.due);
            if self.queued == 0 {
                return;
            }
            self.next_service(special, served.due, packets);
        }
    }

    /// Puts the next packet into service that the laws let go.
    #[inline(never)]
    fn next_service(&mut self, special: &mut Special, now: Time, packets: &mut Packets) {
        while let Order::Stepping(stepping) = &mut special.order
            && let Some(parcel) = stepping.waiting.pop()
        {
            if self.begin_service(special, now, parcel, packets) {
                return;
            }
        }
    }

    /// Puts a packet into service, if the laws let it go.
    #[inline]
    fn begin_service(
        &mut self,
        special: &mut Special,
        now: Time,
        parcel: Parcel,
        packets: &mut Packets,
    ) -> bool {
        let entered = packets.get(parcel.packet).entered;
        if !self.let_go(special, now, entered, &parcel, packets) {
            return false;
        }
        let entry = self.serve(now, entered, parcel, packets);
        let on_wire = Entry { due: special.arrival(entry.due, self.delay), ..entry };
        self.flight.insert_behind(on_wire, |other| other.due <= on_wire.due);
        if let Order::Stepping(stepping) = &mut special.order {
            stepping.in_service = Some(entry);
        }
        true
    }

    /// Makes room for an arriving packet if the scheduler knows how. Is there room now?
    #[cold]
    pub(super) fn make_room(
        &mut self,
        special: &mut Special,
        now: Time,
        arriving: &Parcel,
        packets: &mut Packets,
    ) -> bool {
        let flow = packets.get(arriving.packet).flow;
        while !self.has_room(arriving.bytes) {
            let Order::Stepping(stepping) = &mut special.order else { return false };
            let Some(victim) = stepping.waiting.evict_for(flow, arriving.bytes) else { return false };
            self.rest.meter.losses.buffer += 1;
            self.count_out(now, victim.bytes);
            packets.release(victim.packet);
        }
        true
    }

    /// When to be called next, if that is earlier than known.
    #[inline]
    pub(super) fn rearm(&mut self, special: &mut Special) -> Time {
        let arrives = self.flight.get(0).map_or(Time::NEVER, |entry| entry.due);
        let Order::Stepping(stepping) = &mut special.order else { return Time::NEVER };
        let next = stepping.attention().min(arrives);
        if next >= stepping.armed {
            return Time::NEVER;
        }
        stepping.armed = next;
        next
    }
}
