//! Links with laws, random loss, a varying delay or a scheduler: the way of a packet where it is not plain.

use super::laws::{Fate, Laws, Moment};
use super::{Link, LossState, Order, Special};
use crate::packet_pool::{Packet, Packets, Parcel};
use millpond_law::QueueView;
use millpond_units::{Bytes, Span, Time};

/// What follows from a packet's arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// It comes out at the far end.
    ComesOut(Time),
    /// The same, if loss does not strike it.
    Survives(Time),
    /// The link wants to be called.
    Calls(Time),
}

impl Next {
    const NOTHING: Self = Self::Calls(Time::NEVER);
}

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

    /// A packet arrives at a link that is not plain.
    pub(crate) fn arrive_special(&mut self, now: Time, parcel: Parcel, packets: &mut Packets) -> Next {
        let next = self.lend_special(|link, special| match special.order {
            Order::Judged(_) => Next::Calls(link.enter_judged(special, now, parcel, packets)),
            Order::Known => link.enter_known(special, now, parcel, packets),
            Order::Stepping(_) => Next::Calls(link.enter_stepping(special, now, parcel, packets)),
        });
        next.unwrap_or(Next::NOTHING)
    }

    #[inline(always)]
    fn enter_known(
        &mut self,
        special: &mut Special,
        now: Time,
        parcel: Parcel,
        packets: &mut Packets,
    ) -> Next {
        self.depart_until(now);
        packets.get_mut(parcel.packet).entered = now;
        let head_sojourn = self.told_sojourn(special, now, packets);
        if !self.admit(special, now, head_sojourn, &parcel, packets) {
            packets.release(parcel.packet);
            return Next::NOTHING;
        }
        let leaves = self.join(now, parcel, packets);
        let comes_out = special.arrival(leaves, self.delay);
        if special.loss.is_some() { Next::Survives(comes_out) } else { Next::ComesOut(comes_out) }
    }

    /// The time that [`Next`] said has come. Returns the packet that arrives at the far end, if one does, and when the
    /// link wants to be called next.
    #[inline]
    pub(crate) fn fire(
        &mut self,
        now: Time,
        parcel: Parcel,
        packets: &mut Packets,
    ) -> (Option<Parcel>, Time) {
        let fired = self.lend_special(|link, special| {
            let (arrived, next) = match special.order {
                Order::Judged(_) => link.fire_judged(special, now, packets),
                Order::Known => (Some(parcel), Time::NEVER),
                Order::Stepping(_) => return link.step(special, now, packets),
            };
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
            configured_capacity: self.rest.told.at(now),
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

    /// The same as an arriving packet's laws are told: nothing if none wants to know.
    #[inline]
    pub(super) fn told_sojourn(&self, special: &Special, now: Time, packets: &Packets) -> Span {
        if special.laws.want_sojourn() { self.head_sojourn(special, now, packets) } else { Span::ZERO }
    }

    /// How long the packet in service has been here.
    #[inline]
    pub(super) fn head_sojourn(&self, special: &Special, now: Time, packets: &Packets) -> Span {
        if self.queued == 0 {
            return Span::ZERO;
        }
        let head = match &special.order {
            Order::Known => self.flight.get(0).map(|entry| &entry.parcel),
            Order::Judged(_) => return self.sojourn_in_service(now, packets),
            Order::Stepping(stepping) => stepping.head(),
        };
        head.map_or(Span::ZERO, |parcel| now.since(packets.get(parcel.packet).entered))
    }
}
