//! Transmission: which packet leaves next, or why none may.

use super::SenderEnd;
use crate::sent::{PacketState, Record, StreamData};
use crate::silence::LEAST_SILENCE;
use crate::stream_queues::StreamQueues;
use crate::{ACK_BYTES, Frame, Segment};
use core::num::NonZeroU64;
use millpond_law::{Context, Header, HeaderId, LimitedBy, Probes};
use millpond_units::{Bytes, Time};

/// A packet that may leave now, as [`SenderEnd::next_packet`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextPacket(Next);

/// What the next packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// New data of this length in bytes.
    New(u32),
    /// A retransmission of this lost packet.
    Retransmission(u64),
    /// What a probe carries.
    Probe,
    /// No data.
    Empty,
}

/// A lost packet whose data must be retransmitted.
struct LostPacket {
    number: u64,
    /// Size on the wire in bytes.
    bytes: u32,
}

impl SenderEnd {
    /// The next packet that leaves now. The driver polls until the result is none.
    #[inline]
    pub fn transmit(&mut self, now: Time) -> Option<Segment> {
        let mut frame = Frame::Data(Segment::UNUSED);
        let next = self.next_packet(now)?;
        self.send_into(now, next, &mut frame);
        if let Frame::Data(segment) = frame { Some(segment) } else { None }
    }

    /// The first half of [`Self::transmit`]: which packet leaves now. If there is one, call [`Self::send_into`] with it before
    /// anything else.
    #[inline]
    pub fn next_packet(&mut self, now: Time) -> Option<NextPacket> {
        if !self.started {
            return None;
        }
        if self.probes_wanted > 0 {
            return Some(NextPacket(Next::Probe));
        }
        match self.next(now) {
            Ok(next) => Some(NextPacket(next)),
            Err(LimitedBy::Pace) if self.reference_due() <= now => Some(NextPacket(Next::Empty)),
            Err(blocked) => {
                self.set_blocked(now, blocked);
                None
            }
        }
    }

    /// The second half of [`Self::transmit`]: sends the packet and writes it to `frame`, whatever that holds. It is not copied.
    #[inline]
    pub fn send_into(&mut self, now: Time, next: NextPacket, frame: &mut Frame) {
        match next.0 {
            Next::New(payload) => {
                let data = self.send_buffer.take(now, payload);
                self.send(now, data, self.wire_size(payload), false, frame);
            }
            Next::Retransmission(number) => {
                self.send_buffer.pop_lost();
                self.retransmit(now, number, frame);
            }
            Next::Probe => {
                self.probes_wanted -= 1;
                self.send_probe(now, frame);
            }
            Next::Empty => self.send_empty(now, frame),
        }
    }

    /// Records why no packet may leave now.
    #[inline]
    fn set_blocked(&mut self, now: Time, blocked: LimitedBy) {
        if self.blocked == LimitedBy::Data && blocked != LimitedBy::Data {
            self.record_data(now);
        }
        self.blocked = blocked;
        let packet = u32::try_from(self.config.packet.get()).unwrap_or(u32::MAX);
        if matches!(blocked, LimitedBy::Data | LimitedBy::Credit) && self.window_permits(packet) {
            self.ledger.on_app_limited(self.sent.in_flight());
        }
    }

    /// Records that data is available after there was none.
    #[cold]
    fn record_data(&mut self, now: Time) {
        if self.has_nothing_to_send() {
            self.silences.on_data(now);
        }
    }

    /// What the next packet carries, or why none may leave.
    #[inline]
    fn next(&mut self, now: Time) -> Result<Next, LimitedBy> {
        let (next, bytes) = match self.next_lost() {
            Some(LostPacket { number, bytes }) => (Next::Retransmission(number), bytes),
            None => {
                let payload = self.send_buffer.next_payload()?;
                (Next::New(payload), self.wire_size(payload))
            }
        };
        if self.timeouts.in_persistent_congestion() {
            return Err(LimitedBy::NoFeedback);
        }
        if !self.window_permits(bytes) {
            return Err(LimitedBy::Window);
        }
        if !self.ledger.pace_permits(now, Bytes::new(bytes.into())) {
            return Err(LimitedBy::Pace);
        }
        Ok(next)
    }

    /// The first lost packet that needs retransmission.
    #[inline]
    fn next_lost(&mut self) -> Option<LostPacket> {
        let waits = |record: &&Record| record.state == PacketState::Lost && record.is_only_copy();
        loop {
            let number = self.send_buffer.first_lost()?;
            match self.sent.get(number).filter(waits) {
                Some(record) => return Some(LostPacket { number, bytes: record.bytes }),
                None => self.send_buffer.pop_lost(),
            }
        }
    }

    /// True if the window permits a packet of this size. One packet may always be in flight.
    #[inline]
    fn window_permits(&self, bytes: u32) -> bool {
        self.sent.has_room(bytes, self.in_flight_limit) || self.sent.in_flight() == Bytes::ZERO
    }

    #[inline]
    fn wire_size(&self, payload: u32) -> u32 {
        payload.saturating_add(self.config.overhead.get() as u32)
    }

    /// A probe. Unless the law wants it without data, it carries lost, new or unacknowledged data, in this order (RFC 9002,
    /// section 6.2.4). Where there is none it is empty, asks for credit, and is the last probe of its timeout: there is no data
    /// that a second one could save, and where a buffer has room for one packet, the second one would be lost each time and
    /// cause the next timeout.
    #[cold]
    fn send_probe(&mut self, now: Time, frame: &mut Frame) {
        if self.permit.probes != Probes::Data {
            return self.send_empty(now, frame);
        }
        if let Some(LostPacket { number, .. }) = self.next_lost() {
            self.send_buffer.pop_lost();
            return self.retransmit(now, number, frame);
        }
        if let Ok(payload) = self.send_buffer.next_payload() {
            let data = self.send_buffer.take(now, payload);
            return self.send(now, data, self.wire_size(payload), false, frame);
        }
        match self.sent.oldest_only_copy() {
            Some(number) => self.retransmit(now, number, frame),
            None => {
                self.probes_wanted = 0;
                self.send_empty(now, frame)
            }
        }
    }

    /// Sends a packet without data.
    #[cold]
    fn send_empty(&mut self, now: Time, frame: &mut Frame) {
        let stream_id = self.send_buffer.queues_mut().map_or(0, StreamQueues::next_without_credit);
        let data = StreamData { stream_id, last: false, ..self.send_buffer.application_data(now, 0) };
        self.send(now, data, ACK_BYTES, false, frame);
    }

    /// Retransmits the data of an earlier packet.
    #[cold]
    fn retransmit(&mut self, now: Time, number: u64, frame: &mut Frame) {
        if self.sent.next_number() == self.skipped.next() {
            self.skip_number(now);
        }
        let retransmission = NonZeroU64::new(self.sent.next_number());
        let Some(earlier) = self.sent.get_mut(number) else {
            return self.send_empty(now, frame);
        };
        earlier.retransmission = retransmission;
        let (data, bytes) = (earlier.data, earlier.bytes);
        self.send(now, data, bytes, true, frame);
    }

    #[inline]
    fn send(&mut self, now: Time, data: StreamData, bytes: u32, is_retransmission: bool, frame: &mut Frame) {
        if self.sent.next_number() == self.skipped.next() {
            self.skip_number(now);
        }
        let (number, size) = (self.sent.next_number(), Bytes::new(bytes.into()));
        let idle = self.sent.in_flight() == Bytes::ZERO;
        let last_sent_at = self.timeouts.last_sent_at();
        if now.since(last_sent_at) > LEAST_SILENCE && !self.has_nothing_to_send() {
            self.silences.on_late_packet(now, last_sent_at);
        }
        if idle && matches!(self.blocked, LimitedBy::Data | LimitedBy::Credit) {
            self.restart_from_idle(now);
        }
        self.timeouts.on_sent(now, idle);
        // Packets without data are few and small, and must not delay the data (compare RFC 9002, section 7.7).
        if data.payload > 0 {
            self.ledger.on_paced(now, size);
        }
        self.sent.push(Record {
            data,
            bytes,
            sent_at: now,
            delivered: self.ledger.delivered(),
            retransmission: None,
            state: PacketState::InFlight,
            redundant: data.payload == 0,
            app_limited: self.ledger.is_app_limited(),
        });
        if self.config.needs.samples {
            self.sent.set_stamp(self.ledger.stamp(now, idle, self.sent.in_flight(), self.loss.lost()));
        }
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += size.get();
        self.counters.retransmitted_packets += u64::from(is_retransmission);
        *frame = Frame::Data(Segment {
            number,
            floor: self.sent.base(),
            offset: data.offset,
            payload: data.payload,
            bytes,
            sent_at: now,
            origin_time: data.origin_time,
            queueing: data.queueing,
            ecn: self.ecn,
            last: data.last,
            stream_id: data.stream_id,
            marked_upstream: data.marked,
            header: Header::NONE,
        });
        let Frame::Data(segment) = frame else { return };
        self.write_header(now, &mut segment.header);
        if let Some(observer) = &mut self.observer {
            observer.on_sent(now, segment);
        }
        self.notify_sent(now, size);
    }

    /// Leaves out a packet number.
    #[cold]
    fn skip_number(&mut self, now: Time) {
        self.sent.skip(now);
        self.skipped.on_skipped(self.sent.base(), &mut self.random);
    }

    /// Reports to the law that a packet is about to leave after the sender had lacked data.
    #[cold]
    fn restart_from_idle(&mut self, now: Time) {
        if self.counters.sent_packets > 0 {
            self.law.on_idle_restart(&mut Context { now, random: &mut self.random });
            self.update_permit(now);
        }
    }

    /// Lets the law write the header of a packet about to leave.
    #[inline]
    fn write_header(&mut self, now: Time, header: &mut Header) {
        if self.config.needs.header != HeaderId::NONE {
            self.law.stamp(&mut Context { now, random: &mut self.random }, header);
        }
    }

    #[inline]
    fn notify_sent(&mut self, now: Time, bytes: Bytes) {
        if self.config.needs.sent {
            self.law.on_sent(&mut Context { now, random: &mut self.random }, bytes, self.sent.in_flight());
            self.update_permit(now);
        }
    }
}
