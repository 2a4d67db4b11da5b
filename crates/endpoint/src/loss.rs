//! Loss detection: RFC 9002, section 6.1.

use crate::LossThreshold;
use crate::rate::SendStamp;
use crate::sent::{PacketState, Record, SentRing};
use millpond_units::{Bytes, Span, Time};

/// A packet that is declared lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostRecord {
    /// Its packet number.
    pub(crate) number: u64,
    /// Its record.
    pub(crate) record: Record,
    /// Why it is declared lost.
    pub(crate) threshold: LossThreshold,
    /// Its stamp.
    pub(crate) stamp: SendStamp,
    /// All bytes declared lost so far, itself included.
    pub(crate) lost: Bytes,
}

/// Declares packets lost by packet threshold and time threshold, relative to the largest acknowledged packet.
#[derive(Clone, Debug)]
pub(crate) struct LossDetector {
    packet_threshold: u64,
    /// One more than the largest packet number acknowledged; zero before the first.
    acked_end: u64,
    /// No packet below this number is in flight.
    open: u64,
    /// All bytes declared lost.
    lost: Bytes,
    /// When the time threshold of the next packet expires; [`Time::NEVER`] if no packet is older than an acknowledged one.
    due: Time,
}

impl LossDetector {
    /// A packet is lost if a packet with a number larger by `packet_threshold` was acknowledged (kPacketThreshold).
    pub(crate) fn new(packet_threshold: u64) -> Self {
        Self { packet_threshold, acked_end: 0, open: 0, lost: Bytes::ZERO, due: Time::NEVER }
    }

    /// The largest packet number acknowledged.
    #[inline]
    pub(crate) fn largest_acked(&self) -> Option<u64> {
        self.acked_end.checked_sub(1)
    }

    /// True if no packet from this number on was acknowledged.
    #[inline]
    pub(crate) fn is_beyond_acked(&self, number: u64) -> bool {
        number >= self.acked_end
    }

    /// All bytes declared lost so far, counted on the wire.
    #[inline]
    pub(crate) fn lost(&self) -> Bytes {
        self.lost
    }

    /// When [`Self::detect`] must be called again even without an acknowledgement.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// Records that a packet was acknowledged.
    #[inline]
    pub(crate) fn on_acked(&mut self, number: u64) {
        self.acked_end = self.acked_end.max(number.saturating_add(1));
    }

    /// Stops the time threshold if no packet in flight is older than an acknowledged one: none can be declared lost. Returns true if it
    /// has.
    #[inline]
    pub(crate) fn stop_if_settled(&mut self, sent: &SentRing) -> bool {
        let settled = sent.base() >= self.acked_end.saturating_sub(1);
        if settled {
            self.due = Time::NEVER;
        }
        settled
    }

    /// Declares packets lost and calls `lost` with each (RFC 9002, appendix A.10).
    #[inline]
    pub(crate) fn detect(
        &mut self,
        sent: &mut SentRing,
        now: Time,
        loss_delay: Span,
        lost: impl FnMut(&LostRecord),
    ) {
        self.due = Time::NEVER;
        if let Some(largest_acked) = self.largest_acked().filter(|largest_acked| sent.base() < *largest_acked)
        {
            self.scan(sent, largest_acked, now, loss_delay, lost);
        }
    }

    /// Examines the packets from `open` to the largest acknowledged. Afterwards all of them in flight are within the
    /// packet threshold of the largest acknowledged, so that each packet is examined only a few times, however many are
    /// in flight.
    #[inline(never)]
    fn scan(
        &mut self,
        sent: &mut SentRing,
        largest_acked: u64,
        now: Time,
        loss_delay: Span,
        mut lost: impl FnMut(&LostRecord),
    ) {
        let mut open = None;
        for number in self.open.max(sent.base())..largest_acked {
            let Some(record) = sent.get(number).filter(|record| record.state == PacketState::InFlight) else {
                continue;
            };
            let due = record.sent_at + loss_delay;
            let too_far = largest_acked - number >= self.packet_threshold;
            if too_far || due <= now {
                let Some(record) = sent.declare_lost(number) else { continue };
                self.lost += Bytes::new(record.bytes.into());
                let threshold = if too_far { LossThreshold::Packets } else { LossThreshold::Time };
                lost(&LostRecord { number, record, threshold, stamp: sent.stamp(number), lost: self.lost });
            } else {
                open.get_or_insert(number);
                self.due = self.due.min(due);
            }
        }
        self.open = open.unwrap_or(largest_acked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sent::StreamData;

    const DELAY: Span = Span::from_millis(90);

    /// Packets 0, 1, 2, ... sent a millisecond apart.
    fn sent(packets: u64) -> SentRing {
        let mut ring = SentRing::default();
        for number in 0..packets {
            ring.push(Record {
                data: StreamData { payload: 1, ..StreamData::NONE },
                bytes: 1,
                sent_at: at(number),
                delivered: Bytes::ZERO,
                retransmission: None,
                state: PacketState::InFlight,
                redundant: false,
                app_limited: false,
            });
        }
        ring
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn detect(detector: &mut LossDetector, ring: &mut SentRing, now: Time) -> Vec<u64> {
        let mut lost = Vec::new();
        detector.detect(ring, now, DELAY, |packet| lost.push(packet.number));
        lost
    }

    fn acknowledge(detector: &mut LossDetector, ring: &mut SentRing, number: u64) {
        ring.acknowledge(number);
        detector.on_acked(number);
    }

    #[test]
    fn a_packet_three_numbers_behind_is_lost_and_two_is_not() {
        let (mut detector, mut ring) = (LossDetector::new(3), sent(10));
        acknowledge(&mut detector, &mut ring, 4);
        assert_eq!(detect(&mut detector, &mut ring, at(10)), [0, 1]);
        assert_eq!(detector.due(), at(2) + DELAY);
        acknowledge(&mut detector, &mut ring, 6);
        assert_eq!(detect(&mut detector, &mut ring, at(10)), [2, 3]);
        assert_eq!(detector.due(), at(5) + DELAY);
    }

    #[test]
    fn within_the_packet_threshold_the_time_threshold_decides() {
        let (mut detector, mut ring) = (LossDetector::new(3), sent(3));
        acknowledge(&mut detector, &mut ring, 2);
        assert_eq!(detect(&mut detector, &mut ring, at(80)), []);
        assert_eq!(detector.due(), at(90));
        assert_eq!(detect(&mut detector, &mut ring, at(90)), [0]);
        assert_eq!(detector.due(), at(91));
        assert_eq!(detect(&mut detector, &mut ring, at(91)), [1]);
        assert_eq!(detector.due(), Time::NEVER);
    }

    #[test]
    fn no_packet_above_the_largest_acknowledged_is_lost() {
        let (mut detector, mut ring) = (LossDetector::new(3), sent(10));
        assert_eq!(detect(&mut detector, &mut ring, at(100_000)), []);
        acknowledge(&mut detector, &mut ring, 0);
        assert_eq!(detect(&mut detector, &mut ring, at(100_000)), []);
        assert_eq!(detector.due(), Time::NEVER);
    }

    #[test]
    fn a_late_ack_of_a_packet_above_a_gap_does_not_hide_the_gap() {
        let (mut detector, mut ring) = (LossDetector::new(3), sent(10));
        acknowledge(&mut detector, &mut ring, 2);
        assert_eq!(detect(&mut detector, &mut ring, at(10)), []);
        acknowledge(&mut detector, &mut ring, 1);
        assert_eq!(detect(&mut detector, &mut ring, at(10)), []);
        acknowledge(&mut detector, &mut ring, 3);
        assert_eq!(detect(&mut detector, &mut ring, at(10)), [0]);
    }
}
