//! When a receiver acknowledges, and what its acknowledgements contain.

use super::{Honesty, ReceiverEnd};
use crate::{AckRanges, Acknowledgement, Frame};
use millpond_units::Time;

impl ReceiverEnd {
    /// Counts a packet that has arrived. Returns true if it is to be acknowledged at once: every `packets_per_ack` packets,
    /// and where RFC 9000, section 13.2.1, asks for it: gaps, duplicates, marks, the end of the stream, probes.
    #[inline(always)]
    pub(super) fn is_ack_due(&mut self, now: Time, urgent: bool) -> bool {
        self.unacknowledged += 1;
        let is_due = urgent || self.unacknowledged >= self.config.packets_per_ack;
        if !is_due && self.unacknowledged == 1 {
            self.due = now + self.config.max_ack_delay;
        }
        is_due
    }

    /// Writes the acknowledgement of packet `number`, which belongs to this stream, to `frame`; it is not copied. The range of
    /// the packet is included even if it is not among the newest.
    #[inline(always)]
    pub fn acknowledge_into(&mut self, now: Time, stream_id: u16, number: u64, frame: &mut Frame) {
        let (stream_id, credit) = self.advertise(stream_id, true);
        *frame = Frame::Ack(self.report(now, stream_id, credit, Some(number)));
        if self.config.honesty != Honesty::Honest
            && let Frame::Ack(ack) = frame
        {
            self.falsify(ack);
        }
    }

    /// The acknowledgement to send now. The range of packet `acked` is included even if it is not among the newest.
    pub(crate) fn acknowledge(&mut self, now: Time, stream_id: u16, acked: Option<u64>) -> Acknowledgement {
        let (stream_id, credit) = self.advertise(stream_id, acked.is_some());
        let mut ack = self.report(now, stream_id, credit, acked);
        if self.config.honesty != Honesty::Honest {
            self.falsify(&mut ack);
        }
        ack
    }

    /// Begins an acknowledgement. Returns the stream whose credit it advertises, and that credit in bytes.
    #[inline(always)]
    fn advertise(&mut self, stream_id: u16, acknowledges_packets: bool) -> (u16, u64) {
        self.unacknowledged = 0;
        self.due = Time::NEVER;
        let (stream_id, stream) = match self.other_streams.is_empty() {
            true => (0, &mut self.first_stream),
            false => {
                let stream_id = self.stream_to_advertise(stream_id, acknowledges_packets);
                (stream_id, self.other_stream_mut(stream_id))
            }
        };
        stream.advertised_credit = stream.credit;
        let credit = stream.credit;
        self.counters.acks += 1;
        (stream_id, credit)
    }

    /// An acknowledgement of what has arrived.
    #[inline(always)]
    fn report(&mut self, now: Time, stream_id: u16, credit: u64, acked: Option<u64>) -> Acknowledgement {
        Acknowledgement {
            ranges: self.arrivals.ranges(acked),
            delay: now.since(self.arrivals.newest_at()),
            ce_packets: self.counters.marked_packets as u32,
            not_ect_packets: self.counters.not_ect_packets as u32,
            ce_bytes: self.counters.marked_bytes,
            credit,
            stream_id,
            bytes: u32::try_from(self.config.ack_size.get()).unwrap_or(u32::MAX),
            echo: self.echo.header,
        }
    }

    /// Changes an acknowledgement to what a dishonest receiver reports.
    #[cold]
    #[inline(never)]
    fn falsify(&self, ack: &mut Acknowledgement) {
        match self.config.honesty {
            Honesty::Honest => {}
            Honesty::HidesMarks => (ack.ce_packets, ack.ce_bytes) = (0, 0),
            Honesty::AcksEarly(packets) => {
                if let (Some(newest), Some(oldest)) = (ack.ranges.largest(), ack.ranges.iter().last()) {
                    let largest = newest.saturating_add(packets.into());
                    ack.ranges = AckRanges::single(*oldest.start()..=largest);
                }
            }
        }
    }

    /// The stream whose credit is advertised. Every second acknowledgement of packets advertises the next stream in
    /// rotation, so that a lost advertisement is repeated as long as packets arrive.
    fn stream_to_advertise(&mut self, stream_id: u16, acknowledges_packets: bool) -> u16 {
        if !acknowledges_packets || self.counters.acks.is_multiple_of(2) {
            return stream_id;
        }
        self.advertised_last = (self.advertised_last + 1) % (self.other_streams.len() as u16 + 1);
        self.advertised_last
    }
}
