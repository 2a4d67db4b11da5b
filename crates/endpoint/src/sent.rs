//! What has been sent and is not yet settled: a ring of records by packet number.

use crate::rate::Stamp;
use millpond_units::{Bytes, Span, Time};
use std::num::NonZeroU64;

/// What has become of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Neither acknowledged nor declared lost.
    InFlight,
    /// Acknowledged.
    Acked,
    /// Declared lost; its bytes wait to be sent again unless they are already.
    Lost,
}

/// A piece of the stream, as it is sent and sent again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    /// Where it begins.
    pub(crate) offset: u64,
    /// How long it is.
    pub(crate) payload: u32,
    /// Does the stream end with it?
    pub(crate) last: bool,
    /// Whose it is, among those that share the loop.
    pub(crate) member: u16,
    /// Did it bear a CE mark in an earlier loop?
    pub(crate) marked: bool,
    /// When the flow's first sender first sent it.
    pub(crate) birth: Time,
    /// How long it had waited in queues before this loop sent it.
    pub(crate) queueing: Span,
}

#[cfg(test)]
impl Piece {
    /// No bytes of the only flow, never delayed.
    pub(crate) const NONE: Self = Self {
        offset: 0,
        payload: 0,
        last: false,
        member: 0,
        marked: false,
        birth: Time::ZERO,
        queueing: Span::ZERO,
    };
}

/// One packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Record {
    /// What it carries.
    pub(crate) piece: Piece,
    /// Its size on the wire.
    pub(crate) bytes: u32,
    /// When it left.
    pub(crate) sent_at: Time,
    /// For the delivery rate.
    pub(crate) stamp: Stamp,
    /// The later packet that carries the same piece, if there is one.
    pub(crate) heir: Option<NonZeroU64>,
    /// What became of it.
    pub(crate) state: State,
    /// Another packet has already brought its piece to the receiver (or it carries none).
    pub(crate) redundant: bool,
}

impl Record {
    /// Must its piece be sent again if it is lost?
    pub(crate) fn is_sole_bearer(&self) -> bool {
        self.heir.is_none() && !self.redundant
    }

    /// Can nothing more come of it, once every packet up to `largest_acked` has had its chance?
    fn is_settled(&self, largest_acked: Option<u64>) -> bool {
        match self.state {
            State::InFlight => false,
            State::Acked => true,
            State::Lost => self.redundant || self.heir.is_some_and(|heir| Some(heir.get()) <= largest_acked),
        }
    }
}

/// The records, and how many of their bytes are in flight. Packet `number` has the slot `number` modulo the number of
/// slots, which is a power of two.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentRing {
    slots: Vec<Record>,
    base: u64,
    next: u64,
    in_flight: Bytes,
}

impl SentRing {
    /// Bytes in flight, on the wire.
    #[inline]
    pub(crate) fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// The least packet number that is not settled.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The number that the next packet will have.
    #[inline]
    pub(crate) fn next_number(&self) -> u64 {
        self.next
    }

    /// Notes a packet that leaves now; it has the number [`Self::next_number`].
    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        if self.next - self.base == self.slots.len() as u64 {
            self.grow(record);
        }
        let slot = self.slot(self.next);
        if let Some(place) = self.slots.get_mut(slot) {
            *place = record;
        }
        self.next += 1;
        self.in_flight += Bytes::new(record.bytes.into());
    }

    /// Doubles the number of slots; the new ones hold `filler`.
    #[cold]
    fn grow(&mut self, filler: Record) {
        let mut slots = vec![filler; (self.slots.len() * 2).max(8)];
        let mask = slots.len() as u64 - 1;
        for number in self.base..self.next {
            if let (Some(place), Some(record)) = (slots.get_mut((number & mask) as usize), self.get(number)) {
                *place = *record;
            }
        }
        self.slots = slots;
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        (number & (self.slots.len() as u64).wrapping_sub(1)) as usize
    }

    #[inline]
    fn holds(&self, number: u64) -> bool {
        (self.base..self.next).contains(&number)
    }

    /// The record of a packet, unless it is settled or was never sent.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&Record> {
        if self.holds(number) { self.slots.get(self.slot(number)) } else { None }
    }

    /// The same for writing. Its state changes through [`Self::acknowledge`] and [`Self::lose`] alone.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Record> {
        let slot = self.slot(number);
        if self.holds(number) { self.slots.get_mut(slot) } else { None }
    }

    /// Marks a packet as acknowledged and returns its state before and its record; none if it was acknowledged
    /// already or is not known.
    #[inline]
    pub(crate) fn acknowledge(&mut self, number: u64) -> Option<(State, &Record)> {
        let (slot, holds) = (self.slot(number), self.holds(number));
        let record = self.slots.get_mut(slot).filter(|record| holds && record.state != State::Acked)?;
        let before = std::mem::replace(&mut record.state, State::Acked);
        if before == State::InFlight {
            self.in_flight -= Bytes::new(record.bytes.into());
        }
        Some((before, record))
    }

    /// Marks a packet in flight as lost and returns its record.
    pub(crate) fn lose(&mut self, number: u64) -> Option<Record> {
        let record = self.get_mut(number).filter(|record| record.state == State::InFlight)?;
        record.state = State::Lost;
        let record = *record;
        self.in_flight -= Bytes::new(record.bytes.into());
        Some(record)
    }

    /// A packet's piece has arrived: the later packets that carry the same one carry it in vain. Returns whether
    /// another of its packets had brought it before.
    #[cold]
    pub(crate) fn disinherit(&mut self, number: u64) -> bool {
        let Some(record) = self.get(number) else { return true };
        let (mut heir, mut brought) = (record.heir, record.redundant);
        while let Some(next) = heir.and_then(|number| self.get_mut(number.get())) {
            next.redundant = true;
            brought |= next.state == State::Acked;
            heir = next.heir;
        }
        brought
    }

    /// Drops settled records from the old end.
    #[inline]
    pub(crate) fn retire(&mut self, largest_acked: Option<u64>) {
        while self.get(self.base).is_some_and(|record| record.is_settled(largest_acked)) {
            self.base += 1;
        }
    }

    /// The oldest packet in flight whose piece no other packet carries.
    pub(crate) fn oldest_needed(&self) -> Option<u64> {
        let needed = |record: &Record| record.state == State::InFlight && record.is_sole_bearer();
        (self.base..self.next).find(|number| self.get(*number).is_some_and(needed))
    }

    /// Bytes in flight counted anew: for checks.
    #[cfg(test)]
    pub(crate) fn recount(&self) -> Bytes {
        let records = (self.base..self.next).filter_map(|number| self.get(number));
        let in_flight = records.filter(|record| record.state == State::InFlight);
        in_flight.map(|record| Bytes::new(record.bytes.into())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bytes: u32) -> Record {
        Record {
            piece: Piece { payload: bytes, ..Piece::NONE },
            bytes,
            sent_at: Time::ZERO,
            stamp: Stamp::default(),
            heir: None,
            state: State::InFlight,
            redundant: false,
        }
    }

    fn ring(packets: u32) -> SentRing {
        let mut ring = SentRing::default();
        (0..packets).for_each(|_| ring.push(record(1000)));
        ring
    }

    #[test]
    fn a_packet_is_acknowledged_once_and_retired_from_the_old_end() {
        let mut ring = ring(3);
        assert!(ring.acknowledge(1).is_some());
        assert!(ring.acknowledge(1).is_none());
        ring.retire(Some(1));
        assert_eq!((ring.base(), ring.in_flight()), (0, Bytes::new(2000)));
        ring.acknowledge(0);
        ring.retire(Some(1));
        assert_eq!((ring.base(), ring.next_number()), (2, 3));
        assert!(ring.acknowledge(0).is_none() && ring.acknowledge(7).is_none());
        assert_eq!(ring.in_flight(), ring.recount());
    }

    #[test]
    fn the_ring_grows_around_what_it_holds() {
        let mut ring = ring(8);
        (0..5).for_each(|number| assert!(ring.acknowledge(number).is_some()));
        ring.retire(Some(4));
        (8..30).for_each(|size| ring.push(record(size)));
        assert_eq!((ring.base(), ring.next_number()), (5, 30));
        assert!((8..30).all(|number| ring.get(number).unwrap().bytes == number as u32));
        assert!((5..8).all(|number| ring.get(number).unwrap().bytes == 1000));
        assert!(ring.get(4).is_none() && ring.get(30).is_none() && ring.get(u64::MAX).is_none());
        assert_eq!(ring.in_flight(), ring.recount());
    }

    #[test]
    fn a_lost_packet_is_kept_until_something_sent_after_its_repetition_is_acknowledged() {
        let mut ring = ring(2);
        ring.lose(0);
        ring.acknowledge(1);
        ring.push(record(1000));
        ring.get_mut(0).unwrap().heir = NonZeroU64::new(2);
        ring.retire(Some(1));
        assert_eq!(ring.base(), 0);
        ring.acknowledge(2);
        ring.retire(Some(2));
        assert_eq!(ring.base(), 3);
    }

    #[test]
    fn a_piece_is_brought_by_the_first_of_its_packets_to_arrive() {
        let mut ring = ring(3);
        ring.get_mut(0).unwrap().heir = NonZeroU64::new(1);
        ring.get_mut(1).unwrap().heir = NonZeroU64::new(2);
        ring.lose(0);
        assert!(!ring.disinherit(0));
        assert!(ring.get(1).unwrap().redundant && ring.get(2).unwrap().redundant);
        ring.acknowledge(2);
        assert!(ring.disinherit(0));
    }
}
