//! The joint between two loops of a flow.

use crate::stream::Origin;
use crate::{Acknowledgement, Received, ReceiverEnd, Segment, SenderEnd};
use millpond_law::RelayView;
use millpond_units::{Bytes, Span, Time};

/// Joins the receiving end of one loop (the sink) to the sending end of the next through a bounded send queue.
///
/// ```text
///   previous loop --> [ sink ] --> send queue, at most `limit` --> [ next sender ] --> next loop
///         ^              |
///         +--- credit ---+   what the next sender has sent so far, plus the limit
/// ```
///
/// **Nothing acknowledged is lost**: the sink tells the previous sender how many bytes of the stream it may send in
/// all. That is what the next sender has sent so far plus the limit, so that what is in flight towards the relay and
/// what waits in it never exceed the limit together; it should be well above the bandwidth-delay product of the
/// previous loop. Retransmissions need no credit.
///
/// **Order of arrival**: a packet's bytes are handed on as they arrive, under their own stream offset, without
/// waiting for earlier bytes that got lost; the flow's last receiver puts them in order. Each byte is handed on once.
/// Birth time and queueing travel with the bytes; their wait in the send queue is added when they leave.
#[derive(Clone, Debug)]
pub struct Relay {
    limit: Bytes,
    packet: Bytes,
    members: u32,
    weight: f64,
}

impl Relay {
    /// A relay whose send queue holds `limit`, at least two packets of the previous loop, which are `packet` long.
    pub fn new(limit: Bytes, packet: Bytes) -> Self {
        Self { limit: limit.max(packet * 2), packet, members: 1, weight: 1.0 }
    }

    /// What the send queue can hold: the previous sender's [`credit`](crate::SenderConfig::credit) to begin with.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// What the sink's law may know of the next loop.
    #[inline]
    pub fn view(&self, next: &SenderEnd) -> RelayView {
        RelayView {
            next_rate: next.allowed_rate(),
            backlog: next.backlog(),
            limit: self.limit,
            next_rtt: next.smoothed_rtt().unwrap_or(Span::ZERO),
            next_base_rtt: next.min_rtt().unwrap_or(Span::ZERO),
            members: self.members,
            weight: self.weight,
        }
    }

    /// A data packet arrived at the sink; what is new goes into the send queue. Poll the next sender afterwards.
    #[inline]
    pub fn on_data(
        &self,
        now: Time,
        segment: &Segment,
        sink: &mut ReceiverEnd,
        next: &mut SenderEnd,
    ) -> Received {
        let view = self.view(next);
        let end = segment.offset.saturating_add(segment.payload.into());
        let origin = Origin { birth: segment.birth, queueing: segment.queueing, since: now };
        sink.set_credit(self.credit(next));
        sink.receive(now, segment, Some(&view), |fresh| {
            let last = segment.last && fresh.end == end;
            next.forward(fresh.start, fresh.end - fresh.start, last, origin);
        })
    }

    /// After the next sender has sent: an acknowledgement that tells of new credit, if the previous sender has used
    /// up all that it was told of and would otherwise wait for ever.
    #[inline]
    pub fn on_sent(&self, now: Time, sink: &mut ReceiverEnd, next: &SenderEnd) -> Option<Acknowledgement> {
        let credit = self.credit(next);
        sink.set_credit(credit);
        let (told, arrived) = (sink.told_credit(), sink.counters().delivered);
        let exhausted = told.saturating_sub(arrived) < self.packet.get();
        let worth_telling = credit.saturating_sub(told) >= self.packet.get();
        (exhausted && worth_telling).then(|| sink.acknowledge(now, None))
    }

    /// How many bytes of the stream the previous sender may send in all.
    #[inline]
    fn credit(&self, next: &SenderEnd) -> u64 {
        next.handed_out().get().saturating_add(self.limit.get())
    }
}
