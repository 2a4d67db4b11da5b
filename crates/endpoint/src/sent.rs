//! Packets sent and not yet settled: a ring of records, indexed by packet number.

use crate::rate::SendStamp;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use millpond_units::{Bytes, Span, Time};

/// State of a sent packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketState {
    /// Neither acknowledged nor declared lost.
    InFlight,
    /// Acknowledged.
    Acked,
    /// Declared lost; its data waits for retransmission unless another packet carries it.
    Lost,
}

/// The stream data of a packet, as first sent and as retransmitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StreamData {
    /// Offset of its first byte in the stream.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) payload: u32,
    /// True if the stream ends with it.
    pub(crate) last: bool,
    /// Its stream among those that share the loop; 0 in a loop of one flow.
    pub(crate) stream_id: u16,
    /// True if it had a CE mark in an earlier loop.
    pub(crate) marked: bool,
    /// When the first sender of the flow first sent it.
    pub(crate) origin_time: Time,
    /// Its queueing delay before this loop sent it.
    pub(crate) queueing: Span,
}

impl StreamData {
    /// Empty data of stream 0 without any delay.
    pub(crate) const NONE: Self = Self {
        offset: 0,
        payload: 0,
        last: false,
        stream_id: 0,
        marked: false,
        origin_time: Time::ZERO,
        queueing: Span::ZERO,
    };
}

/// A sent packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Record {
    /// Its stream data.
    pub(crate) data: StreamData,
    /// Size on the wire in bytes.
    pub(crate) bytes: u32,
    /// When it was sent.
    pub(crate) sent_at: Time,
    /// All bytes delivered at that time.
    pub(crate) delivered: Bytes,
    /// The later packet that carries the same data, if there is one.
    pub(crate) retransmission: Option<NonZeroU64>,
    /// In flight, acknowledged or lost.
    pub(crate) state: PacketState,
    /// Its data was delivered by another packet, or it carries none.
    pub(crate) redundant: bool,
    /// True if the sender lacked data when it was sent.
    pub(crate) app_limited: bool,
}

/// A record is one cache line.
const _: () = assert!(size_of::<Record>() <= 64);

impl Record {
    /// What slots without a packet hold.
    const EMPTY: Self = Self {
        data: StreamData::NONE,
        bytes: 0,
        sent_at: Time::ZERO,
        delivered: Bytes::ZERO,
        retransmission: None,
        state: PacketState::Acked,
        redundant: true,
        app_limited: false,
    };

    /// True if no other packet carries or has delivered its data: its loss requires a retransmission.
    pub(crate) fn is_only_copy(&self) -> bool {
        self.retransmission.is_none() && !self.redundant
    }

    /// True if no event can change it any more, given the largest packet number acknowledged.
    fn is_settled(&self, largest_acked: u64) -> bool {
        match self.state {
            PacketState::InFlight => false,
            PacketState::Acked => true,
            PacketState::Lost => {
                self.redundant
                    || self.retransmission.is_some_and(|retransmission| retransmission.get() <= largest_acked)
            }
        }
    }
}

/// The least number of slots, unless no packet has been sent.
const LEAST_SLOTS: usize = 8;

/// The records, and the sum of their bytes in flight. Packet `number` is in slot `number` modulo the number of slots,
/// which is a power of two.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentRing {
    slots: Vec<Record>,
    /// The stamps of the same packets, in the same slots; empty unless the law needs samples.
    stamps: Vec<SendStamp>,
    base: u64,
    next: u64,
    /// In bytes. Sums do not overflow: fewer than 2^32 records, each with less than 2^32 bytes, fit into memory.
    in_flight: u64,
}

impl SentRing {
    /// Bytes in flight, counted on the wire.
    #[inline]
    pub(crate) fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }

    /// The smallest packet number that is not settled.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The number of the next packet.
    #[inline]
    pub(crate) fn next_number(&self) -> u64 {
        self.next
    }

    /// True if with this many bytes more, at most `limit` are in flight.
    #[inline]
    pub(crate) fn has_room(&self, bytes: u32, limit: Bytes) -> bool {
        self.in_flight + u64::from(bytes) <= limit.get()
    }

    /// Adds the record of the packet with number [`Self::next_number`], sent now.
    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        let mut slot = self.slot(self.next);
        let is_full = self.next - self.base == self.slots.len() as u64;
        if is_full || slot == 0 {
            self.adapt(is_full);
            slot = self.slot(self.next);
        }
        if let Some(slot_record) = self.slots.get_mut(slot) {
            *slot_record = record;
        }
        self.next += 1;
        self.in_flight += u64::from(record.bytes);
    }

    /// Leaves out the number [`Self::next_number`]: nothing is in flight under it.
    pub(crate) fn skip(&mut self, now: Time) {
        self.push(Record { sent_at: now, ..Record::EMPTY });
        if !self.stamps.is_empty() {
            self.set_stamp(SendStamp::default());
        }
    }

    /// Forgets all packets: nothing is in flight any more.
    pub(crate) fn abandon(&mut self) {
        self.base = self.next;
        self.in_flight = 0;
    }

    /// Doubles the number of slots if none is free. Halves it if at most a quarter of them is used: after its slow start, a flow
    /// has fewer packets in flight. Called when no slot is free, and once per rotation of the ring.
    #[cold]
    #[inline(never)]
    fn adapt(&mut self, is_full: bool) {
        let used = (self.next - self.base) as usize;
        if is_full {
            self.resize((self.slots.len() * 2).max(LEAST_SLOTS));
        } else if used * 4 <= self.slots.len() && self.slots.len() > LEAST_SLOTS {
            self.resize(self.slots.len() / 2);
        }
    }

    fn resize(&mut self, size: usize) {
        if !self.stamps.is_empty() {
            self.stamps = self.moved(&self.stamps, SendStamp::default(), size);
        }
        self.slots = self.moved(&self.slots, Record::EMPTY, size);
    }

    /// The values of all packets in `size` slots; slots without a packet hold `filler`.
    fn moved<T: Copy>(&self, values: &[T], filler: T, size: usize) -> Vec<T> {
        let mut moved = vec![filler; size];
        for number in self.base..self.next {
            let slot = (number & (size as u64 - 1)) as usize;
            if let (Some(to), Some(from)) = (moved.get_mut(slot), values.get(self.slot(number))) {
                *to = *from;
            }
        }
        moved
    }

    /// Stores the stamp of the packet that was sent last.
    #[inline]
    pub(crate) fn set_stamp(&mut self, stamp: SendStamp) {
        if self.stamps.is_empty() {
            self.stamps = vec![SendStamp::default(); self.slots.len()];
        }
        let slot = self.slot(self.next.wrapping_sub(1));
        if let Some(of_slot) = self.stamps.get_mut(slot) {
            *of_slot = stamp;
        }
    }

    /// The stamp of a packet that has a record.
    #[inline]
    pub(crate) fn stamp(&self, number: u64) -> SendStamp {
        self.stamps.get(self.slot(number)).copied().unwrap_or_default()
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        (number & (self.slots.len() as u64).wrapping_sub(1)) as usize
    }

    #[inline]
    fn holds(&self, number: u64) -> bool {
        (self.base..self.next).contains(&number)
    }

    /// The record of a packet; none if it is settled or was never sent.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&Record> {
        if self.holds(number) { self.slots.get(self.slot(number)) } else { None }
    }

    /// As [`Self::get`], mutable. Only [`Self::acknowledge`] and [`Self::declare_lost`] change the state.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Record> {
        let slot = self.slot(number);
        if self.holds(number) { self.slots.get_mut(slot) } else { None }
    }

    /// Marks a packet as acknowledged. Returns its previous state and its record; none if it was acknowledged
    /// before or is unknown.
    #[inline]
    pub(crate) fn acknowledge(&mut self, number: u64) -> Option<(PacketState, &Record)> {
        let (slot, holds) = (self.slot(number), self.holds(number));
        let record = self.slots.get_mut(slot).filter(|record| holds && record.state != PacketState::Acked)?;
        let before = core::mem::replace(&mut record.state, PacketState::Acked);
        if before == PacketState::InFlight {
            self.in_flight -= u64::from(record.bytes);
        }
        Some((before, record))
    }

    /// Removes the oldest packet, which is acknowledged, and returns its record. None, without a change, if its number is not `number`,
    /// or if it is not in flight or not the only packet with its data.
    #[inline]
    pub(crate) fn acknowledge_oldest(&mut self, number: u64) -> Option<&Record> {
        if number != self.base || !self.holds(number) {
            return None;
        }
        let is_usual = |record: &&Record| record.state == PacketState::InFlight && record.is_only_copy();
        let record = self.slots.get(self.slot(number)).filter(is_usual)?;
        self.base += 1;
        self.in_flight -= u64::from(record.bytes);
        Some(record)
    }

    /// Marks a packet in flight as lost and returns its record.
    pub(crate) fn declare_lost(&mut self, number: u64) -> Option<Record> {
        let record = self.get_mut(number).filter(|record| record.state == PacketState::InFlight)?;
        record.state = PacketState::Lost;
        let record = *record;
        self.in_flight -= u64::from(record.bytes);
        Some(record)
    }

    /// Marks all later packets with the same data as redundant, because this packet was delivered. Returns true if
    /// one of them was delivered before.
    #[cold]
    pub(crate) fn mark_copies_redundant(&mut self, number: u64) -> bool {
        let Some(record) = self.get(number) else { return true };
        let (mut retransmission, mut already_delivered) = (record.retransmission, record.redundant);
        while let Some(next) = retransmission.and_then(|number| self.get_mut(number.get())) {
            next.redundant = true;
            already_delivered |= next.state == PacketState::Acked;
            retransmission = next.retransmission;
        }
        already_delivered
    }

    /// Removes settled records from the old end.
    #[inline]
    pub(crate) fn remove_settled(&mut self, largest_acked: Option<u64>) {
        let Some(largest_acked) = largest_acked else { return };
        // Later packets are in flight.
        while self.base <= largest_acked
            && self.get(self.base).is_some_and(|record| record.is_settled(largest_acked))
        {
            self.base += 1;
        }
    }

    /// The oldest packet in flight that is the only one with its data.
    pub(crate) fn oldest_only_copy(&self) -> Option<u64> {
        let is_needed = |record: &Record| record.state == PacketState::InFlight && record.is_only_copy();
        (self.base..self.next).find(|number| self.get(*number).is_some_and(is_needed))
    }

    /// Bytes in flight, summed over all records: for checks.
    #[cfg(test)]
    pub(crate) fn count_in_flight(&self) -> Bytes {
        let records = (self.base..self.next).filter_map(|number| self.get(number));
        let in_flight = records.filter(|record| record.state == PacketState::InFlight);
        in_flight.map(|record| Bytes::new(record.bytes.into())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bytes: u32) -> Record {
        Record {
            data: StreamData { payload: bytes, ..StreamData::NONE },
            bytes,
            sent_at: Time::ZERO,
            delivered: Bytes::ZERO,
            retransmission: None,
            state: PacketState::InFlight,
            redundant: false,
            app_limited: false,
        }
    }

    fn stamp(in_flight: u32) -> SendStamp {
        SendStamp { in_flight: Bytes::new(in_flight.into()), ..SendStamp::default() }
    }

    fn ring(packets: u32) -> SentRing {
        let mut ring = SentRing::default();
        (0..packets).for_each(|_| ring.push(record(1000)));
        ring
    }

    #[test]
    fn a_ring_has_room_for_four_times_the_packets_in_flight_at_most() {
        // With 100 packets in flight, then 5 at any time, the oldest of them acknowledged first.
        let mut ring = ring(100);
        ring.set_stamp(stamp(99));
        assert_eq!(ring.slots.len(), 128);
        for number in 0..1000_u32 {
            ring.push(record(number));
            ring.set_stamp(stamp(100 + number));
            let settled = ring.next_number() - 5;
            (ring.base()..settled).for_each(|old| assert!(ring.acknowledge(old).is_some()));
            ring.remove_settled(Some(settled));
            assert_eq!((ring.base(), ring.next_number()), (settled, u64::from(number) + 101));
            for kept in settled.max(100)..ring.next_number() {
                let sent = kept as u32;
                assert_eq!(ring.get(kept).map(|record| record.bytes), Some(sent - 100));
                assert_eq!(ring.stamp(kept), stamp(sent));
            }
        }
        assert_eq!((ring.slots.len(), ring.stamps.len()), (16, 16));
    }

    #[test]
    fn a_packet_is_acknowledged_once_and_removed_from_the_old_end() {
        let mut ring = ring(3);
        assert!(ring.acknowledge(1).is_some());
        assert!(ring.acknowledge(1).is_none());
        ring.remove_settled(Some(1));
        assert_eq!((ring.base(), ring.in_flight()), (0, Bytes::new(2000)));
        ring.acknowledge(0);
        ring.remove_settled(Some(1));
        assert_eq!((ring.base(), ring.next_number()), (2, 3));
        assert!(ring.acknowledge(0).is_none() && ring.acknowledge(7).is_none());
        assert_eq!(ring.in_flight(), ring.count_in_flight());
    }

    #[test]
    fn the_ring_grows_without_losing_records() {
        let mut ring = ring(8);
        ring.set_stamp(stamp(7));
        (0..5).for_each(|number| assert!(ring.acknowledge(number).is_some()));
        ring.remove_settled(Some(4));
        (8..30).for_each(|size| {
            ring.push(record(size));
            ring.set_stamp(stamp(size));
        });
        assert!((7..30).all(|number| ring.stamp(number) == stamp(number as u32)));
        assert_eq!((ring.base(), ring.next_number()), (5, 30));
        assert!((8..30).all(|number| ring.get(number).unwrap().bytes == number as u32));
        assert!((5..8).all(|number| ring.get(number).unwrap().bytes == 1000));
        assert!(ring.get(4).is_none() && ring.get(30).is_none() && ring.get(u64::MAX).is_none());
        assert_eq!(ring.in_flight(), ring.count_in_flight());
    }

    #[test]
    fn a_lost_packet_is_kept_until_a_packet_after_its_retransmission_is_acknowledged() {
        let mut ring = ring(2);
        ring.declare_lost(0);
        ring.acknowledge(1);
        ring.push(record(1000));
        ring.get_mut(0).unwrap().retransmission = NonZeroU64::new(2);
        ring.remove_settled(Some(1));
        assert_eq!(ring.base(), 0);
        ring.acknowledge(2);
        ring.remove_settled(Some(2));
        assert_eq!(ring.base(), 3);
    }

    #[test]
    fn data_counts_as_delivered_with_the_first_of_its_packets_to_arrive() {
        let mut ring = ring(3);
        ring.get_mut(0).unwrap().retransmission = NonZeroU64::new(1);
        ring.get_mut(1).unwrap().retransmission = NonZeroU64::new(2);
        ring.declare_lost(0);
        assert!(!ring.mark_copies_redundant(0));
        assert!(ring.get(1).unwrap().redundant && ring.get(2).unwrap().redundant);
        ring.acknowledge(2);
        assert!(ring.mark_copies_redundant(0));
    }
}
