//! Links whose laws judge departures, first in, first out.
//!
//! A packet's turn comes when the one before it has been served. It is judged as of that moment, but not before
//! somebody looks: a packet arrives here or at the far end, a law's interval ends, the run is looked at. In between
//! nothing changes at this link, so that laws cannot tell; and such a link needs no event but one for the first packet on
//! its wire.

use super::laws::Fate;
use super::{Link, Order, Special};
use crate::packet_pool::{Packets, Parcel};
use millpond_units::{Span, Time};

impl Link {
    /// See [`Link::arrive_special`].
    #[inline(always)]
    pub(super) fn enter_judged(
        &mut self,
        special: &mut Special,
        now: Time,
        parcel: Parcel,
        packets: &mut Packets,
    ) -> Time {
        self.take_turns(special, now, packets);
        if self.queued == 0 && self.has_room(parcel.bytes) {
            return self.pass(special, now, parcel, packets);
        }
        self.join_queue(special, now, parcel, packets);
        Time::NEVER
    }

    /// A packet arrives where none is queued: its turn comes at once.
    #[inline(always)]
    fn pass(&mut self, special: &mut Special, now: Time, parcel: Parcel, packets: &mut Packets) -> Time {
        let queue = self.view(now, Span::ZERO);
        let packet = packets.get_mut(parcel.packet);
        packet.entered = now;
        let fates = special.laws.judge_both(now, packet, queue);
        if fates != [Fate::Goes; 2] && !self.survives(fates) {
            packets.release(parcel.packet);
            return Time::NEVER;
        }
        let leaves = self.join(now, parcel, packets);
        if self.flight.len() > 1 { Time::NEVER } else { special.arrival(leaves, self.delay) }
    }

    /// Counts what became of a packet; is it still there?
    #[cold]
    fn survives(&mut self, fates: [Fate; 2]) -> bool {
        let losses = &mut self.rest.meter.losses;
        losses.marks += u64::from(fates[0] == Fate::GoesMarked) + u64::from(fates[1] == Fate::GoesMarked);
        let lost = fates[1] == Fate::Dropped;
        losses.law += u64::from(lost);
        !lost
    }

    /// A packet joins the queue, if laws and buffer let it in.
    #[inline(never)]
    fn join_queue(&mut self, special: &mut Special, now: Time, parcel: Parcel, packets: &mut Packets) {
        packets.get_mut(parcel.packet).entered = now;
        let head_sojourn = self.told_sojourn(special, now, packets);
        if !self.admit(special, now, head_sojourn, &parcel, packets) {
            return packets.release(parcel.packet);
        }
        self.count_in(now, parcel.bytes);
        if let Order::Judged(waiting) = &mut special.order {
            waiting.push(parcel);
        }
    }

    /// The first packet on the wire has arrived at the far end. Returns it, and when the next one will have.
    #[inline(always)]
    pub(super) fn fire_judged(
        &mut self,
        special: &mut Special,
        now: Time,
        packets: &mut Packets,
    ) -> (Option<Parcel>, Time) {
        self.take_turns(special, now, packets);
        let arrived = self.flight.pop().map(|entry| entry.parcel);
        let next = self.flight.get(0).map(|next| next.due);
        (arrived, next.map_or(Time::NEVER, |due| special.arrival(due, self.delay)))
    }

    /// Ends all services that are due, and lets those who wait take their turns. The packet in service, if any is
    /// queued, is the last in the flight.
    #[inline(always)]
    pub(super) fn take_turns(&mut self, special: &mut Special, now: Time, packets: &mut Packets) {
        while self.queued > 0
            && let Some(&served) = self.flight.last()
            && served.due <= now
        {
            self.leave(&served, served.due);
            if self.queued > 0 {
                self.next_turn(special, served.due, packets);
            }
        }
    }

    /// Puts the next packet into service that the laws let go.
    #[inline(never)]
    fn next_turn(&mut self, special: &mut Special, now: Time, packets: &mut Packets) {
        while let Order::Judged(waiting) = &mut special.order
            && let Some(parcel) = waiting.pop()
        {
            let entered = packets.get(parcel.packet).entered;
            if self.let_go(special, now, entered, &parcel, packets) {
                let entry = self.serve(now, entered, parcel, packets);
                return self.flight.push(entry);
            }
        }
    }

    /// How long the packet in service has been here, where the last in the flight is that.
    #[inline]
    pub(super) fn sojourn_in_service(&self, now: Time, packets: &Packets) -> Span {
        let in_service = if self.queued > 0 { self.flight.last() } else { None };
        in_service.map_or(Span::ZERO, |served| now.since(packets.get(served.parcel.packet).entered))
    }
}
