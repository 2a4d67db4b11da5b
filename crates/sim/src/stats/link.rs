//! What is measured at one direction of a link.

use super::Histogram;
use millpond_units::{Span, Time};
use std::ops::Sub;

/// Counts of packets, data and acknowledgements alike, and of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that arrived to be sent over the link.
    pub arrivals: u64,
    /// Dropped because the buffer was full.
    pub buffer_drops: u64,
    /// Dropped by a law, or marked without being ECN-capable.
    pub law_drops: u64,
    /// Lost at random on the wire, after service.
    pub wire_losses: u64,
    /// Marked with CE and sent on.
    pub marks: u64,
    /// Served in full.
    pub served: u64,
    /// Bytes of these.
    pub served_bytes: u64,
    /// Data packets with a header that no law at this link reads (only counted where there are laws).
    pub foreign_headers: u64,
}

impl LinkCounters {
    /// Lost here for whatever cause.
    pub fn drops(&self) -> u64 {
        self.buffer_drops + self.law_drops + self.wire_losses
    }
}

impl Sub for LinkCounters {
    type Output = Self;
    fn sub(self, before: Self) -> Self {
        Self {
            arrivals: self.arrivals - before.arrivals,
            buffer_drops: self.buffer_drops - before.buffer_drops,
            law_drops: self.law_drops - before.law_drops,
            wire_losses: self.wire_losses - before.wire_losses,
            marks: self.marks - before.marks,
            served: self.served - before.served,
            served_bytes: self.served_bytes - before.served_bytes,
            foreign_headers: self.foreign_headers - before.foreign_headers,
        }
    }
}

/// Queueing delay of the packets that left during an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalDelay {
    /// How many left.
    pub packets: u64,
    /// Their mean queueing delay; zero if none left.
    pub mean: Span,
    /// The longest.
    pub max: Span,
}

/// The running measurement.
#[derive(Debug)]
pub(crate) struct LinkMeter {
    pub(crate) total: LinkCounters,
    before: LinkCounters,
    /// When the measurement began.
    from: Time,
    /// Up to when queue lengths have been counted.
    until: Time,
    /// Lengths of a queue that was not empty.
    lengths: Histogram,
    /// Waits of packets that had to wait.
    waits: Histogram,
    waited: u64,
    interval_served: u64,
    interval_waits: Span,
    interval_max: Span,
}

impl LinkMeter {
    pub(crate) fn new() -> Self {
        Self {
            total: LinkCounters::default(),
            before: LinkCounters::default(),
            from: Time::ZERO,
            until: Time::ZERO,
            lengths: Histogram::default(),
            waits: Histogram::of_delays(),
            waited: 0,
            interval_served: 0,
            interval_waits: Span::ZERO,
            interval_max: Span::ZERO,
        }
    }

    /// The queue has been this long until `now`.
    #[inline]
    pub(crate) fn length_until(&mut self, now: Time, packets: u64) {
        if packets > 0 {
            self.lengths.add(packets, now.since(self.until).picos());
        }
        self.until = now;
    }

    /// A packet has been served in full after having waited.
    #[inline]
    pub(crate) fn served(&mut self, bytes: u32, wait: Span) {
        self.total.served += 1;
        self.total.served_bytes += u64::from(bytes);
        if !wait.is_zero() {
            self.waited += 1;
            self.waits.add_delay(wait);
            self.interval_waits += wait;
            self.interval_max = self.interval_max.max(wait);
        }
    }

    /// Forgets all but the totals.
    pub(crate) fn start_over(&mut self, now: Time) {
        *self = Self { total: self.total, before: self.total, from: now, until: now, ..Self::new() };
        self.start_interval();
    }

    pub(crate) fn start_interval(&mut self) {
        self.interval_served = self.total.served;
        (self.interval_waits, self.interval_max) = (Span::ZERO, Span::ZERO);
    }

    pub(crate) fn interval(&self) -> IntervalDelay {
        let packets = self.total.served - self.interval_served;
        IntervalDelay { packets, mean: self.interval_waits / packets, max: self.interval_max }
    }

    pub(crate) fn counters(&self) -> LinkCounters {
        self.total - self.before
    }

    pub(crate) fn from(&self) -> Time {
        self.from
    }

    pub(crate) fn until(&self) -> Time {
        self.until
    }

    /// Time at each queue length, in picoseconds.
    pub(crate) fn lengths(&self) -> Histogram {
        let mut lengths = self.lengths.clone();
        lengths.add(0, self.until.since(self.from).picos() - lengths.total());
        lengths
    }

    /// Queueing delays of all packets served.
    pub(crate) fn waits(&self) -> Histogram {
        let mut waits = self.waits.clone();
        waits.add(0, self.counters().served - self.waited);
        waits
    }
}
