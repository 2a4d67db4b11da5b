//! The receiver of a loop.

mod acknowledge;

use crate::arrivals::{Arrival, Arrivals};
use crate::range_set::RangeSet;
use crate::{ACK_BYTES, Acknowledgement, Segment};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use millpond_law::{Context, Data, Echo, Ecn, Random, Receiver, RelayView};
use millpond_units::{Bytes, Span, Time};

/// When and how a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Number of data packets per acknowledgement; 1 acknowledges each at once.
    pub packets_per_ack: u32,
    /// Gaps, duplicates and marks are acknowledged at once.
    pub urgent: bool,
    /// Upper bound of the delay of an acknowledgement (max_ack_delay of RFC 9000).
    pub max_ack_delay: Span,
    /// Size of an acknowledgement on the wire.
    pub ack_size: Bytes,
    /// Whether acknowledgements say what has arrived.
    pub honesty: Honesty,
}

/// Whether a receiver reports what has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Honesty {
    /// It does.
    #[default]
    Honest,
    /// It never reports a CE mark.
    HidesMarks,
    /// It reports no gaps, and also this many packets after the newest that has arrived (optimistic acknowledgements).
    AcksEarly(u32),
}

impl Default for ReceiverConfig {
    /// One acknowledgement of 40 bytes for each packet.
    fn default() -> Self {
        Self {
            packets_per_ack: 1,
            urgent: true,
            max_ack_delay: Span::ZERO,
            ack_size: Bytes::new(ACK_BYTES as u64),
            honesty: Honesty::Honest,
        }
    }
}

/// Counters of a receiver since the loop began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Data packets that arrived.
    pub packets: u64,
    /// Bytes of the stream delivered, each counted once.
    pub delivered: u64,
    /// Packets with a CE mark.
    pub marked_packets: u64,
    /// Bytes on the wire of packets with a CE mark.
    pub marked_bytes: u64,
    /// Packets whose ECN field was zero, each counted once.
    pub not_ect_packets: u64,
    /// Packets that carried stream data, none of it new.
    pub duplicates: u64,
    /// Acknowledgements sent.
    pub acks: u64,
}

/// Result of receiving a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes of stream data that arrived for the first time.
    pub new_bytes: u64,
    /// True if it carried stream data, none of it new.
    pub duplicate: bool,
    /// True if the packet is to be acknowledged at once, by [`ReceiverEnd::acknowledge_into`].
    pub ack_due: bool,
}

/// Receive state of one stream.
#[derive(Clone, Debug)]
struct ReceiveStream {
    received: RangeSet,
    delivered: u64,
    total: Option<u64>,
    credit: u64,
    advertised_credit: u64,
}

impl Default for ReceiveStream {
    fn default() -> Self {
        Self {
            received: RangeSet::default(),
            delivered: 0,
            total: None,
            credit: u64::MAX,
            advertised_credit: u64::MAX,
        }
    }
}

/// The receiver of a loop.
pub struct ReceiverEnd {
    config: ReceiverConfig,
    law: Box<dyn Receiver>,
    random: Random,
    arrivals: Arrivals,
    /// Stream 0, in most loops the only one.
    first_stream: ReceiveStream,
    /// The other streams of a shared loop.
    other_streams: Vec<ReceiveStream>,
    /// The stream whose credit was last advertised in rotation.
    advertised_last: u16,
    echo: Echo,
    unacknowledged: u32,
    due: Time,
    counters: ReceiverCounters,
}

impl ReceiverEnd {
    /// A receiver that has received nothing.
    pub fn new(config: ReceiverConfig, law: Box<dyn Receiver>, random: Random) -> Self {
        Self {
            config,
            law,
            random,
            arrivals: Arrivals::default(),
            first_stream: ReceiveStream::default(),
            other_streams: Vec::new(),
            advertised_last: 0,
            echo: Echo::default(),
            unacknowledged: 0,
            due: Time::NEVER,
            counters: ReceiverCounters::default(),
        }
    }

    /// A receiver of a loop that `streams` flows share.
    pub fn with_streams(
        config: ReceiverConfig,
        streams: u16,
        law: Box<dyn Receiver>,
        random: Random,
    ) -> Self {
        let other_streams = vec![ReceiveStream::default(); usize::from(streams.saturating_sub(1))];
        Self { other_streams, ..Self::new(config, law, random) }
    }

    #[inline]
    fn receive_stream(&self, stream_id: u16) -> &ReceiveStream {
        let other =
            || self.other_streams.get(usize::from(stream_id).wrapping_sub(1)).unwrap_or(&self.first_stream);
        if self.other_streams.is_empty() { &self.first_stream } else { other() }
    }

    #[inline]
    fn receive_stream_mut(&mut self, stream_id: u16) -> &mut ReceiveStream {
        if self.other_streams.is_empty() { &mut self.first_stream } else { self.other_stream_mut(stream_id) }
    }

    #[inline(never)]
    fn other_stream_mut(&mut self, stream_id: u16) -> &mut ReceiveStream {
        let other = usize::from(stream_id).checked_sub(1).and_then(|index| self.other_streams.get_mut(index));
        other.unwrap_or(&mut self.first_stream)
    }

    /// Processes a data packet; `relay`: state of the next loop, if this receiver is the sink of a relay.
    #[inline]
    pub fn on_data(&mut self, now: Time, segment: &Segment, relay: Option<&RelayView>) -> Received {
        self.receive(now, segment, relay, |_| {})
    }

    /// As [`Self::on_data`]; calls `fresh` for each range of the stream that is new.
    #[inline(always)]
    pub(crate) fn receive(
        &mut self,
        now: Time,
        segment: &Segment,
        relay: Option<&RelayView>,
        mut fresh: impl FnMut(Range<u64>),
    ) -> Received {
        let mut new = 0;
        let stream = self.receive_stream_mut(segment.stream_id);
        let end = segment.offset.saturating_add(segment.payload.into());
        stream.received.insert(segment.offset..end, |range| {
            new += range.end - range.start;
            fresh(range);
        });
        stream.delivered += new;
        if segment.last {
            stream.total = Some(end);
        }
        let (new_bytes, duplicate) = (new, new == 0 && segment.payload > 0);
        self.counters.delivered += new_bytes;
        self.counters.packets += 1;
        self.counters.duplicates += u64::from(duplicate);
        let data = Data { bytes: Bytes::new(segment.bytes.into()), ecn: segment.ecn, header: segment.header };
        self.echo.mark = false;
        self.law.on_data(&mut Context { now, random: &mut self.random }, &data, relay, &mut self.echo);
        let in_order = self.record_arrival(now, segment);
        let urgent = (!in_order || duplicate) && self.config.urgent || segment.last || segment.payload == 0;
        Received { new_bytes, duplicate, ack_due: self.is_ack_due(now, urgent) }
    }

    /// Whether the law has feedback that does not wait for data: that of a loop with one flow.
    #[inline]
    pub(crate) fn sends_updates(&self) -> bool {
        self.other_streams.is_empty() && self.law.sends_updates()
    }

    /// Renews the feedback after data left the relay. Returns true if it is to be sent at once.
    pub(crate) fn update_feedback(&mut self, relay: &RelayView) -> bool {
        self.law.on_relay_departure(relay, &mut self.echo)
    }

    /// When [`Self::on_deadline`] must be called; [`Time::NEVER`] if no acknowledgement is delayed.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// The delayed acknowledgement, if it is due.
    pub fn on_deadline(&mut self, now: Time) -> Option<Acknowledgement> {
        (self.due <= now).then(|| self.acknowledge(now, 0, None))
    }

    /// Sets the credit of a stream: how many bytes of it the sender may send in all. It is advertised with the next
    /// acknowledgement that carries the credit of this stream.
    #[inline]
    pub(crate) fn set_credit(&mut self, stream_id: u16, credit: u64) {
        self.receive_stream_mut(stream_id).credit = credit;
    }

    /// The credit of a stream that was last advertised, in bytes.
    #[inline]
    pub(crate) fn advertised_credit(&self, stream_id: u16) -> u64 {
        self.receive_stream(stream_id).advertised_credit
    }

    /// Bytes of a stream that have arrived, each counted once.
    #[inline]
    pub fn delivered_of(&self, stream_id: u16) -> u64 {
        self.receive_stream(stream_id).delivered
    }

    /// The number of bytes at the beginning of a stream that have all arrived.
    #[inline]
    pub fn prefix_of(&self, stream_id: u16) -> u64 {
        self.receive_stream(stream_id).received.prefix()
    }

    /// True if every byte of a stream with a known end has arrived.
    #[inline]
    pub fn is_complete_of(&self, stream_id: u16) -> bool {
        let stream = self.receive_stream(stream_id);
        stream.total == Some(stream.delivered)
    }

    /// True if every byte of stream 0 has arrived and its end is known.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.is_complete_of(0)
    }

    /// Number of headers that the law could not parse.
    pub fn unread(&self) -> u64 {
        self.law.unread()
    }

    /// Counters since the loop began.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// Records packet number and ECN field. Returns true if the packet is the expected one and has no mark.
    #[inline]
    fn record_arrival(&mut self, now: Time, segment: &Segment) -> bool {
        let Arrival { is_new, in_order } = self.arrivals.on_arrival(now, segment.number, segment.floor);
        let marked = segment.ecn == Ecn::Ce || self.echo.mark;
        if is_new && marked {
            self.counters.marked_packets += 1;
            self.counters.marked_bytes += u64::from(segment.bytes);
        }
        self.counters.not_ect_packets += u64::from(is_new && !segment.ecn.is_capable());
        in_order && !marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::{Header, PlainReceiver};

    const LONG: Span = Span::from_millis(25);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A receiver that acknowledges every fourth packet, or after 25 ms.
    fn delaying_receiver() -> ReceiverEnd {
        let config = ReceiverConfig { packets_per_ack: 4, max_ack_delay: LONG, ..ReceiverConfig::default() };
        ReceiverEnd::new(config, Box::new(PlainReceiver), Random::stream(1, "receiver"))
    }

    /// The acknowledgement that the receiver sends at once when a packet arrives.
    fn receive(receiver: &mut ReceiverEnd, now: Time, segment: &Segment) -> Option<Acknowledgement> {
        let due = receiver.on_data(now, segment, None).ack_due;
        due.then(|| receiver.acknowledge(now, segment.stream_id, Some(segment.number)))
    }

    fn packet(number: u64) -> Segment {
        Segment {
            number,
            floor: 0,
            offset: number * 1000,
            payload: 1000,
            bytes: 1000,
            sent_at: Time::ZERO,
            origin_time: Time::ZERO,
            queueing: Span::ZERO,
            ecn: Ecn::Ect0,
            last: false,
            stream_id: 0,
            marked_upstream: false,
            header: Header::NONE,
        }
    }

    #[test]
    fn every_fourth_packet_is_acknowledged_or_one_after_the_maximum_delay() {
        let mut receiver = delaying_receiver();
        let acks: Vec<_> = (0..8).map(|n| receive(&mut receiver, at(n), &packet(n)).is_some()).collect();
        assert_eq!(acks, [false, false, false, true, false, false, false, true]);
        assert_eq!(receiver.deadline(), Time::NEVER);
        receiver.on_data(at(10), &packet(8), None);
        receiver.on_data(at(20), &packet(9), None);
        assert_eq!(receiver.deadline(), at(10) + LONG);
        assert!(receiver.on_deadline(at(34)).is_none());
        let ack = receiver.on_deadline(at(35)).unwrap();
        assert_eq!((ack.ranges.largest(), ack.delay), (Some(9), Span::from_millis(15)));
        assert_eq!(receiver.deadline(), Time::NEVER);
    }

    #[test]
    fn gaps_duplicates_marks_ends_and_probes_are_acknowledged_at_once() {
        let after_one = |segment: Segment| {
            let mut receiver = delaying_receiver();
            receiver.on_data(at(0), &packet(0), None);
            receive(&mut receiver, at(1), &segment).is_some()
        };
        assert!(!after_one(packet(1)));
        assert!(after_one(packet(2)), "a gap");
        assert!(after_one(packet(0)), "a duplicate");
        assert!(after_one(Segment { ecn: Ecn::Ce, ..packet(1) }), "a mark");
        assert!(after_one(Segment { last: true, ..packet(1) }), "the end");
        assert!(after_one(Segment { payload: 0, ..packet(1) }), "a probe");
    }

    #[test]
    fn thinned_acknowledgements_wait_in_spite_of_gaps_and_marks() {
        let config = ReceiverConfig {
            packets_per_ack: 4,
            max_ack_delay: LONG,
            urgent: false,
            ..ReceiverConfig::default()
        };
        let mut receiver = ReceiverEnd::new(config, Box::new(PlainReceiver), Random::stream(1, "receiver"));
        let mut acked = |segment: Segment| receive(&mut receiver, at(0), &segment).is_some();
        let marked = Segment { ecn: Ecn::Ce, ..packet(3) };
        assert_eq!([packet(0), packet(2), marked, packet(4)].map(&mut acked), [false, false, false, true]);
        assert!(acked(Segment { last: true, ..packet(5) }) && acked(Segment { payload: 0, ..packet(6) }));
    }

    #[test]
    fn bytes_are_counted_once_and_marks_once_per_packet() {
        let mut receiver = delaying_receiver();
        let marked = Segment { ecn: Ecn::Ce, ..packet(0) };
        let first = receiver.on_data(at(0), &marked, None);
        assert_eq!((first.new_bytes, first.duplicate), (1000, false));
        // The same packet again, then its bytes and the next 500 with a new packet number.
        let second = receiver.on_data(at(1), &marked, None);
        assert_eq!((second.new_bytes, second.duplicate), (0, true));
        let longer = Segment { number: 1, payload: 1500, ..marked };
        assert_eq!(receiver.on_data(at(2), &longer, None).new_bytes, 500);
        let counters = receiver.counters();
        assert_eq!((counters.packets, counters.delivered, counters.duplicates), (3, 1500, 1));
        assert_eq!((counters.marked_packets, counters.marked_bytes), (2, 2000));
    }

    #[test]
    fn a_receiver_that_hides_marks_counts_them_and_reports_none() {
        let config = ReceiverConfig { honesty: Honesty::HidesMarks, ..ReceiverConfig::default() };
        let mut receiver = ReceiverEnd::new(config, Box::new(PlainReceiver), Random::stream(1, "receiver"));
        let ack = receive(&mut receiver, at(0), &Segment { ecn: Ecn::Ce, ..packet(0) }).unwrap();
        assert_eq!((ack.ce_packets, ack.ce_bytes, receiver.counters().marked_packets), (0, 0, 1));
    }

    #[test]
    fn a_receiver_that_acknowledges_early_reports_no_gap_and_packets_that_have_not_arrived() {
        let config = ReceiverConfig { honesty: Honesty::AcksEarly(5), ..ReceiverConfig::default() };
        let mut receiver = ReceiverEnd::new(config, Box::new(PlainReceiver), Random::stream(1, "receiver"));
        receiver.on_data(at(0), &packet(0), None);
        let ack = receive(&mut receiver, at(1), &packet(3)).unwrap();
        assert_eq!(ack.ranges.iter().collect::<Vec<_>>(), [0..=8]);
    }

    #[test]
    fn a_stream_is_complete_when_its_end_is_known_and_all_bytes_have_arrived() {
        let mut receiver = delaying_receiver();
        receiver.on_data(at(0), &Segment { last: true, ..packet(1) }, None);
        assert!(!receiver.is_complete());
        receiver.on_data(at(1), &packet(0), None);
        assert!(receiver.is_complete());
    }
}
