//! The receiving end of a loop.

use crate::arrivals::{Arrival, Arrivals};
use crate::range_set::RangeSet;
use crate::{ACK_BYTES, Acknowledgement, Segment};
use millpond_law::{Context, Data, Echo, Ecn, Random, Receiver, RelayView};
use millpond_units::{Bytes, Span, Time};
use std::ops::Range;

/// How a receiving end acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Every how many packets an acknowledgement leaves; 1: each at once.
    pub every: u32,
    /// The longest that an acknowledgement waits for the next packets.
    pub max_delay: Span,
    /// Its size on the wire.
    pub ack: Bytes,
}

impl Default for ReceiverConfig {
    /// One acknowledgement of 40 bytes per packet.
    fn default() -> Self {
        Self { every: 1, max_delay: Span::ZERO, ack: Bytes::new(ACK_BYTES as u64) }
    }
}

/// What a receiving end has seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Data packets that arrived.
    pub packets: u64,
    /// Bytes of the stream delivered, each counted once.
    pub delivered: u64,
    /// Packets that arrived with a CE mark.
    pub marked_packets: u64,
    /// Their bytes on the wire.
    pub marked_bytes: u64,
    /// Packets that carried bytes of the stream, none of them new.
    pub duplicates: u64,
    /// Acknowledgements sent.
    pub acks: u64,
}

/// What a data packet brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Received {
    /// How many of its bytes were new.
    pub fresh: u64,
    /// It carried bytes of the stream, none of them new.
    pub duplicate: bool,
    /// The acknowledgement to send at once, if there is one.
    pub ack: Option<Acknowledgement>,
}

/// What has arrived of one flow's stream, and what its sender may send.
#[derive(Clone, Debug)]
struct Inbound {
    stream: RangeSet,
    delivered: u64,
    total: Option<u64>,
    credit: u64,
    told_credit: u64,
}

impl Default for Inbound {
    fn default() -> Self {
        Self {
            stream: RangeSet::default(),
            delivered: 0,
            total: None,
            credit: u64::MAX,
            told_credit: u64::MAX,
        }
    }
}

/// The receiving end of a loop.
pub struct ReceiverEnd {
    config: ReceiverConfig,
    law: Box<dyn Receiver>,
    random: Random,
    arrivals: Arrivals,
    /// Of the first flow, in most loops the only one.
    first: Inbound,
    /// Of the others that share the loop.
    others: Vec<Inbound>,
    /// Whose credit is told next, besides that of whoever has just arrived.
    turn: u16,
    echo: Echo,
    waiting: u32,
    due: Time,
    counters: ReceiverCounters,
}

impl ReceiverEnd {
    /// A receiving end that has seen nothing.
    pub fn new(config: ReceiverConfig, law: Box<dyn Receiver>, random: Random) -> Self {
        Self {
            config,
            law,
            random,
            arrivals: Arrivals::default(),
            first: Inbound::default(),
            others: Vec::new(),
            turn: 0,
            echo: Echo::default(),
            waiting: 0,
            due: Time::NEVER,
            counters: ReceiverCounters::default(),
        }
    }

    /// One of a loop that so many flows share.
    pub fn shared(config: ReceiverConfig, members: u16, law: Box<dyn Receiver>, random: Random) -> Self {
        let others = vec![Inbound::default(); usize::from(members.saturating_sub(1))];
        Self { others, ..Self::new(config, law, random) }
    }

    #[inline]
    fn inbound(&self, member: u16) -> &Inbound {
        let other = || self.others.get(usize::from(member).wrapping_sub(1)).unwrap_or(&self.first);
        if self.others.is_empty() { &self.first } else { other() }
    }

    #[inline]
    fn inbound_mut(&mut self, member: u16) -> &mut Inbound {
        if self.others.is_empty() { &mut self.first } else { self.one_of_several(member) }
    }

    #[inline(never)]
    fn one_of_several(&mut self, member: u16) -> &mut Inbound {
        let other = usize::from(member).checked_sub(1).and_then(|index| self.others.get_mut(index));
        other.unwrap_or(&mut self.first)
    }

    /// A data packet arrived; `relay`: what is known of the next loop, if this end is one half of a relay.
    #[inline]
    pub fn on_data(&mut self, now: Time, segment: &Segment, relay: Option<&RelayView>) -> Received {
        self.receive(now, segment, relay, |_| {})
    }

    /// The same; calls `fresh` with each range of the stream that is new.
    #[inline(always)]
    pub(crate) fn receive(
        &mut self,
        now: Time,
        segment: &Segment,
        relay: Option<&RelayView>,
        mut fresh: impl FnMut(Range<u64>),
    ) -> Received {
        let mut new = 0;
        let inbound = self.inbound_mut(segment.member);
        let end = segment.offset.saturating_add(segment.payload.into());
        inbound.stream.insert(segment.offset..end, |range| {
            new += range.end - range.start;
            fresh(range);
        });
        inbound.delivered += new;
        if segment.last {
            inbound.total = Some(end);
        }
        let (fresh, duplicate) = (new, new == 0 && segment.payload > 0);
        self.counters.delivered += fresh;
        self.counters.packets += 1;
        self.counters.duplicates += u64::from(duplicate);
        let data = Data { bytes: Bytes::new(segment.bytes.into()), ecn: segment.ecn, header: segment.header };
        self.echo.mark = false;
        self.law.on_data(&mut Context { now, random: &mut self.random }, &data, relay, &mut self.echo);
        let in_order = self.note(now, segment);
        let urgent = !in_order || duplicate || segment.last || segment.payload == 0;
        let ack = self.acknowledge_if_due(now, segment, urgent);
        Received { fresh, duplicate, ack }
    }

    /// When [`Self::on_deadline`] is to be called; [`Time::NEVER`] if no acknowledgement waits.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// The acknowledgement that has waited long enough, if there is one.
    pub fn on_deadline(&mut self, now: Time) -> Option<Acknowledgement> {
        (self.due <= now).then(|| self.acknowledge(now, 0, None))
    }

    /// The sender may send this many bytes of a member's stream in all; told with an acknowledgement that tells of
    /// this member.
    #[inline]
    pub(crate) fn set_credit(&mut self, member: u16, credit: u64) {
        self.inbound_mut(member).credit = credit;
    }

    /// The credit of a member that the sender was last told of.
    #[inline]
    pub(crate) fn told_credit(&self, member: u16) -> u64 {
        self.inbound(member).told_credit
    }

    /// Bytes of a member's stream that have arrived, each counted once.
    #[inline]
    pub fn delivered_of(&self, member: u16) -> u64 {
        self.inbound(member).delivered
    }

    /// Has every byte of a member's stream with a known end arrived?
    #[inline]
    pub fn is_complete_of(&self, member: u16) -> bool {
        let inbound = self.inbound(member);
        inbound.total == Some(inbound.delivered)
    }

    /// Has every byte of a stream with a known end arrived?
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.is_complete_of(0)
    }

    /// How many headers its law could not read.
    pub fn unread(&self) -> u64 {
        self.law.unread()
    }

    /// What it has seen so far.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// Takes down a packet's number and mark. Returns whether it is the one expected next, unmarked.
    #[inline]
    fn note(&mut self, now: Time, segment: &Segment) -> bool {
        let Arrival { is_new, in_order } = self.arrivals.on_arrival(now, segment.number, segment.floor);
        let marked = segment.ecn == Ecn::Ce || self.echo.mark;
        if is_new && marked {
            self.counters.marked_packets += 1;
            self.counters.marked_bytes += u64::from(segment.bytes);
        }
        in_order && !marked
    }

    /// Acknowledges every so many packets, and at once what the sender should know at once (RFC 9000, section
    /// 13.2.1).
    #[inline]
    fn acknowledge_if_due(&mut self, now: Time, segment: &Segment, urgent: bool) -> Option<Acknowledgement> {
        self.waiting += 1;
        if urgent || self.waiting >= self.config.every {
            return Some(self.acknowledge(now, segment.member, Some(segment.number)));
        }
        if self.waiting == 1 {
            self.due = now + self.config.max_delay;
        }
        None
    }

    /// Acknowledges now; the packet `of` is told of even if it is not among the newest ranges.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, member: u16, of: Option<u64>) -> Acknowledgement {
        self.waiting = 0;
        self.due = Time::NEVER;
        let (member, inbound) = match self.others.is_empty() {
            true => (0, &mut self.first),
            false => {
                let member = self.next_told(member, of.is_some());
                (member, self.one_of_several(member))
            }
        };
        inbound.told_credit = inbound.credit;
        let credit = inbound.credit;
        self.counters.acks += 1;
        Acknowledgement {
            ranges: self.arrivals.ranges(of),
            delay: now.since(self.arrivals.newest_at()),
            ce_packets: self.counters.marked_packets,
            ce_bytes: self.counters.marked_bytes,
            credit,
            member,
            bytes: u32::try_from(self.config.ack.get()).unwrap_or(u32::MAX),
            echo: self.echo.header,
        }
    }

    /// Whose credit is told: every other acknowledgement of packets tells of the next member in turn, so that one
    /// whose news got lost is told again as long as anything arrives.
    fn next_told(&mut self, member: u16, of_packets: bool) -> u16 {
        if !of_packets || self.counters.acks.is_multiple_of(2) {
            return member;
        }
        self.turn = (self.turn + 1) % (self.others.len() as u16 + 1);
        self.turn
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

    /// A receiver that acknowledges every fourth packet or after 25 ms.
    fn lazy() -> ReceiverEnd {
        let config = ReceiverConfig { every: 4, max_delay: LONG, ..ReceiverConfig::default() };
        ReceiverEnd::new(config, Box::new(PlainReceiver), Random::stream(1, "lazy"))
    }

    fn packet(number: u64) -> Segment {
        Segment {
            number,
            floor: 0,
            offset: number * 1000,
            payload: 1000,
            bytes: 1000,
            sent_at: Time::ZERO,
            birth: Time::ZERO,
            queueing: Span::ZERO,
            ecn: Ecn::Ect0,
            last: false,
            member: 0,
            marked_upstream: false,
            header: Header::NONE,
        }
    }

    #[test]
    fn every_fourth_packet_is_acknowledged_or_the_first_that_waited_long_enough() {
        let mut lazy = lazy();
        let acks: Vec<_> = (0..8).map(|n| lazy.on_data(at(n), &packet(n), None).ack.is_some()).collect();
        assert_eq!(acks, [false, false, false, true, false, false, false, true]);
        assert_eq!(lazy.deadline(), Time::NEVER);
        lazy.on_data(at(10), &packet(8), None);
        lazy.on_data(at(20), &packet(9), None);
        assert_eq!(lazy.deadline(), at(10) + LONG);
        assert!(lazy.on_deadline(at(34)).is_none());
        let ack = lazy.on_deadline(at(35)).unwrap();
        assert_eq!((ack.ranges.largest(), ack.delay), (Some(9), Span::from_millis(15)));
        assert_eq!(lazy.deadline(), Time::NEVER);
    }

    #[test]
    fn what_the_sender_should_know_at_once_is_acknowledged_at_once() {
        let after_one = |segment: Segment| {
            let mut lazy = lazy();
            lazy.on_data(at(0), &packet(0), None);
            lazy.on_data(at(1), &segment, None).ack.is_some()
        };
        assert!(!after_one(packet(1)));
        assert!(after_one(packet(2)), "a gap");
        assert!(after_one(packet(0)), "a duplicate");
        assert!(after_one(Segment { ecn: Ecn::Ce, ..packet(1) }), "a mark");
        assert!(after_one(Segment { last: true, ..packet(1) }), "the end");
        assert!(after_one(Segment { payload: 0, ..packet(1) }), "a probe");
    }

    #[test]
    fn bytes_count_once_and_marks_once_per_packet() {
        let mut lazy = lazy();
        let marked = Segment { ecn: Ecn::Ce, ..packet(0) };
        let first = lazy.on_data(at(0), &marked, None);
        assert_eq!((first.fresh, first.duplicate), (1000, false));
        // The same packet again, then the same bytes and the next 500 under a new number.
        let again = lazy.on_data(at(1), &marked, None);
        assert_eq!((again.fresh, again.duplicate), (0, true));
        let longer = Segment { number: 1, payload: 1500, ..marked };
        assert_eq!(lazy.on_data(at(2), &longer, None).fresh, 500);
        let counters = lazy.counters();
        assert_eq!((counters.packets, counters.delivered, counters.duplicates), (3, 1500, 1));
        assert_eq!((counters.marked_packets, counters.marked_bytes), (2, 2000));
    }

    #[test]
    fn the_end_is_known_from_the_last_packet_and_reached_with_all_bytes() {
        let mut lazy = lazy();
        lazy.on_data(at(0), &Segment { last: true, ..packet(1) }, None);
        assert!(!lazy.is_complete());
        lazy.on_data(at(1), &packet(0), None);
        assert!(lazy.is_complete());
    }
}
