//! Statistics at the two ends of a loop and of a flow.

use millpond_endpoint::{ReceiverEnd, SenderEnd};
use millpond_stats::Histogram;
use millpond_units::Span;

/// Counters of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopCounters {
    /// Packets sent, retransmissions and probes included.
    pub sent: u64,
    /// Bytes on the wire of these packets.
    pub sent_bytes: u64,
    /// Packets sent with data that had been sent before.
    pub retransmitted: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Data packets that arrived.
    pub arrived: u64,
    /// Data packets that arrived with a CE mark.
    pub marked: u64,
    /// Bytes of the stream that arrived, each counted once.
    pub delivered_bytes: u64,
    /// Headers that the laws of its two ends could not parse.
    pub unread_headers: u64,
}

impl LoopCounters {
    pub(crate) fn of(sender: &SenderEnd, receiver: &ReceiverEnd) -> Self {
        let unread_headers = sender.unread() + receiver.unread();
        let (sender, receiver) = (sender.counters(), receiver.counters());
        Self {
            unread_headers,
            sent: sender.sent_packets,
            sent_bytes: sender.sent_bytes,
            retransmitted: sender.retransmitted_packets,
            lost: sender.lost_packets,
            arrived: receiver.packets,
            marked: receiver.marked_packets,
            delivered_bytes: receiver.delivered,
        }
    }

    /// The sum of the counters of two loops.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            retransmitted: self.retransmitted + other.retransmitted,
            lost: self.lost + other.lost,
            arrived: self.arrived + other.arrived,
            marked: self.marked + other.marked,
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            unread_headers: self.unread_headers + other.unread_headers,
        }
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            sent_bytes: self.sent_bytes - before.sent_bytes,
            retransmitted: self.retransmitted - before.retransmitted,
            lost: self.lost - before.lost,
            arrived: self.arrived - before.arrived,
            marked: self.marked - before.marked,
            delivered_bytes: self.delivered_bytes - before.delivered_bytes,
            unread_headers: self.unread_headers - before.unread_headers,
        }
    }
}

/// Statistics at a sender.
#[derive(Debug)]
pub(crate) struct SendingMeter {
    pub(crate) rtt: Histogram,
}

impl Default for SendingMeter {
    fn default() -> Self {
        Self { rtt: Histogram::of_delays() }
    }
}

/// Statistics at the destination of a flow.
#[derive(Debug)]
pub(crate) struct ArrivalMeter {
    /// Queueing delay of each packet in links and relays since its first transmission by the source.
    pub(crate) queueing: Histogram,
    /// Time from the first transmission of its data by the source to the arrival of each packet.
    pub(crate) one_way: Histogram,
    /// Bytes of the flow that had arrived at the start of the measurement.
    pub(crate) before: u64,
    interval_packets: u64,
    interval_queueing: Span,
    interval_max: Span,
}

impl Default for ArrivalMeter {
    fn default() -> Self {
        Self {
            queueing: Histogram::of_delays(),
            one_way: Histogram::of_delays(),
            before: 0,
            interval_packets: 0,
            interval_queueing: Span::ZERO,
            interval_max: Span::ZERO,
        }
    }
}

impl ArrivalMeter {
    /// Empty statistics that start when `before` bytes have arrived.
    pub(crate) fn since(before: u64) -> Self {
        Self { before, ..Self::default() }
    }

    #[inline]
    pub(crate) fn delivered(&mut self, queueing: Span, one_way: Span) {
        self.queueing.add(queueing.picos(), 1);
        self.one_way.add(one_way.picos(), 1);
        self.interval_packets += 1;
        self.interval_queueing += queueing;
        if queueing > self.interval_max {
            self.interval_max = queueing;
        }
    }

    /// Adds the statistics of another one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.queueing.merge(&other.queueing);
        self.one_way.merge(&other.one_way);
        self.interval_packets += other.interval_packets;
        self.interval_queueing += other.interval_queueing;
        self.interval_max = self.interval_max.max(other.interval_max);
    }

    pub(crate) fn start_interval(&mut self) {
        (self.interval_packets, self.interval_queueing, self.interval_max) = (0, Span::ZERO, Span::ZERO);
    }

    #[inline]
    pub(crate) fn interval(&self) -> super::IntervalDelay {
        let packets = self.interval_packets;
        super::IntervalDelay { packets, mean: self.interval_queueing / packets, max: self.interval_max }
    }
}
