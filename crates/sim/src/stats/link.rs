//! Statistics of one direction of a link.

use millpond_stats::Histogram;
use millpond_units::{Span, Time};
use std::ops::Sub;

/// Counters of a link: packets (data and acknowledgements) and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that arrived.
    pub arrivals: u64,
    /// Dropped because the buffer was full.
    pub buffer_drops: u64,
    /// Dropped by a law, or marked although not ECN-capable.
    pub law_drops: u64,
    /// Lost at random on the link, after service.
    pub wire_losses: u64,
    /// Marked with CE and forwarded.
    pub marks: u64,
    /// Served completely.
    pub served: u64,
    /// Bytes of the packets served.
    pub served_bytes: u64,
    /// Data packets with a header that no law of this link reads; counted only at links with laws.
    pub foreign_headers: u64,
}

impl LinkCounters {
    /// All packets lost here.
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
    /// Number of these packets.
    pub packets: u64,
    /// Their mean queueing delay; zero if there is none.
    pub mean: Span,
    /// The largest queueing delay.
    pub max: Span,
}

impl IntervalDelay {
    /// The statistics of both sets of packets together.
    pub(crate) fn plus(self, other: Self) -> Self {
        let packets = self.packets + other.packets;
        let mean = (self.mean * self.packets + other.mean * other.packets) / packets;
        Self { packets, mean, max: self.max.max(other.max) }
    }
}

/// The part of the statistics that every packet changes.
#[derive(Debug, Default)]
pub(crate) struct HotCounters {
    /// Time up to which queue lengths have been counted.
    until: Time,
    /// Total time with exactly one packet in picoseconds.
    single: u64,
    served: u64,
    served_bytes: u64,
}

impl HotCounters {
    /// Records that the queue held `packets` packets from the last call until `now`.
    #[inline]
    pub(crate) fn length_until(&mut self, now: Time, packets: u32, meter: &mut LinkMeter) {
        let span = now.since(self.until).picos();
        self.until = now;
        match packets {
            0 => {}
            1 => self.single += span,
            _ => meter.add_length(packets, span),
        }
    }

    /// Records a packet that has been served; `wait`: its queueing delay.
    #[inline]
    pub(crate) fn served(&mut self, bytes: u32, wait: Span, meter: &mut LinkMeter) {
        self.served += 1;
        self.served_bytes += u64::from(bytes);
        if !wait.is_zero() {
            meter.add_wait(wait);
        }
    }

    pub(crate) fn until(&self) -> Time {
        self.until
    }

    #[inline]
    pub(crate) fn served_bytes(&self) -> u64 {
        self.served_bytes
    }

    /// All counters of a link that now holds `queued` packets.
    #[inline]
    pub(crate) fn counters(&self, queued: u32, losses: &LossCounters, foreign_headers: u64) -> LinkCounters {
        LinkCounters {
            arrivals: self.served + u64::from(queued) + losses.buffer + losses.law,
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

/// Counters of losses and marks, which few packets change.
#[derive(Debug, Default)]
pub(crate) struct LossCounters {
    pub(crate) buffer: u64,
    pub(crate) law: u64,
    pub(crate) wire: u64,
    pub(crate) marks: u64,
}

/// Shorter queue lengths are counted in a list, longer ones in a histogram.
const EXACT_LENGTHS: u32 = 1 << 16;

/// The part of the statistics that few packets change.
#[derive(Debug)]
pub(crate) struct LinkMeter {
    pub(crate) losses: LossCounters,
    /// Counters at the start of the measurement; none if they were zero.
    before: Option<Box<LinkCounters>>,
    from: Time,
    /// Time at each queue length of two or more below [`EXACT_LENGTHS`], in picoseconds.
    exact_lengths: Vec<u64>,
    /// Time at greater queue lengths; none so far.
    lengths: Option<Box<Histogram>>,
    /// Sum of queue length times duration over all of them, in packet-picoseconds.
    queue_time: u128,
    /// Queueing delays above zero.
    waits: Histogram,
    interval_served: u64,
    interval_waits: Span,
    interval_max: Span,
}

impl Default for LinkMeter {
    fn default() -> Self {
        Self {
            losses: LossCounters::default(),
            before: None,
            from: Time::ZERO,
            exact_lengths: Vec::new(),
            lengths: None,
            queue_time: 0,
            waits: Histogram::of_delays(),
            interval_served: 0,
            interval_waits: Span::ZERO,
            interval_max: Span::ZERO,
        }
    }
}

impl LinkMeter {
    /// Records time with two or more packets, which is rare on most links.
    #[inline(never)]
    fn add_length(&mut self, packets: u32, span: u64) {
        self.queue_time += u128::from(packets) * u128::from(span);
        match self.exact_lengths.get_mut(packets as usize) {
            Some(time) => *time += span,
            None => self.add_new_length(packets, span),
        }
    }

    /// As [`Self::add_length`] for a length greater than all before.
    #[cold]
    fn add_new_length(&mut self, packets: u32, span: u64) {
        if packets >= EXACT_LENGTHS {
            return self.lengths.get_or_insert_default().add(packets.into(), span);
        }
        self.exact_lengths.resize(packets as usize + 1, 0);
        self.exact_lengths[packets as usize] = span;
    }

    #[inline(never)]
    fn add_wait(&mut self, wait: Span) {
        self.waits.add(wait.picos(), 1);
        self.interval_waits += wait;
        self.interval_max = self.interval_max.max(wait);
    }

    /// Starts the measurement; `total`: counters now.
    pub(crate) fn start_measuring(&mut self, now: Time, total: LinkCounters, hot: &mut HotCounters) {
        let losses = std::mem::take(&mut self.losses);
        let before = (total != LinkCounters::default()).then(|| Box::new(total));
        *self = Self { losses, before, from: now, ..Self::default() };
        hot.single = 0;
        self.start_interval(hot);
    }

    pub(crate) fn start_interval(&mut self, hot: &HotCounters) {
        self.interval_served = hot.served;
        (self.interval_waits, self.interval_max) = (Span::ZERO, Span::ZERO);
    }

    #[inline]
    pub(crate) fn interval(&self, hot: &HotCounters) -> IntervalDelay {
        let packets = hot.served - self.interval_served;
        IntervalDelay { packets, mean: self.interval_waits / packets, max: self.interval_max }
    }

    pub(crate) fn before(&self) -> LinkCounters {
        self.before.as_deref().copied().unwrap_or_default()
    }

    pub(crate) fn from(&self) -> Time {
        self.from
    }

    /// Time at each queue length in picoseconds.
    pub(crate) fn lengths(&self, hot: &HotCounters) -> Histogram {
        let mut lengths = self.lengths.as_deref().cloned().unwrap_or_default();
        lengths.add(1, hot.single);
        let (exact, longest) =
            (self.exact_lengths.iter().zip(0..), self.exact_lengths.len().saturating_sub(1));
        // The longest one counts as maximum even if it lasted no time.
        let counted = exact.filter(|(time, length)| **time > 0 || *length == longest as u64);
        counted.for_each(|(time, length)| lengths.add(length, *time));
        lengths.add(0, hot.until.since(self.from).picos() - lengths.total());
        lengths
    }

    /// The integral of the queue length over time in packet-picoseconds.
    #[inline]
    pub(crate) fn queue_time(&self, hot: &HotCounters) -> u128 {
        self.queue_time + u128::from(hot.single)
    }

    /// Queueing delays of all packets served, in picoseconds.
    pub(crate) fn waits(&self, hot: &HotCounters) -> Histogram {
        let mut waits = self.waits.clone();
        waits.add(0, hot.served - self.before().served - waits.total());
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three packets of 1 ms and one of 5 ms: a mean of 2 ms.
    #[test]
    fn the_mean_delay_of_two_sets_of_packets_weights_each_by_its_packets() {
        let delay = |packets, mean, max| IntervalDelay {
            packets,
            mean: Span::from_millis(mean),
            max: Span::from_millis(max),
        };
        assert_eq!(delay(3, 1, 2).plus(delay(1, 5, 5)), delay(4, 2, 5));
        assert_eq!(IntervalDelay::default().plus(delay(2, 3, 4)), delay(2, 3, 4));
    }
}
