//! The joint between two loops of a flow.

use crate::send_buffer::Origin;
use crate::{Acknowledgement, Received, ReceiverEnd, Segment, SenderEnd};
use millpond_law::{Ecn, RelayView, Sharing};
use millpond_units::{Bytes, Span, Time};

/// Joins the receiving end of one loop (the sink) to the sending end of the next through a bounded send queue, for one
/// flow. Where several flows share either loop, there is one of these for each of them.
///
/// ```text
///   previous loop --> [ sink ] --> send queue, at most `limit` --> [ next sender ] --> next loop
///         ^              |              of each flow                     ^
///         +--- credit ---+   what the next sender has sent so far        +--- other flows, in fair turns
///                            of the flow, plus the limit
/// ```
///
/// **Nothing acknowledged is lost**: the sink tells the previous sender how many bytes of the flow's stream it may send
/// in all. That is what the next sender has sent so far plus the limit, so that what is in flight towards the relay and
/// what waits in it never exceed the limit together; it should be well above the bandwidth-delay product of the
/// previous loop. Retransmissions need no credit.
///
/// **Order of arrival**: a packet's bytes are handed on as they arrive, under their own stream offset, without
/// waiting for earlier bytes that got lost; the flow's last receiver puts them in order. Each byte is handed on once.
/// Birth time, queueing and the mark travel with the bytes; their wait in the send queue is added when they leave.
#[derive(Clone, Copy, Debug)]
pub struct Relay {
    limit: Bytes,
    packet: Bytes,
    /// The flow's number in the previous loop.
    before: u16,
    /// The flow's number in the next loop.
    after: u16,
}

impl Relay {
    /// A relay whose send queue holds `limit`, at least two packets of the previous loop, which are `packet` long.
    pub fn new(limit: Bytes, packet: Bytes) -> Self {
        Self { limit: limit.max(packet * 2), packet, before: 0, after: 0 }
    }

    /// The same for the flow with these numbers among those that share the previous and the next loop.
    pub fn between(self, before: u16, after: u16) -> Self {
        Self { before, after, ..self }
    }

    /// What the send queue can hold: the previous sender's [`credit`](crate::SenderConfig::credit) to begin with.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// What the sink's law may know of the next loop.
    #[inline]
    pub fn view(&self, now: Time, next: &SenderEnd) -> RelayView {
        RelayView {
            next_rate: next.allowed_rate(now),
            backlog: next.backlog_of(self.after),
            limit: self.limit,
            next_rtt: next.smoothed_rtt().unwrap_or(Span::ZERO),
            next_base_rtt: next.min_rtt().unwrap_or(Span::ZERO),
            sharing: next.sharing(self.after),
        }
    }

    /// The same, of the next loop as far as this flow's share of it goes: for a sink whose flows part here.
    pub fn share(&self, now: Time, next: &SenderEnd) -> RelayView {
        let whole = self.view(now, next);
        let next_rate = whole.next_rate.scale(whole.sharing.weight);
        RelayView { next_rate, sharing: Sharing::ALONE, ..whole }
    }

    /// A data packet is about to arrive at the sink: its flow counts among those that share the next loop.
    #[inline]
    pub fn announce(&self, now: Time, segment: &Segment, next: &mut SenderEnd) {
        next.on_arrival(now, self.after, is_marked(segment));
    }

    /// A data packet arrived at the sink; what is new goes into the send queue. Poll the next sender afterwards.
    #[inline]
    pub fn on_data(
        &self,
        now: Time,
        segment: &Segment,
        view: Option<&RelayView>,
        sink: &mut ReceiverEnd,
        next: &mut SenderEnd,
    ) -> Received {
        let end = segment.offset.saturating_add(segment.payload.into());
        let origin = Origin {
            birth: segment.birth,
            queueing: segment.queueing,
            since: now,
            marked: is_marked(segment),
        };
        sink.set_credit(self.before, self.credit(next));
        sink.receive(now, segment, view, |fresh| {
            let last = segment.last && fresh.end == end;
            next.forward(self.after, fresh.start, fresh.end - fresh.start, last, origin);
        })
    }

    /// After the next sender has sent: an acknowledgement that tells of new credit, if the previous sender has used
    /// up all that it was told of and would otherwise wait for ever.
    #[inline]
    pub fn on_sent(&self, now: Time, sink: &mut ReceiverEnd, next: &SenderEnd) -> Option<Acknowledgement> {
        let credit = self.credit(next);
        sink.set_credit(self.before, credit);
        let (told, arrived) = (sink.told_credit(self.before), sink.delivered_of(self.before));
        let exhausted = told.saturating_sub(arrived) < self.packet.get();
        let worth_telling = credit.saturating_sub(told) >= self.packet.get();
        (exhausted && worth_telling).then(|| sink.acknowledge(now, self.before, None))
    }

    /// How many bytes of the flow's stream the previous sender may send in all.
    #[inline]
    fn credit(&self, next: &SenderEnd) -> u64 {
        next.handed_out_of(self.after).get().saturating_add(self.limit.get())
    }
}

/// Has a queue on the way here marked the packet, in this loop or in one before?
fn is_marked(segment: &Segment) -> bool {
    segment.marked_upstream || segment.ecn == Ecn::Ce
}
