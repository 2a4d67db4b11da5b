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

impl IntervalDelay {
    /// That of the packets of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        let packets = self.packets + other.packets;
        let mean = (self.mean * self.packets + other.mean * other.packets) / packets;
        Self { packets, mean, max: self.max.max(other.max) }
    }
}

/// What every packet changes.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Up to when queue lengths have been counted.
    until: Time,
    /// How long, in picoseconds, there was exactly one packet.
    alone: u64,
    served: u64,
    served_bytes: u64,
}

impl Tally {
    /// The queue has been this long until `now`.
    #[inline]
    pub(crate) fn length_until(&mut self, now: Time, packets: usize, meter: &mut LinkMeter) {
        let span = now.since(self.until).picos();
        self.until = now;
        match packets {
            0 => {}
            1 => self.alone += span,
            _ => meter.longer(packets, span),
        }
    }

    /// A packet has been served in full after having waited.
    #[inline]
    pub(crate) fn served(&mut self, bytes: u32, wait: Span, meter: &mut LinkMeter) {
        self.served += 1;
        self.served_bytes += u64::from(bytes);
        if !wait.is_zero() {
            meter.waited(wait);
        }
    }

    pub(crate) fn until(&self) -> Time {
        self.until
    }

    /// All counts so far of a link that now holds so many packets and whose laws could not read so many headers.
    pub(crate) fn counters(&self, queued: usize, losses: &Losses, foreign_headers: u64) -> LinkCounters {
        LinkCounters {
            arrivals: self.served + queued as u64 + losses.buffer + losses.law,
            buffer_drops: losses.buffer,
            law_drops: losses.law,
            wire_losses: losses.wire,
            marks: losses.marks,
            served: self.served,
            served_bytes: self.served_bytes,
            foreign_headers,
        }
    }
}

/// What happens to few packets.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    pub(crate) buffer: u64,
    pub(crate) law: u64,
    pub(crate) wire: u64,
    pub(crate) marks: u64,
}

/// The rest of the measurement.
#[derive(Debug)]
pub(crate) struct LinkMeter {
    pub(crate) losses: Losses,
    /// Counts when the measurement began.
    before: LinkCounters,
    from: Time,
    /// Lengths of a queue of two or more.
    lengths: Histogram,
    /// Waits of packets that had to wait.
    waits: Histogram,
    interval_served: u64,
    interval_waits: Span,
    interval_max: Span,
}

impl Default for LinkMeter {
    fn default() -> Self {
        Self {
            losses: Losses::default(),
            before: LinkCounters::default(),
            from: Time::ZERO,
            lengths: Histogram::default(),
            waits: Histogram::of_delays(),
            interval_served: 0,
            interval_waits: Span::ZERO,
            interval_max: Span::ZERO,
        }
    }
}

impl LinkMeter {
    /// There have been two packets or more. Most links hardly ever get here.
    #[inline(never)]
    fn longer(&mut self, packets: usize, span: u64) {
        self.lengths.add(packets as u64, span);
    }

    #[inline(never)]
    fn waited(&mut self, wait: Span) {
        self.waits.add_delay(wait);
        self.interval_waits += wait;
        self.interval_max = self.interval_max.max(wait);
    }

    /// Forgets all but the totals, which are now `total`.
    pub(crate) fn start_over(&mut self, now: Time, total: LinkCounters, tally: &mut Tally) {
        let losses = std::mem::take(&mut self.losses);
        *self = Self { losses, before: total, from: now, ..Self::default() };
        tally.alone = 0;
        self.start_interval(tally);
    }

    pub(crate) fn start_interval(&mut self, tally: &Tally) {
        self.interval_served = tally.served;
        (self.interval_waits, self.interval_max) = (Span::ZERO, Span::ZERO);
    }

    pub(crate) fn interval(&self, tally: &Tally) -> IntervalDelay {
        let packets = tally.served - self.interval_served;
        IntervalDelay { packets, mean: self.interval_waits / packets, max: self.interval_max }
    }

    pub(crate) fn before(&self) -> LinkCounters {
        self.before
    }

    pub(crate) fn from(&self) -> Time {
        self.from
    }

    /// Time at each queue length, in picoseconds.
    pub(crate) fn lengths(&self, tally: &Tally) -> Histogram {
        let mut lengths = self.lengths.clone();
        lengths.add(1, tally.alone);
        lengths.add(0, tally.until.since(self.from).picos() - lengths.total());
        lengths
    }

    /// Queueing delays of all packets served.
    pub(crate) fn waits(&self, tally: &Tally) -> Histogram {
        let mut waits = self.waits.clone();
        waits.add(0, tally.served - self.before.served - waits.total());
        waits
    }
}
