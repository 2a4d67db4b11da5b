//! A link: buffer, server, propagation delay.
//!
//! ```text
//!            laws, buffer            server [bit/s]          propagation [s]
//! arrive --> laws | drop --> queue ----------------> pipeline ----------> deliver
//!                               |<---- queued ---->|        random loss here
//! ```
//!
//! At a plain FIFO link (no law acts on departures) the arrival time of a packet at the end of the link is known when it
//! enters, because the rate is a known function of time. The event for that arrival carries the packet handle, and the
//! link is not accessed again for this packet. The queue is brought up to date when it is next accessed
//! ([`Link::depart_until`]). Laws, loss and a variable delay make a link [`special`]. If laws act on departures, or
//! a law has several internal queues ([`waiting`]), waiting packets are dequeued lazily ([`lazy_dequeue`]).

mod channel;
mod law_view;
mod laws;
mod lazy_dequeue;
mod link_spec;
mod loss;
mod medium;
mod propagation;
mod ring;
mod service;
mod special;
#[cfg(test)]
mod tests;
mod view;
mod waiting;

pub use law_view::LawView;
pub use link_spec::{Buffer, LinkSpec};
pub use loss::Loss;
pub use medium::LinkLayer;
pub use propagation::{Jitter, Propagation};
pub(crate) use service::{Rates, Service};
pub(crate) use special::{LinkAction, WireArrival};
pub use view::LinkView;

use crate::packet_pool::{PacketHandle, PacketPool};
use crate::schedule::ConfiguredCapacity;
use crate::stats::{HotCounters, LinkCounters, LinkMeter};
use channel::Channel;
use laws::AttachedLaws;
use lazy_dequeue::LazyServer;
use millpond_units::{Rate, Span, Time};
use ring::Ring;
use waiting::Waiting;

/// A packet that has been served or whose service is scheduled.
#[derive(Clone, Copy, Debug, Default)]
struct ServedPacket {
    /// When its service ends; in the pipeline of a link with lazy dequeueing, when it arrives at the end of the link.
    due: Time,
    wait: Span,
    handle: PacketHandle,
}

/// One direction of a link: the data that every packet accesses in three cache lines, and boxes for everything else.
/// An arriving packet accesses all three lines, a departing one the first two.
#[repr(C, align(64))]
pub(crate) struct Link {
    /// Where departure times are known, the queue; elsewhere the packets whose service has begun and that the event loop has not
    /// taken.
    pipeline: Ring<ServedPacket>,
    /// What a plain link does not have.
    special: Option<Box<Special>>,
    /// Packets waiting or in service, and their bytes.
    queued: u32,
    packet_limit: u32,
    queued_bytes: u64,
    delay: Span,
    hot: HotCounters,
    cold: Box<ColdState>,
    byte_limit: u64,
    service: Service,
}

const _: () = assert!(size_of::<Link>() == 192);

/// The parts that a plain link does not have.
struct Special {
    channel: Option<Box<Channel>>,
    laws: AttachedLaws,
    /// The packets whose departure times are not known.
    waiting: Waiting,
    mode: ServiceMode,
    /// With lazy dequeueing.
    server: LazyServer,
}

/// How the next packet to serve is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServiceMode {
    /// FIFO, laws act on arrivals at most: departure times are known at arrival.
    Precomputed,
    /// When the state of the link is next needed: laws act on departures, or there are several queues.
    LazyDequeue,
}

/// Data that few packets access.
struct ColdState {
    rates: Rates,
    configured_capacity: ConfiguredCapacity,
    meter: LinkMeter,
    name: String,
}

impl Link {
    /// Enqueues a packet at a plain link. Returns when it arrives at the end of the link; none if it is dropped.
    #[inline(always)]
    pub(crate) fn arrive(
        &mut self,
        now: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> Option<Time> {
        if self.is_idle(now) && u64::from(handle.bytes) <= self.byte_limit {
            return Some(self.pass(now, handle, packets) + self.delay);
        }
        self.depart_until(now);
        if !self.has_room(handle.bytes) {
            self.cold.meter.losses.buffer += 1;
            packets.release(handle.packet);
            return None;
        }
        Some(self.join(now, handle, packets) + self.delay)
    }

    /// True without laws, loss, variable delay and scheduler.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.special.is_none()
    }

    /// Adds an accepted packet with known departure time to the pipeline. Returns when its service ends.
    #[inline(always)]
    fn join(&mut self, now: Time, handle: PacketHandle, packets: &mut PacketPool) -> Time {
        self.add_to_queue(now, handle.bytes);
        let entry = self.serve(now, now, handle, packets);
        self.pipeline.push(entry);
        entry.due
    }

    /// True if the only packet in the queue has been served, as at most arrivals at fast links.
    #[inline(always)]
    fn is_idle(&self, now: Time) -> bool {
        self.queued == 1 && self.pipeline.get(0).is_some_and(|served| served.due <= now)
    }

    /// As [`Self::depart_until`] and [`Self::join`] at an idle link: the packet takes the place of the one before it.
    #[inline(always)]
    fn pass(&mut self, now: Time, handle: PacketHandle, packets: &mut PacketPool) -> Time {
        let entry = self.serve(now, now, handle, packets);
        let before = self.pipeline.replace_first(entry);
        self.hot.length_until(before.due, 1, &mut self.cold.meter);
        self.hot.length_until(now, 0, &mut self.cold.meter);
        self.hot.served(before.handle.bytes, before.wait, &mut self.cold.meter);
        self.queued_bytes = u64::from(handle.bytes);
        entry.due
    }

    /// Removes packets from the queue whose service has ended: usually none or one.
    #[inline(always)]
    fn depart_until(&mut self, now: Time) {
        if self.depart_one(now) && self.pipeline.get(0).is_some_and(|entry| entry.due <= now) {
            self.depart_more(now);
        }
    }

    #[inline(never)]
    fn depart_more(&mut self, now: Time) {
        while self.depart_one(now) {}
    }

    /// Removes the packet in service, if the service has ended. Returns true if another one is in service.
    #[inline(always)]
    fn depart_one(&mut self, now: Time) -> bool {
        let Some(entry) = self.pipeline.pop_if(|entry| entry.due <= now) else { return false };
        self.leave(&entry, entry.due);
        self.queued > 0
    }

    /// Starts the service of a packet that arrived at `entered`.
    #[inline(always)]
    fn serve(
        &mut self,
        now: Time,
        entered: Time,
        handle: PacketHandle,
        packets: &mut PacketPool,
    ) -> ServedPacket {
        let served = self.service.accept(now, handle.bytes, &mut self.cold.rates);
        let wait = served.begins.since(entered);
        if !wait.is_zero() {
            packets.get_mut(handle.packet).add_queueing(wait);
        }
        ServedPacket { due: served.leaves, wait, handle }
    }

    #[inline]
    fn has_room(&self, bytes: u32) -> bool {
        self.queued < self.packet_limit && self.queued_bytes + u64::from(bytes) <= self.byte_limit
    }

    /// Counts a packet that joins the queue.
    #[inline]
    fn add_to_queue(&mut self, now: Time, bytes: u32) {
        self.hot.length_until(now, self.queued, &mut self.cold.meter);
        self.queued += 1;
        self.queued_bytes += u64::from(bytes);
    }

    /// Counts a packet that leaves the queue.
    #[inline]
    fn remove_from_queue(&mut self, at: Time, bytes: u32) {
        self.hot.length_until(at, self.queued, &mut self.cold.meter);
        self.queued -= 1;
        self.queued_bytes -= u64::from(bytes);
    }

    /// Records that a packet has been served.
    #[inline(always)]
    fn leave(&mut self, entry: &ServedPacket, at: Time) {
        self.remove_from_queue(at, entry.handle.bytes);
        self.hot.served(entry.handle.bytes, entry.wait, &mut self.cold.meter);
    }

    /// Brings the queue up to date.
    #[inline(never)]
    fn sync(&mut self, now: Time, packets: &mut PacketPool) {
        let synced = self.with_special(|link, special| link.sync_special(special, now, packets));
        synced.unwrap_or_else(|| self.depart_until(now));
    }

    /// Brings queue and statistics up to date.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, packets: &mut PacketPool) {
        if !self.is_plain() || self.pipeline.get(0).is_some_and(|served| served.due <= now) {
            self.sync(now, packets);
        }
        self.hot.length_until(now, self.queued, &mut self.cold.meter);
    }

    /// Ends a control interval of a law. Returns when the next one ends.
    pub(crate) fn tick(&mut self, now: Time, packets: &mut PacketPool) -> Time {
        let next = self.with_special(|link, special| {
            link.sync_special(special, now, packets);
            let view = link.view(now, link.head_sojourn(special, now, packets));
            let next = special.laws.tick(now, &view);
            special.waiting.several().map_or(next, |queues| next.min(queues.tick(now, &view, packets)))
        });
        next.unwrap_or(Time::NEVER)
    }

    /// When the first control interval of a law ends.
    pub(crate) fn first_tick(&self) -> Time {
        let Some(special) = &self.special else { return Time::NEVER };
        let next = special.laws.next_tick();
        if let Waiting::Several(queues) = &special.waiting { next.min(queues.next_tick()) } else { next }
    }

    /// The configured capacity at `now`.
    pub(crate) fn configured_capacity(&self, now: Time) -> Rate {
        self.cold.configured_capacity.rate_at(now)
    }

    /// When the configured capacity changes next.
    pub(crate) fn next_capacity_change(&self, now: Time) -> Time {
        self.cold.configured_capacity.next_change(now)
    }

    /// Starts the measurement.
    pub(crate) fn start_measuring(&mut self, now: Time, packets: &mut PacketPool) {
        self.settle(now, packets);
        let total = self.counters();
        self.cold.meter.start_measuring(now, total, &mut self.hot);
    }

    /// Starts a new interval of [`LinkView::interval_delay`].
    pub(crate) fn start_interval(&mut self) {
        self.cold.meter.start_interval(&self.hot);
    }

    /// Counts since the run began.
    #[inline]
    pub(crate) fn counters(&self) -> LinkCounters {
        let unread = self.laws().map_or(0, AttachedLaws::unread);
        self.hot.counters(self.queued, &self.cold.meter.losses, unread)
    }
}
