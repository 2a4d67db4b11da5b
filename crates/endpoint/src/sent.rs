//! What has been sent and is not yet settled: a ring of records by packet number.

use crate::rate::Stamp;
use millpond_units::{Bytes, Span, Time};
use std::collections::VecDeque;
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
    /// When the flow's first sender first sent it.
    pub(crate) birth: Time,
    /// How long it had waited in queues before this loop sent it.
    pub(crate) queueing: Span,
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
    fn is_settled(&self, largest_acked: u64) -> bool {
        match self.state {
            State::InFlight => false,
            State::Acked => true,
            State::Lost => self.redundant || self.heir.is_some_and(|heir| heir.get() <= largest_acked),
        }
    }
}

/// The records, and how many of their bytes are in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentRing {
    records: VecDeque<Record>,
    /// Packet number of the first record.
    base: u64,
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
        self.base + self.records.len() as u64
    }

    /// Notes a packet that leaves now; it has the number [`Self::next_number`].
    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        self.in_flight += Bytes::new(record.bytes.into());
        self.records.push_back(record);
    }

    /// The record of a packet, unless it is settled or was never sent.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&Record> {
        self.records.get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    /// The same for writing. Its state changes through [`Self::acknowledge`] and [`Self::lose`] alone.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Record> {
        self.records.get_mut(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    /// Marks a packet as acknowledged and returns its record as it was before; none if it was acknowledged already
    /// or is not known.
    #[inline]
    pub(crate) fn acknowledge(&mut self, number: u64) -> Option<Record> {
        let record = self.get_mut(number).filter(|record| record.state != State::Acked)?;
        let before = *record;
        record.state = State::Acked;
        if before.state == State::InFlight {
            self.in_flight -= Bytes::new(before.bytes.into());
        }
        Some(before)
    }

    /// Marks a packet in flight as lost and returns its record.
    pub(crate) fn lose(&mut self, number: u64) -> Option<Record> {
        let record = self.get_mut(number).filter(|record| record.state == State::InFlight)?;
        record.state = State::Lost;
        let record = *record;
        self.in_flight -= Bytes::new(record.bytes.into());
        Some(record)
    }

    /// A packet's piece has arrived: the later packets that carry the same one carry it in vain. Returns whether one
    /// of them had brought it before.
    pub(crate) fn disinherit(&mut self, record: &Record) -> bool {
        let mut heir = record.heir;
        let mut brought = record.redundant;
        while let Some(next) = heir.and_then(|number| self.get_mut(number.get())) {
            next.redundant = true;
            brought |= next.state == State::Acked;
            heir = next.heir;
        }
        brought
    }

    /// Drops settled records from the old end.
    #[inline]
    pub(crate) fn retire(&mut self, largest_acked: u64) {
        while self.records.front().is_some_and(|record| record.is_settled(largest_acked)) {
            self.records.pop_front();
            self.base += 1;
        }
    }

    /// The oldest packet in flight whose piece no other packet carries.
    pub(crate) fn oldest_needed(&self) -> Option<(u64, Record)> {
        let needed = |record: &Record| record.state == State::InFlight && record.is_sole_bearer();
        let index = self.records.iter().position(needed)?;
        Some((self.base + index as u64, *self.records.get(index)?))
    }

    /// Bytes in flight counted anew: for checks.
    #[cfg(test)]
    pub(crate) fn recount(&self) -> Bytes {
        let in_flight = self.records.iter().filter(|record| record.state == State::InFlight);
        in_flight.map(|record| Bytes::new(record.bytes.into())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bytes: u32) -> Record {
        Record {
            piece: Piece { offset: 0, payload: bytes, last: false, birth: Time::ZERO, queueing: Span::ZERO },
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
        ring.retire(1);
        assert_eq!((ring.base(), ring.in_flight()), (0, Bytes::new(2000)));
        ring.acknowledge(0);
        ring.retire(1);
        assert_eq!((ring.base(), ring.next_number()), (2, 3));
        assert!(ring.acknowledge(0).is_none() && ring.acknowledge(7).is_none());
        assert_eq!(ring.in_flight(), ring.recount());
    }

    #[test]
    fn a_lost_packet_is_kept_until_something_sent_after_its_repetition_is_acknowledged() {
        let mut ring = ring(2);
        ring.lose(0);
        ring.acknowledge(1);
        ring.push(record(1000));
        ring.get_mut(0).unwrap().heir = NonZeroU64::new(2);
        ring.retire(1);
        assert_eq!(ring.base(), 0);
        ring.acknowledge(2);
        ring.retire(2);
        assert_eq!(ring.base(), 3);
    }

    #[test]
    fn a_piece_is_brought_by_the_first_of_its_packets_to_arrive() {
        let mut ring = ring(3);
        ring.get_mut(0).unwrap().heir = NonZeroU64::new(1);
        ring.get_mut(1).unwrap().heir = NonZeroU64::new(2);
        let late = ring.lose(0).unwrap();
        assert!(!ring.disinherit(&late));
        assert!(ring.get(1).unwrap().redundant && ring.get(2).unwrap().redundant);
        ring.acknowledge(2);
        assert!(ring.disinherit(&late));
    }
}
