//! Links with laws, random loss, a varying delay or a scheduler: the way of a packet where it is not plain.

use super::laws::{Fate, Laws, Moment};
use super::{Link, LossState, Order, Special};
use crate::packets::{Packet, Packets, Parcel};
use millpond_law::QueueView;
use millpond_units::{Bytes, Span, Time};

impl Special {
    /// When a packet that leaves the server at `leaves` arrives at the far end of a wire that usually delays it by
    /// `delay`; asked once for each, in order.
    #[inline]
    pub(super) fn arrival(&mut self, leaves: Time, delay: Span) -> Time {
        self.wire.as_mut().map_or(leaves + delay, |wire| wire.arrival(leaves))
    }
}

impl Link {
    pub(super) fn laws(&self) -> Option<&Laws> {
        Some(&self.special.as_ref()?.laws)
    }

    /// Lends what a plain link does not have, so that it and the link can both be changed.
    #[inline(always)]
    pub(super) fn lend_special<T>(&mut self, work: impl FnOnce(&mut Self, &mut Special) -> T) -> Option<T> {
        let mut special = self.special.take()?;
        let result = work(self, &mut special);
        self.special = Some(special);
        Some(result)
    }

    /// From now on there is one more flow, with this share under a fair scheduler.
    pub(crate) fn add_flow(&mut self, weight: f64) {
        if let Some(Order::Stepping(stepping)) = self.special.as_mut().map(|special| &mut special.order) {
            stepping.add_flow(weight);
        }
    }

    /// See [`Link::arrive`].
    pub(super) fn arrive_special(&mut self, now: Time, parcel: Parcel, packets: &mut Packets) -> Time {
        let next = self.lend_special(|link, special| match special.order {
            Order::Judged(_) => link.enter_judged(special, now, parcel, packets),
            Order::Known => link.enter_known(special, now, parcel, packets),
            Order::Stepping(_) => link.enter_stepping(special, now, parcel, packets),
        });
        next.unwrap_or(Time::NEVER)
    }

    #[inline(always)]
    fn enter_known(
        &mut self,
        special: &mut Special,
        now: Time,
        parcel: Parcel,
        packets: &mut Packets,
    ) -> Time {
        self.depart_until(now);
        packets.get_mut(parcel.packet).entered = now;
        let head_sojourn = self.head_sojourn(special, now, packets);
        if !self.admit(special, now, head_sojourn, &parcel, packets) {
            packets.release(parcel.packet);
            return Time::NEVER;
        }
        self.count_in(now, parcel.bytes);
        let entry = self.serve(now, now, parcel, packets);
        self.flight.push(entry);
        if self.flight.len() > 1 { Time::NEVER } else { special.arrival(entry.due, self.delay) }
    }

    /// The time returned before has come. Returns the packet that arrives at the far end, if one does, and when the
    /// link wants to be called next.
    #[inline]
    pub(crate) fn fire(&mut self, now: Time, packets: &mut Packets) -> (Option<Parcel>, Time) {
        let fired = self.lend_special(|link, special| {
            let arrived = match special.order {
                Order::Judged(_) => {
                    link.take_turns(special, now, packets);
                    link.flight.pop().map(|entry| entry.parcel)
                }
                Order::Known => link.take_arrived(),
                Order::Stepping(_) => return link.step(special, now, packets),
            };
            let next = link.flight.get(0).map(|next| next.due);
            let next = next.map_or(Time::NEVER, |due| special.arrival(due, link.delay));
            (arrived.and_then(|parcel| link.survivor(special, parcel, packets)), next)
        });
        fired.unwrap_or((None, Time::NEVER))
    }

    /// The packet at the far end of the wire, if loss does not strike it.
    #[inline(always)]
    pub(super) fn survivor(
        &mut self,
        special: &mut Special,
        parcel: Parcel,
        packets: &mut Packets,
    ) -> Option<Parcel> {
        if special.loss.as_mut().is_some_and(LossState::strikes) {
            self.rest.meter.losses.wire += 1;
            packets.release(parcel.packet);
            return None;
        }
        Some(parcel)
    }

    /// Do laws and buffer let an arriving packet in?
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        special: &mut Special,
        now: Time,
        head_sojourn: Span,
        parcel: &Parcel,
        packets: &mut Packets,
    ) -> bool {
        let mut fate = Fate::Goes;
        if !special.laws.is_empty() {
            fate = self.judge(special, Moment::Arrival, now, head_sojourn, packets.get_mut(parcel.packet));
        }
        if fate == Fate::Dropped {
            self.rest.meter.losses.law += 1;
            return false;
        }
        if !self.has_room(parcel.bytes) && !self.make_room(special, now, parcel, packets) {
            self.rest.meter.losses.buffer += 1;
            return false;
        }
        if fate == Fate::GoesMarked {
            self.rest.meter.losses.marks += 1;
        }
        true
    }

    /// Do laws let go a packet that arrived at `entered` and whose turn it is? If not, it is gone.
    #[inline(always)]
    pub(super) fn let_go(
        &mut self,
        special: &mut Special,
        now: Time,
        entered: Time,
        parcel: &Parcel,
        packets: &mut Packets,
    ) -> bool {
        let packet = packets.get_mut(parcel.packet);
        match self.judge(special, Moment::Departure, now, now.since(entered), packet) {
            Fate::Goes => {}
            Fate::GoesMarked => self.rest.meter.losses.marks += 1,
            Fate::Dropped => {
                self.rest.meter.losses.law += 1;
                self.count_out(now, parcel.bytes);
                packets.release(parcel.packet);
                return false;
            }
        }
        true
    }

    /// Asks the laws and does as they say.
    #[inline(always)]
    pub(super) fn judge(
        &mut self,
        special: &mut Special,
        moment: Moment,
        now: Time,
        head_sojourn: Span,
        packet: &mut Packet,
    ) -> Fate {
        let view = self.view(now, head_sojourn);
        special.laws.judge(moment, now, packet, &view)
    }

    #[inline]
    pub(super) fn view(&mut self, now: Time, head_sojourn: Span) -> QueueView {
        QueueView {
            told_capacity: self.rest.told.at(now),
            bytes: Bytes::new(self.queued_bytes),
            packets: self.queued as u64,
            head_sojourn,
        }
    }

    /// Brings the queue up to `now`.
    #[inline]
    pub(super) fn sync_special(&mut self, special: &mut Special, now: Time, packets: &mut Packets) {
        match special.order {
            Order::Known => self.depart_until(now),
            Order::Judged(_) => self.take_turns(special, now, packets),
            Order::Stepping(_) => self.finish_services(special, now, packets),
        }
    }

    /// How long the packet in service has been here.
    #[inline]
    pub(super) fn head_sojourn(&self, special: &Special, now: Time, packets: &Packets) -> Span {
        if self.queued == 0 {
            return Span::ZERO;
        }
        let head = match &special.order {
            Order::Known => self.flight.get(self.flight.len() - self.queued).map(|entry| &entry.parcel),
            Order::Judged(_) => return self.sojourn_in_service(now, packets),
            Order::Stepping(stepping) => stepping.head(),
        };
        head.map_or(Span::ZERO, |parcel| now.since(packets.get(parcel.packet).entered))
    }
}
