//! The data that a sender has to send: new data of its streams, and retransmissions.

use crate::chunk::{Chunk, Origin, RelayWait};
use crate::sent::StreamData;
use crate::stream_queues::{StreamConfig, StreamQueues};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use millpond_law::LimitedBy;
use millpond_units::{Span, Time};

/// Data that relays have forwarded.
#[derive(Clone, Debug)]
enum Relayed {
    /// Of one stream.
    Single { waiting: VecDeque<Chunk>, waited: RelayWait },
    /// Of several streams that share this sender.
    PerStream(StreamQueues),
}

/// The send buffer. Forwarded data is sent as it arrived or split, never joined with other data, so that its time of
/// origin and its queueing delay stay exact.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    packet: u32,
    /// None if an application supplies the data, or if nothing has been forwarded yet.
    relayed: Option<Box<Relayed>>,
    backlog: u64,
    sent: u64,
    credit: u64,
    acked: u64,
    total: Option<u64>,
    /// Packet numbers of lost packets whose data waits for retransmission.
    lost: VecDeque<u64>,
}

impl SendBuffer {
    /// An empty buffer. A packet carries at most `packet` bytes; `credit`: initial flow-control limit in bytes.
    pub(crate) fn new(packet: u32, credit: u64) -> Self {
        Self {
            packet: packet.max(1),
            relayed: None,
            backlog: 0,
            sent: 0,
            credit,
            acked: 0,
            total: None,
            lost: VecDeque::new(),
        }
    }

    /// A buffer with one queue for each stream, filled by relays.
    pub(crate) fn with_streams(packet: u32, streams: Vec<StreamConfig>) -> Self {
        let per_stream = Relayed::PerStream(StreamQueues::new(packet, streams));
        Self { relayed: Some(Box::new(per_stream)), ..Self::new(packet, u64::MAX) }
    }

    /// Adds `bytes` of the application to the stream.
    pub(crate) fn supply(&mut self, bytes: u64) {
        let end = self.sent.saturating_add(self.backlog);
        self.backlog += bytes.min(u64::MAX - end);
    }

    /// Fixes the end of the stream at the bytes supplied so far.
    pub(crate) fn finish(&mut self) {
        self.total = Some(self.sent.saturating_add(self.backlog));
    }

    /// Discards all data that was never sent, and ends the stream there.
    pub(crate) fn discard_unsent(&mut self) {
        if let Some(Relayed::Single { waiting, .. }) = self.relayed.as_deref_mut() {
            waiting.clear();
        }
        self.backlog = 0;
        self.finish();
    }

    /// Adds bytes that a relay forwards; `last`: the stream ends with them.
    #[inline]
    pub(crate) fn forward(&mut self, stream_id: u16, offset: u64, len: u64, last: bool, origin: Origin) {
        self.backlog += len;
        let chunk = Chunk { offset, len, origin };
        let single = || Box::new(Relayed::Single { waiting: VecDeque::new(), waited: RelayWait::default() });
        match &mut **self.relayed.get_or_insert_with(single) {
            Relayed::PerStream(queues) => return queues.forward(stream_id, chunk, last),
            Relayed::Single { waiting, .. } => waiting.push_back(chunk),
        }
        if last {
            self.total = Some(offset + len);
        }
    }

    /// Bytes that were never sent.
    #[inline]
    pub(crate) fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Bytes that were sent at least once.
    #[inline]
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes of one stream that were never sent.
    #[inline]
    pub(crate) fn backlog_of(&self, stream_id: u16) -> u64 {
        self.queues().map_or(self.backlog, |queues| queues.backlog(stream_id))
    }

    /// Bytes of one stream that were sent at least once.
    #[inline]
    pub(crate) fn sent_of(&self, stream_id: u16) -> u64 {
        self.queues().map_or(self.sent, |queues| queues.sent(stream_id))
    }

    /// How long the data of one stream waited since relays forwarded it; zero if an application supplies it.
    pub(crate) fn waited_of(&self, stream_id: u16) -> RelayWait {
        match self.relayed.as_deref() {
            None => RelayWait::default(),
            Some(Relayed::Single { waited, .. }) => *waited,
            Some(Relayed::PerStream(queues)) => queues.waited(stream_id),
        }
    }

    /// The queues of the streams, if several share the sender.
    #[inline]
    pub(crate) fn queues(&self) -> Option<&StreamQueues> {
        if let Some(Relayed::PerStream(queues)) = self.relayed.as_deref() { Some(queues) } else { None }
    }

    /// As [`Self::queues`], mutable.
    #[inline]
    pub(crate) fn queues_mut(&mut self) -> Option<&mut StreamQueues> {
        if let Some(Relayed::PerStream(queues)) = self.relayed.as_deref_mut() { Some(queues) } else { None }
    }

    /// Bytes that were acknowledged, each counted once.
    #[inline]
    pub(crate) fn acked(&self) -> u64 {
        self.acked
    }

    /// True if every byte of a stream with a known end has been acknowledged.
    pub(crate) fn is_complete(&self) -> bool {
        self.total == Some(self.acked)
    }

    /// Sets the flow-control limit of a stream in bytes; a smaller one is ignored. Returns true if it has grown.
    #[inline]
    pub(crate) fn grant(&mut self, stream_id: u16, credit: u64) -> bool {
        if let Some(queues) = self.queues_mut() {
            return queues.grant(stream_id, credit);
        }
        let more = credit > self.credit;
        if more {
            self.credit = credit;
        }
        more
    }

    /// Counts data that was acknowledged for the first time.
    #[inline]
    pub(crate) fn on_acked(&mut self, payload: u32) {
        self.acked += u64::from(payload);
    }

    /// Queues the data of a lost packet for retransmission.
    pub(crate) fn on_lost(&mut self, number: u64) {
        self.lost.push_back(number);
    }

    /// Packet number of the first queued retransmission.
    #[inline]
    pub(crate) fn first_lost(&self) -> Option<u64> {
        self.lost.front().copied()
    }

    /// Removes the first queued retransmission.
    pub(crate) fn pop_lost(&mut self) {
        self.lost.pop_front();
    }

    /// Length in bytes of the next new data to send, or why there is none.
    #[inline]
    pub(crate) fn next_payload(&self) -> Result<u32, LimitedBy> {
        let available = match self.relayed.as_deref() {
            None => self.backlog,
            Some(Relayed::Single { waiting, .. }) => waiting.front().map_or(0, |chunk| chunk.len),
            Some(Relayed::PerStream(queues)) => return queues.next_payload(),
        };
        let payload = available.min(u64::from(self.packet));
        if payload == 0 {
            return Err(LimitedBy::Data);
        }
        if self.sent + payload > self.credit {
            return Err(LimitedBy::Credit);
        }
        Ok(payload as u32)
    }

    /// Removes the next new data; `payload` is the result of [`Self::next_payload`].
    #[inline]
    pub(crate) fn take(&mut self, now: Time, payload: u32) -> StreamData {
        let data = match self.relayed {
            None => self.application_data(now, payload),
            Some(_) => self.take_relayed(now, payload).unwrap_or_else(|| self.application_data(now, payload)),
        };
        let len = u64::from(payload);
        self.backlog -= len;
        self.sent += len;
        data
    }

    /// Data supplied by the application of this sender; empty data if `payload` is zero.
    #[inline]
    pub(crate) fn application_data(&self, now: Time, payload: u32) -> StreamData {
        let offset = self.sent;
        let last = self.total == Some(offset + u64::from(payload));
        StreamData {
            offset,
            payload,
            last,
            stream_id: 0,
            marked: false,
            origin_time: now,
            queueing: Span::ZERO,
        }
    }

    /// Removes data that relays have forwarded.
    #[inline(never)]
    fn take_relayed(&mut self, now: Time, payload: u32) -> Option<StreamData> {
        match self.relayed.as_deref_mut()? {
            Relayed::PerStream(queues) => queues.take(now, payload),
            Relayed::Single { waiting, waited } => {
                let chunk = waiting.front_mut()?;
                let data = chunk.take(now, payload, self.total, 0, waited);
                if chunk.len == 0 {
                    waiting.pop_front();
                }
                Some(data)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(buffer: &mut SendBuffer, now: Time) -> Option<StreamData> {
        let payload = buffer.next_payload().ok()?;
        Some(buffer.take(now, payload))
    }

    #[test]
    fn data_is_split_into_full_packets_and_a_shorter_last_one() {
        let mut buffer = SendBuffer::new(1000, u64::MAX);
        buffer.supply(1500);
        buffer.supply(1000);
        buffer.finish();
        let sent_data: Vec<_> = core::iter::from_fn(|| take(&mut buffer, Time::ZERO)).collect();
        let shape: Vec<_> = sent_data.iter().map(|data| (data.offset, data.payload, data.last)).collect();
        assert_eq!(shape, [(0, 1000, false), (1000, 1000, false), (2000, 500, true)]);
        assert_eq!(buffer.next_payload(), Err(LimitedBy::Data));
        sent_data.iter().for_each(|data| buffer.on_acked(data.payload));
        assert!(buffer.is_complete());
    }

    #[test]
    fn discarded_data_is_never_sent() {
        let mut buffer = SendBuffer::new(1000, u64::MAX);
        buffer.supply(u64::MAX);
        let data = take(&mut buffer, Time::ZERO).unwrap();
        buffer.discard_unsent();
        assert_eq!((buffer.next_payload(), buffer.backlog()), (Err(LimitedBy::Data), 0));
        buffer.on_acked(data.payload);
        assert!(buffer.is_complete());
    }

    #[test]
    fn an_endless_stream_has_no_end() {
        let mut buffer = SendBuffer::new(1000, u64::MAX);
        buffer.supply(u64::MAX);
        buffer.supply(u64::MAX);
        assert!((0..100).all(|_| take(&mut buffer, Time::ZERO).is_some_and(|data| !data.last)));
        assert!(!buffer.is_complete());
    }

    #[test]
    fn credit_bounds_new_data() {
        let mut buffer = SendBuffer::new(1000, 2500);
        buffer.supply(5000);
        assert!(take(&mut buffer, Time::ZERO).is_some() && take(&mut buffer, Time::ZERO).is_some());
        assert_eq!(buffer.next_payload(), Err(LimitedBy::Credit));
        assert!(buffer.grant(0, 3000) && !buffer.grant(0, 3000) && !buffer.grant(0, 1000));
        assert_eq!(buffer.next_payload(), Ok(1000));
    }

    #[test]
    fn forwarded_data_keeps_its_time_of_origin_and_adds_its_queueing_delay() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut buffer = SendBuffer::new(600, u64::MAX);
        let origin =
            Origin { origin_time: at(1), queueing: Span::from_millis(2), arrived_at: at(10), marked: true };
        buffer.forward(0, 7000, 1000, true, origin);
        let (first, second) = (take(&mut buffer, at(15)).unwrap(), take(&mut buffer, at(20)).unwrap());
        assert_eq!((first.offset, first.payload, first.last), (7000, 600, false));
        assert_eq!((second.offset, second.payload, second.last), (7600, 400, true));
        assert_eq!((first.origin_time, first.queueing, first.marked), (at(1), Span::from_millis(7), true));
        assert_eq!((second.origin_time, second.queueing), (at(1), Span::from_millis(12)));
        // 600 bytes waited 5 ms, 400 bytes 10 ms.
        let waited = buffer.waited_of(0);
        assert_eq!(waited.bytes, 1000);
        assert!((waited.mean_ms_since(RelayWait::default()) - 7.0).abs() < 1e-12);
        assert!(waited.mean_ms_since(waited).is_nan());
    }
}
