//! Links with laws, random loss, a varying delay or a scheduler: the way of a packet where it is not plain.

use super::laws::{Fate, Laws, Moment, carry_out};
use super::stepping::Stepping;
use super::{Link, LossState};
use crate::packets::{Packet, Packets, Parcel};
use millpond_law::QueueView;
use millpond_units::{Bytes, Span, Time};

impl Link {
    #[inline]
    pub(super) fn laws(&self) -> Option<&Laws> {
        self.special.as_ref()?.laws.as_ref()
    }

    #[inline]
    pub(super) fn laws_mut(&mut self) -> Option<&mut Laws> {
        self.special.as_mut()?.laws.as_mut()
    }

    #[inline]
    pub(super) fn stepping(&self) -> Option<&Stepping> {
        self.special.as_ref()?.stepping.as_ref()
    }

    #[inline]
    pub(super) fn stepping_mut(&mut self) -> Option<&mut Stepping> {
        self.special.as_mut()?.stepping.as_mut()
    }

    #[inline]
    pub(super) fn is_stepping(&self) -> bool {
        self.stepping().is_some()
    }

    /// From now on there is one more flow, with this share under a fair scheduler.
    pub(crate) fn add_flow(&mut self, weight: f64) {
        if let Some(stepping) = self.stepping_mut() {
            stepping.add_flow(weight);
        }
    }

    /// See [`Link::arrive`].
    pub(super) fn arrive_special(&mut self, now: Time, parcel: Parcel, packets: &mut Packets) -> Time {
        self.sync(now, packets);
        packets.get_mut(parcel.packet).entered = now;
        if !self.admit(now, &parcel, packets) {
            packets.release(parcel.packet);
            return self.rearm();
        }
        self.count_in(now, parcel.bytes);
        if self.is_stepping() {
            return self.enqueue(now, parcel, packets);
        }
        let entry = self.serve(now, now, parcel, packets);
        self.flight.push(entry);
        if self.flight.len() > 1 { Time::NEVER } else { self.arrival(entry.due) }
    }

    /// The time returned before has come. Returns the packet that arrives at the far end, if one does, and when the
    /// link wants to be called next.
    #[inline]
    pub(crate) fn fire(&mut self, now: Time, packets: &mut Packets) -> (Option<Parcel>, Time) {
        if self.is_stepping() {
            return self.step(now, packets);
        }
        let arrived = self.take_arrived();
        let next = self.flight.get(0).map(|next| next.due);
        let next = next.map_or(Time::NEVER, |due| self.arrival(due));
        (arrived.and_then(|parcel| self.survivor(parcel, packets)), next)
    }

    /// When a packet that leaves the server at `leaves` arrives at the far end; asked once for each, in order.
    #[inline]
    pub(super) fn arrival(&mut self, leaves: Time) -> Time {
        let wire = self.special.as_mut().and_then(|special| special.wire.as_mut());
        wire.map_or(leaves + self.delay, |wire| wire.arrival(leaves))
    }

    /// The packet at the far end of the wire, if loss does not strike it.
    #[inline]
    pub(super) fn survivor(&mut self, parcel: Parcel, packets: &mut Packets) -> Option<Parcel> {
        let loss = self.special.as_mut().and_then(|special| special.loss.as_mut());
        if loss.is_some_and(LossState::strikes) {
            self.rest.meter.losses.wire += 1;
            packets.release(parcel.packet);
            return None;
        }
        Some(parcel)
    }

    /// Do laws and buffer let an arriving packet in?
    #[inline]
    fn admit(&mut self, now: Time, parcel: &Parcel, packets: &mut Packets) -> bool {
        let fate = if self.laws().is_some() {
            let sojourn = self.head_sojourn(now, packets);
            self.judge(Moment::Arrival, now, sojourn, packets.get_mut(parcel.packet))
        } else {
            Fate::Goes
        };
        let losses = &mut self.rest.meter.losses;
        if fate == Fate::Dropped {
            losses.law += 1;
            return false;
        }
        if !self.make_room(now, parcel, packets) {
            self.rest.meter.losses.buffer += 1;
            return false;
        }
        self.rest.meter.losses.marks += u64::from(fate == Fate::GoesMarked);
        true
    }

    /// Asks the laws and does as they say.
    #[inline(always)]
    pub(super) fn judge(
        &mut self,
        moment: Moment,
        now: Time,
        head_sojourn: Span,
        packet: &mut Packet,
    ) -> Fate {
        let view = self.view(now, head_sojourn);
        let Some(laws) = self.laws_mut() else { return Fate::Goes };
        let foreign = moment == Moment::Arrival && laws.is_foreign(packet);
        let verdict = laws.judge(moment, now, packet, &view);
        self.rest.meter.losses.foreign += u64::from(foreign);
        carry_out(verdict, packet)
    }

    #[inline]
    pub(super) fn view(&mut self, now: Time, head_sojourn: Span) -> QueueView {
        QueueView {
            told_capacity: self.told(now),
            bytes: Bytes::new(self.queued_bytes),
            packets: self.queued as u64,
            head_sojourn,
        }
    }

    /// How long the packet in service has been here.
    #[inline]
    pub(super) fn head_sojourn(&self, now: Time, packets: &Packets) -> Span {
        let head = match self.stepping() {
            Some(stepping) => stepping.head(),
            None if self.queued > 0 => {
                self.flight.get(self.flight.len() - self.queued).map(|entry| &entry.parcel)
            }
            None => None,
        };
        head.map_or(Span::ZERO, |parcel| now.since(packets.get(parcel.packet).entered))
    }
}
