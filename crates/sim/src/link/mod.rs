//! A link: a buffer, a server, a wire.
//!
//! ```text
//!            laws, buffer            server [bit/s]          wire [s]
//! arrive --> judge | drop --> queue ---------------> flight ----------> deliver
//!                               |<---- queued ---->|        loss strikes here
//! ```
//!
//! At a plain link (first in, first out; no law wants to judge departures) the moment at which a packet will come out
//! is known when it arrives, because the rate is a known function of time. So that event takes the packet along, the
//! link is not touched again for it, and the queue is brought up to the present when somebody next looks
//! ([`Link::depart_until`]). Laws, loss and a varying delay make a link [`special`]. Where laws judge departures,
//! packets wait for their turn; it is judged when somebody next looks, as of the moment at which it came
//! ([`lazy_dequeue`]). A scheduler or overtaking make a link take one step per service ([`per_service`]). These two keep their
//! packets on the wire in the flight.

mod laws;
mod lazy_dequeue;
mod link_spec;
mod loss;
mod per_service;
mod propagation;
mod ring;
mod scheduler;
mod service;
mod special;
#[cfg(test)]
mod tests;
mod view;

pub use link_spec::{Buffer, LinkSpec};
pub use loss::Loss;
pub use propagation::{Jitter, Propagation};
pub use scheduler::Scheduler;
pub(crate) use service::{Rates, Service};
pub(crate) use special::Next;
pub use view::LinkView;

use crate::packet_pool::{Packets, Parcel};
use crate::schedule::Told;
use crate::stats::{LinkCounters, LinkMeter, Tally};
use laws::Laws;
use loss::LossState;
use millpond_units::{Bytes, Rate, Span, Time};
use per_service::Stepping;
use propagation::Wire;
use ring::Ring;

/// A packet that has been served or is about to be.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// When it leaves the server; in the flight of a stepping link, when it arrives at the far end.
    due: Time,
    wait: Span,
    parcel: Parcel,
}

/// One direction of a link: what every packet touches, in three cache lines, and behind it two boxes for the rest.
/// A packet that arrives touches all three, one that departs the first two.
#[repr(C, align(64))]
pub(crate) struct Link {
    /// Where departures are known, the queue; elsewhere packets on the wire and, behind, the one in service.
    flight: Ring<Entry>,
    /// What a plain link does not have.
    special: Option<Box<Special>>,
    /// Packets waiting or in service, and their bytes.
    queued: usize,
    queued_bytes: u64,
    delay: Span,
    tally: Tally,
    rest: Box<Rest>,
    buffer: Buffer,
    service: Service,
}

const _: () = assert!(size_of::<Link>() == 192);

/// What most links do without.
struct Special {
    /// A delay that varies.
    wire: Option<Wire>,
    loss: Option<LossState>,
    laws: Laws,
    order: Order,
}

/// How it comes out who is next.
enum Order {
    /// First in, first out, and laws judge arrivals at most: departures are known at arrival.
    Known,
    /// First in, first out; laws judge the departures of those who wait here.
    Judged(Ring<Parcel>),
    /// Only when a service ends.
    Stepping(Stepping),
}

/// What few packets touch.
struct Rest {
    rates: Rates,
    told: Told,
    meter: LinkMeter,
    name: String,
}

impl Link {
    /// A packet arrives at a plain link. Returns when it will come out at the far end, [`Time::NEVER`] if it is
    /// dropped.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, now: Time, parcel: Parcel, packets: &mut Packets) -> Time {
        self.depart_until(now);
        if !self.has_room(parcel.bytes) {
            self.rest.meter.losses.buffer += 1;
            packets.release(parcel.packet);
            return Time::NEVER;
        }
        self.join(now, parcel, packets) + self.delay
    }

    /// Has it neither laws nor loss nor a varying delay nor a scheduler?
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.special.is_none()
    }

    /// A packet that has been let in, whose turn is known, joins the flight. Returns when it will leave the server.
    #[inline(always)]
    fn join(&mut self, now: Time, parcel: Parcel, packets: &mut Packets) -> Time {
        self.count_in(now, parcel.bytes);
        let entry = self.serve(now, now, parcel, packets);
        self.flight.push(entry);
        entry.due
    }

    /// Lets packets leave the queue whose service has ended: mostly none or one.
    #[inline(always)]
    fn depart_until(&mut self, now: Time) {
        if self.depart_one(now) {
            self.depart_more(now);
        }
    }

    #[inline(never)]
    fn depart_more(&mut self, now: Time) {
        while self.depart_one(now) {}
    }

    /// Lets the packet leave that is in service, if that has ended; says whether there is another.
    #[inline(always)]
    fn depart_one(&mut self, now: Time) -> bool {
        let Some(entry) = self.flight.pop_if(|entry| entry.due <= now) else { return false };
        self.leave(&entry, entry.due);
        self.queued > 0
    }

    /// Hands a packet that arrived at `entered` to the server.
    #[inline]
    fn serve(&mut self, now: Time, entered: Time, parcel: Parcel, packets: &mut Packets) -> Entry {
        let served = self.service.accept(now, Bytes::new(u64::from(parcel.bytes)), &mut self.rest.rates);
        let wait = served.leaves.since(entered).saturating_sub(served.service);
        if !wait.is_zero() {
            packets.get_mut(parcel.packet).waited(wait);
        }
        Entry { due: served.leaves, wait, parcel }
    }

    #[inline]
    fn has_room(&self, bytes: u32) -> bool {
        self.buffer.has_room(self.queued, self.queued_bytes, bytes)
    }

    /// A packet joins the queue.
    #[inline]
    fn count_in(&mut self, now: Time, bytes: u32) {
        self.tally.length_until(now, self.queued, &mut self.rest.meter);
        self.queued += 1;
        self.queued_bytes += u64::from(bytes);
    }

    /// A packet is no longer in the queue.
    #[inline]
    fn count_out(&mut self, at: Time, bytes: u32) {
        self.tally.length_until(at, self.queued, &mut self.rest.meter);
        self.queued -= 1;
        self.queued_bytes -= u64::from(bytes);
    }

    /// A packet has been served in full.
    #[inline(always)]
    fn leave(&mut self, entry: &Entry, at: Time) {
        self.count_out(at, entry.parcel.bytes);
        self.tally.served(entry.parcel.bytes, entry.wait, &mut self.rest.meter);
    }

    /// Brings the queue up to `now`.
    fn sync(&mut self, now: Time, packets: &mut Packets) {
        let synced = self.lend_special(|link, special| link.sync_special(special, now, packets));
        synced.unwrap_or_else(|| self.depart_until(now));
    }

    /// Brings queue and meter up to `now`.
    pub(crate) fn settle(&mut self, now: Time, packets: &mut Packets) {
        self.sync(now, packets);
        self.tally.length_until(now, self.queued, &mut self.rest.meter);
    }

    /// An interval of a law ends. Returns when the next one does.
    pub(crate) fn tick(&mut self, now: Time, packets: &mut Packets) -> Time {
        let next = self.lend_special(|link, special| {
            link.sync_special(special, now, packets);
            let view = link.view(now, link.head_sojourn(special, now, packets));
            special.laws.tick(now, &view)
        });
        next.unwrap_or(Time::NEVER)
    }

    /// When the first interval of a law ends.
    pub(crate) fn first_tick(&self) -> Time {
        self.laws().map_or(Time::NEVER, Laws::next_tick)
    }

    /// The capacity told at `now`.
    pub(crate) fn told(&self, now: Time) -> Rate {
        self.rest.told.rate_at(now)
    }

    /// When the capacity told changes next.
    pub(crate) fn next_told_change(&self, now: Time) -> Time {
        self.rest.told.next_change(now)
    }

    /// Starts the measurement anew.
    pub(crate) fn start_measuring(&mut self, now: Time, packets: &mut Packets) {
        self.settle(now, packets);
        let total = self.counters();
        self.rest.meter.start_over(now, total, &mut self.tally);
    }

    /// Starts a new interval of [`LinkView::interval_delay`].
    pub(crate) fn start_interval(&mut self) {
        self.rest.meter.start_interval(&self.tally);
    }

    /// Counts since the run began.
    pub(crate) fn counters(&self) -> LinkCounters {
        let unread = self.laws().map_or(0, Laws::unread);
        self.tally.counters(self.queued, &self.rest.meter.losses, unread)
    }
}
