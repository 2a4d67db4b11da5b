//! What leaves, and why nothing does.

use super::SenderEnd;
use crate::send_buffer::Stop;
use crate::sent::{Piece, Record, State};
use crate::stream_queues::Shared;
use crate::{ACK_BYTES, Segment};
use millpond_law::{Context, Ecn, Header, HeaderId};
use millpond_units::{Bytes, Time};
use std::num::NonZeroU64;

/// What the next packet carries.
enum Next {
    /// The piece of this lost packet.
    Again(u64),
    /// A new piece of this length.
    New(u32),
}

impl SenderEnd {
    /// The next packet to leave now, if any. The driver polls until there is none.
    #[inline]
    pub fn transmit(&mut self, now: Time) -> Option<Segment> {
        if !self.started {
            return None;
        }
        if self.probe_wanted {
            self.probe_wanted = false;
            return Some(self.send_probe(now));
        }
        match self.next(now) {
            Ok(Next::New(payload)) => {
                let piece = self.stream.take(now, payload);
                Some(self.send(now, piece, self.wire_size(payload), false))
            }
            Ok(Next::Again(number)) => {
                self.stream.pop_lost();
                Some(self.send_again(now, number))
            }
            Err(stop) => {
                self.stop = stop;
                if matches!(stop, Stop::Data | Stop::Credit) && self.window_holds(self.config.packet) {
                    self.rate.on_app_limited(self.sent.in_flight());
                }
                None
            }
        }
    }

    /// What the next packet carries, or why none may leave.
    #[inline]
    fn next(&mut self, now: Time) -> Result<Next, Stop> {
        let (next, bytes) = match self.next_lost() {
            Some((number, bytes)) => (Next::Again(number), bytes),
            None => {
                let payload = self.stream.next_payload()?;
                (Next::New(payload), self.wire_size(payload))
            }
        };
        if self.timeouts.is_silent() {
            return Err(Stop::Silence);
        }
        if !self.window_holds(Bytes::new(bytes.into())) {
            return Err(Stop::Window);
        }
        if now < self.pacer.release() {
            return Err(Stop::Pace);
        }
        Ok(next)
    }

    /// The first lost packet whose piece still has to be sent again, and its size.
    #[inline]
    fn next_lost(&mut self) -> Option<(u64, u32)> {
        let waits = |record: &&Record| record.state == State::Lost && record.is_sole_bearer();
        loop {
            let number = self.stream.first_lost()?;
            match self.sent.get(number).filter(waits) {
                Some(record) => return Some((number, record.bytes)),
                None => self.stream.pop_lost(),
            }
        }
    }

    /// Does a packet of this size fit into the window? One packet may always be in flight.
    #[inline]
    fn window_holds(&self, bytes: Bytes) -> bool {
        let in_flight = self.sent.in_flight();
        in_flight == Bytes::ZERO || in_flight + bytes <= self.most_in_flight
    }

    #[inline]
    fn wire_size(&self, payload: u32) -> u32 {
        payload.saturating_add(self.config.overhead.get() as u32)
    }

    /// A probe asks for an acknowledgement. It carries what is lost, what is new, or what is in flight, if there is
    /// any of these (RFC 9002, section 6.2.4), and otherwise nothing: then it asks for credit.
    #[cold]
    fn send_probe(&mut self, now: Time) -> Segment {
        if let Some((number, _)) = self.next_lost() {
            self.stream.pop_lost();
            return self.send_again(now, number);
        }
        if let Ok(payload) = self.stream.next_payload() {
            let piece = self.stream.take(now, payload);
            return self.send(now, piece, self.wire_size(payload), false);
        }
        match self.sent.oldest_needed() {
            Some(number) => self.send_again(now, number),
            None => self.send_empty(now),
        }
    }

    /// Sends a packet that carries nothing.
    fn send_empty(&mut self, now: Time) -> Segment {
        let member = self.stream.members_mut().map_or(0, Shared::next_without_credit);
        let piece = Piece { member, last: false, ..self.stream.own_piece(now, 0) };
        self.send(now, piece, ACK_BYTES, false)
    }

    /// Sends the piece of an earlier packet again.
    #[cold]
    fn send_again(&mut self, now: Time, number: u64) -> Segment {
        let heir = NonZeroU64::new(self.sent.next_number());
        let Some(earlier) = self.sent.get_mut(number) else { return self.send_empty(now) };
        earlier.heir = heir;
        let (piece, bytes) = (earlier.piece, earlier.bytes);
        self.send(now, piece, bytes, true)
    }

    #[inline]
    fn send(&mut self, now: Time, piece: Piece, bytes: u32, again: bool) -> Segment {
        let (number, size) = (self.sent.next_number(), Bytes::new(bytes.into()));
        let idle = self.sent.in_flight() == Bytes::ZERO;
        self.timeouts.on_sent(now, idle);
        self.pacer.on_sent(now, size);
        self.sent.push(Record {
            piece,
            bytes,
            sent_at: now,
            stamp: self.rate.on_sent(now, idle),
            heir: None,
            state: State::InFlight,
            redundant: piece.payload == 0,
        });
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += size.get();
        self.counters.retransmitted_packets += u64::from(again);
        let header = self.stamp(now);
        self.tell_sent(now, size);
        Segment {
            number,
            floor: self.sent.base(),
            offset: piece.offset,
            payload: piece.payload,
            bytes,
            sent_at: now,
            birth: piece.birth,
            queueing: piece.queueing,
            ecn: self.ecn(),
            last: piece.last,
            member: piece.member,
            marked_upstream: piece.marked,
            header,
        }
    }

    fn ecn(&self) -> Ecn {
        match self.config.needs.ecn {
            None => Ecn::NotCapable,
            Some(true) => Ecn::Ect1,
            Some(false) => Ecn::Ect0,
        }
    }

    /// The law's header for a packet about to leave.
    #[inline]
    fn stamp(&mut self, now: Time) -> Header {
        let mut header = Header::NONE;
        if self.config.needs.header != HeaderId::NONE {
            self.law.stamp(&mut Context { now, random: &mut self.random }, &mut header);
        }
        header
    }

    #[inline]
    fn tell_sent(&mut self, now: Time, bytes: Bytes) {
        if self.config.needs.sent {
            self.law.on_sent(&mut Context { now, random: &mut self.random }, bytes, self.sent.in_flight());
            self.ask_law(now);
        }
    }
}
