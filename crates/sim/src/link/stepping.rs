//! Links that decide which packet to serve, or whether it may go, only when its turn comes: one step per service.

use super::laws::{Fate, Moment};
use super::scheduler::{Scheduler, Waiting};
use super::{Entry, Link};
use crate::packets::{Packets, Parcel};
use millpond_units::Time;

/// What such a link keeps besides.
#[derive(Debug)]
pub(super) struct Stepping {
    waiting: Waiting,
    in_service: Option<InService>,
    /// The earliest time at which the link will be called.
    armed: Time,
}

/// The packet in service, and when it will arrive at the far end.
#[derive(Debug)]
struct InService {
    entry: Entry,
    arrives: Time,
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
    pub(super) fn head(&self) -> Option<&Parcel> {
        let in_service = self.in_service.as_ref().map(|served| &served.entry.parcel);
        in_service.or_else(|| self.waiting.head())
    }

    /// When the packet in service needs attention: at the end of its service if another waits for it, else only when
    /// it arrives.
    fn attention(&self) -> Time {
        match &self.in_service {
            Some(served) if self.waiting.head().is_some() => served.entry.due,
            Some(served) => served.arrives,
            None => Time::NEVER,
        }
    }
}

impl Link {
    /// A packet joins the queue; it has been counted.
    pub(super) fn enqueue(&mut self, now: Time, parcel: Parcel, packets: &mut Packets) -> Time {
        if let Some(stepping) = self.stepping_mut() {
            stepping.waiting.push(parcel, packets.get(parcel.packet).flow);
            if stepping.in_service.is_none() {
                self.start_service(now, packets);
            }
        }
        self.rearm()
    }

    /// The time has come for a service to end, or for a packet to arrive at the far end.
    pub(super) fn step(&mut self, now: Time, packets: &mut Packets) -> (Option<Parcel>, Time) {
        if let Some(stepping) = self.stepping_mut() {
            if now != stepping.armed {
                return (None, Time::NEVER);
            }
            stepping.armed = Time::NEVER;
        }
        self.finish_services(now, packets);
        let arrives = self.flight.get(0).is_some_and(|entry| entry.due <= now);
        let arrived = if arrives { self.flight.pop() } else { None };
        (arrived.and_then(|entry| self.survivor(entry.parcel, packets)), self.rearm())
    }

    /// Ends all services that are due.
    pub(super) fn finish_services(&mut self, now: Time, packets: &mut Packets) {
        while let Some(stepping) = self.stepping_mut()
            && let Some(served) = stepping.in_service.take_if(|served| served.entry.due <= now)
        {
            let left = served.entry.due;
            self.leave(&served.entry, left);
            let on_wire = Entry { due: served.arrives, ..served.entry };
            self.flight.insert_behind(on_wire, |other| other.due <= on_wire.due);
            self.start_service(left, packets);
        }
    }

    /// Puts the next packet into service that the laws let go.
    fn start_service(&mut self, now: Time, packets: &mut Packets) {
        while let Some(stepping) = self.stepping_mut()
            && let Some(parcel) = stepping.waiting.pop()
        {
            let entered = packets.get(parcel.packet).entered;
            let sojourn = now.since(entered);
            match self.judge(Moment::Departure, now, sojourn, packets.get_mut(parcel.packet)) {
                Fate::Dropped => {
                    self.rest.meter.losses.law += 1;
                    self.count_out(now, parcel.bytes);
                    packets.release(parcel.packet);
                    continue;
                }
                Fate::GoesMarked => self.rest.meter.losses.marks += 1,
                Fate::Goes => {}
            }
            let entry = self.serve(now, entered, parcel, packets);
            let arrives = self.arrival(entry.due);
            if let Some(stepping) = self.stepping_mut() {
                stepping.in_service = Some(InService { entry, arrives });
            }
            return;
        }
    }

    /// Makes room for an arriving packet if the scheduler knows how. Is there room now?
    pub(super) fn make_room(&mut self, now: Time, arriving: &Parcel, packets: &mut Packets) -> bool {
        let flow = packets.get(arriving.packet).flow;
        while !self.has_room(arriving.bytes) {
            let victim = self.stepping_mut().and_then(|s| s.waiting.evict_for(flow, arriving.bytes));
            let Some(victim) = victim else { return false };
            self.rest.meter.losses.buffer += 1;
            self.count_out(now, victim.bytes);
            packets.release(victim.packet);
        }
        true
    }

    /// When to be called next, if that is earlier than known.
    pub(super) fn rearm(&mut self) -> Time {
        let arrives = self.flight.get(0).map_or(Time::NEVER, |entry| entry.due);
        let Some(stepping) = self.stepping_mut() else { return Time::NEVER };
        let next = stepping.attention().min(arrives);
        if next >= stepping.armed {
            return Time::NEVER;
        }
        stepping.armed = next;
        next
    }
}
