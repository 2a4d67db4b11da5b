//! A link: a buffer, a server, a wire.
//!
//! ```text
//!            laws, buffer            server [bit/s]          wire [s]
//! arrive --> judge | drop --> queue ---------------> flight ----------> deliver
//!                               |<---- queued ---->|        loss strikes here
//! ```
//!
//! At a plain link (first in, first out; no law wants to judge departures) the moment at which a packet will leave
//! is known when it arrives, because the rate is a known function of time. So it joins the flight at once, and the
//! queue, which is the tail of the flight that has not left yet, is brought up to the present when it is looked at
//! ([`Link::sync`]). Other links take one step per service ([`stepping`]).

mod laws;
mod loss;
mod propagation;
mod ring;
mod scheduler;
mod service;
mod spec;
mod stepping;
#[cfg(test)]
mod tests;
mod view;

pub use loss::Loss;
pub use propagation::{Jitter, Propagation};
pub use scheduler::Scheduler;
pub(crate) use service::Service;
pub use spec::{Buffer, LinkSpec};
pub use view::LinkView;

use crate::packets::{Packet, PacketId, Packets};
use crate::schedule::Told;
use crate::stats::LinkMeter;
use laws::{Fate, Laws, Moment, carry_out};
use loss::LossState;
use millpond_law::QueueView;
use millpond_units::{Bytes, Rate, Span, Time};
use propagation::Wire;
use ring::Ring;
use stepping::Stepping;

/// A packet as links see it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// When it leaves the server; in the flight of a stepping link, when it arrives at the far end.
    due: Time,
    entered: Time,
    wait: Span,
    pub(crate) packet: PacketId,
    pub(crate) bytes: u32,
    /// Where on its route it goes next.
    pub(crate) route: u32,
}

impl Entry {
    /// A packet about to begin its route.
    #[inline]
    pub(crate) fn new(packet: PacketId, bytes: u32, route: u32) -> Self {
        Self { packet, bytes, route, ..Self::default() }
    }
}

/// One direction of a link.
pub(crate) struct Link {
    service: Service,
    wire: Wire,
    /// Packets on the wire; at a plain link those that are queued too, behind.
    flight: Ring<Entry>,
    /// Packets waiting or in service, and their bytes.
    queued: usize,
    queued_bytes: u64,
    buffer: Buffer,
    meter: LinkMeter,
    loss: Option<Box<LossState>>,
    laws: Option<Box<Laws>>,
    /// None at a plain link.
    stepping: Option<Box<Stepping>>,
    told: Told,
    name: String,
}

impl Link {
    /// A packet arrives. Returns when the link wants to be called next, [`Time::NEVER`] if nothing new.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, mut entry: Entry, packets: &mut Packets) -> Time {
        self.sync(now, packets);
        self.meter.total.arrivals += 1;
        if (self.laws.is_some() || !self.buffer.has_room(self.queued, self.queued_bytes, entry.bytes))
            && !self.admit(now, &entry, packets)
        {
            packets.release(entry.packet);
            return self.rearm();
        }
        self.meter.length_until(now, self.queued as u64);
        self.queued += 1;
        self.queued_bytes += u64::from(entry.bytes);
        entry.entered = now;
        if self.stepping.is_some() {
            return self.enqueue(now, entry, packets);
        }
        self.serve(now, &mut entry, packets);
        self.flight.push(entry);
        if self.flight.len() > 1 {
            return Time::NEVER;
        }
        self.wire.arrival(entry.due)
    }

    /// The time returned before has come. Returns the packet that arrives at the far end, if one does, and when the
    /// link wants to be called next.
    #[inline]
    pub(crate) fn fire(&mut self, now: Time, packets: &mut Packets) -> (Option<Entry>, Time) {
        if self.stepping.is_some() {
            return self.step(now, packets);
        }
        if self.queued == self.flight.len() {
            self.sync(now, packets);
        }
        let arrived = self.flight.pop();
        let next = self.flight.get(0).map(|entry| entry.due);
        (self.survivor(arrived, packets), next.map_or(Time::NEVER, |due| self.wire.arrival(due)))
    }

    /// Brings the queue up to `now`.
    #[inline]
    pub(crate) fn sync(&mut self, now: Time, packets: &mut Packets) {
        if self.stepping.is_some() {
            return self.finish_services(now, packets);
        }
        while self.queued > 0
            && let Some(&entry) = self.flight.get(self.flight.len() - self.queued)
            && entry.due <= now
        {
            self.leave(&entry, entry.due);
        }
    }

    /// Brings the meter up to `now` too.
    pub(crate) fn settle(&mut self, now: Time, packets: &mut Packets) {
        self.sync(now, packets);
        self.meter.length_until(now, self.queued as u64);
    }

    /// Hands a packet to the server.
    #[inline]
    fn serve(&mut self, now: Time, entry: &mut Entry, packets: &mut Packets) {
        let served = self.service.accept(now, Bytes::new(u64::from(entry.bytes)));
        entry.due = served.leaves;
        entry.wait = served.leaves.since(entry.entered).saturating_sub(served.service);
        if !entry.wait.is_zero() {
            packets.get_mut(entry.packet).waited(entry.wait);
        }
    }

    /// A packet has been served in full.
    #[inline]
    fn leave(&mut self, entry: &Entry, at: Time) {
        self.remove(entry, at);
        self.meter.served(entry.bytes, entry.wait);
    }

    /// A packet is no longer in the queue.
    #[inline]
    fn remove(&mut self, entry: &Entry, at: Time) {
        self.meter.length_until(at, self.queued as u64);
        self.queued -= 1;
        self.queued_bytes -= u64::from(entry.bytes);
    }

    /// The packet at the far end of the wire, if loss does not strike it.
    #[inline]
    fn survivor(&mut self, arrived: Option<Entry>, packets: &mut Packets) -> Option<Entry> {
        let entry = arrived?;
        if let Some(loss) = &mut self.loss
            && loss.strikes()
        {
            self.meter.total.wire_losses += 1;
            packets.release(entry.packet);
            return None;
        }
        Some(entry)
    }

    /// Do laws and buffer let an arriving packet in?
    fn admit(&mut self, now: Time, entry: &Entry, packets: &mut Packets) -> bool {
        let fate = self.judge(Moment::Arrival, now, self.head_sojourn(now), packets.get_mut(entry.packet));
        if fate == Fate::Dropped {
            self.meter.total.law_drops += 1;
            return false;
        }
        if !self.make_room(now, entry, packets) {
            self.meter.total.buffer_drops += 1;
            return false;
        }
        self.meter.total.marks += u64::from(fate == Fate::GoesMarked);
        true
    }

    /// Asks the laws and does as they say.
    fn judge(&mut self, moment: Moment, now: Time, head_sojourn: Span, packet: &mut Packet) -> Fate {
        let view = self.view(now, head_sojourn);
        let Some(laws) = &mut self.laws else { return Fate::Goes };
        self.meter.total.foreign_headers += u64::from(moment == Moment::Arrival && laws.is_foreign(packet));
        let verdict = laws.judge(moment, now, packet, &view);
        carry_out(verdict, packet)
    }

    /// An interval of a law ends. Returns when the next one does.
    pub(crate) fn tick(&mut self, now: Time, packets: &mut Packets) -> Time {
        self.sync(now, packets);
        let view = self.view(now, self.head_sojourn(now));
        self.laws.as_mut().map_or(Time::NEVER, |laws| laws.tick(now, &view))
    }

    /// When the first interval of a law ends.
    pub(crate) fn first_tick(&self) -> Time {
        self.laws.as_ref().map_or(Time::NEVER, |laws| laws.next_tick())
    }

    fn view(&mut self, now: Time, head_sojourn: Span) -> QueueView {
        QueueView {
            told_capacity: self.told.at(now),
            bytes: Bytes::new(self.queued_bytes),
            packets: self.queued as u64,
            head_sojourn,
        }
    }

    /// How long the packet in service has been here.
    fn head_sojourn(&self, now: Time) -> Span {
        let head = match &self.stepping {
            Some(stepping) => stepping.head(),
            None => self.queued.checked_sub(1).and_then(|last| self.flight.get(self.flight.len() - 1 - last)),
        };
        head.map_or(Span::ZERO, |entry| now.since(entry.entered))
    }

    /// The capacity told at `now`.
    pub(crate) fn told(&mut self, now: Time) -> Rate {
        self.told.at(now)
    }

    /// When the capacity told changes next.
    pub(crate) fn next_told_change(&self, now: Time) -> Time {
        self.told.next_change(now)
    }

    /// Starts the measurement anew.
    pub(crate) fn start_measuring(&mut self, now: Time, packets: &mut Packets) {
        self.settle(now, packets);
        self.meter.start_over(now);
    }

    /// Starts a new interval of [`LinkView::interval_delay`].
    pub(crate) fn start_interval(&mut self) {
        self.meter.start_interval();
    }

    /// How many packets are here, queued or on the wire.
    #[cfg(test)]
    pub(crate) fn holds(&self) -> usize {
        self.flight.len() + if self.stepping.is_some() { self.queued } else { 0 }
    }
}
