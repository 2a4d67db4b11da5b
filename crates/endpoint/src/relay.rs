//! The relay between two loops of a flow.

use crate::chunk::Origin;
use crate::{Acknowledgement, Received, ReceiverEnd, Segment, SenderEnd};
use millpond_law::{Ecn, RelayView, Sharing};
use millpond_units::{Bytes, Span, Time};

/// Joins the receiver of one loop (the sink) to the sender of the next loop through a bounded send queue, for one flow.
/// If several flows share either loop, there is one relay for each of them.
///
/// ```text
///   previous loop --> [ sink ] --> send queue, at most `limit` --> [ next sender ] --> next loop
///         ^              |              of each flow                     ^
///         +--- credit ---+   what the next sender has sent so far        +--- other flows, by fair queueing
///                            of the flow, plus the limit
/// ```
///
/// **No acknowledged byte is lost.** The sink advertises how many bytes of the stream the previous sender may send in
/// all: the bytes that the next sender has sent, plus the limit. So data in flight towards the relay and data queued in
/// it never exceed the limit together. The limit should be well above the bandwidth-delay product of the previous
/// loop. Retransmissions need no credit.
///
/// **Order.** Data is forwarded in the order of arrival, with its stream offset, without waiting for lost data before
/// it. The last receiver of the flow restores the order. Each byte is forwarded once. Time of origin, queueing delay
/// and CE mark are forwarded with it; the delay in the send queue is added on departure.
#[derive(Clone, Copy, Debug)]
pub struct Relay {
    limit: Bytes,
    packet: Bytes,
    /// Stream of the flow in the previous loop.
    incoming_stream: u16,
    /// Stream of the flow in the next loop.
    outgoing_stream: u16,
}

impl Relay {
    /// A relay of stream 0 whose send queue holds `limit`, at least two packets of size `packet` of the previous loop.
    pub fn new(limit: Bytes, packet: Bytes) -> Self {
        Self { limit: limit.max(packet * 2), packet, incoming_stream: 0, outgoing_stream: 0 }
    }

    /// The same relay for these streams of the previous and the next loop.
    pub fn with_stream_ids(self, incoming_stream: u16, outgoing_stream: u16) -> Self {
        Self { incoming_stream, outgoing_stream, ..self }
    }

    /// Capacity of the send queue: the initial [`credit`](crate::SenderConfig::credit) of the previous sender.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// State of the next loop, as input of the sink's law.
    #[inline]
    pub fn view(&self, now: Time, next: &SenderEnd) -> RelayView {
        RelayView {
            next_rate: next.allowed_rate(now),
            backlog: next.backlog_of(self.outgoing_stream),
            limit: self.limit,
            next_rtt: next.smoothed_rtt().unwrap_or(Span::ZERO),
            next_base_rtt: next.min_rtt().unwrap_or(Span::ZERO),
            sharing: next.sharing(self.outgoing_stream),
        }
    }

    /// State of the next loop with only this flow's share of its rate, for a sink whose flows take different next loops.
    pub fn view_of_share(&self, now: Time, next: &SenderEnd) -> RelayView {
        let whole = self.view(now, next);
        let next_rate = whole.next_rate.scale(whole.sharing.weight);
        RelayView { next_rate, sharing: Sharing::ALONE, ..whole }
    }

    /// Must precede [`Self::on_data`]: marks the flow as active in the next loop and reports the CE mark to its law.
    #[inline]
    pub fn on_arrival(&self, now: Time, segment: &Segment, next: &mut SenderEnd) {
        next.on_relay_arrival(now, self.outgoing_stream, is_marked(segment));
    }

    /// Receives a data packet and adds its new bytes to the send queue. Poll the next sender afterwards.
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
            origin_time: segment.origin_time,
            queueing: segment.queueing,
            arrived_at: now,
            marked: is_marked(segment),
        };
        sink.set_credit(self.incoming_stream, self.credit(next));
        sink.receive(now, segment, view, |fresh| {
            let last = segment.last && fresh.end == end;
            next.forward(self.outgoing_stream, fresh.start, fresh.end - fresh.start, last, origin);
        })
    }

    /// Called after the next sender has sent. Returns an acknowledgement with new credit if the previous sender has used
    /// up the advertised credit and could not continue without it.
    #[inline]
    pub fn on_sent(&self, now: Time, sink: &mut ReceiverEnd, next: &SenderEnd) -> Option<Acknowledgement> {
        let credit = self.credit(next);
        sink.set_credit(self.incoming_stream, credit);
        let (advertised, delivered) =
            (sink.advertised_credit(self.incoming_stream), sink.delivered_of(self.incoming_stream));
        let exhausted = advertised.saturating_sub(delivered) < self.packet.get();
        let worth_advertising = credit.saturating_sub(advertised) >= self.packet.get();
        (exhausted && worth_advertising).then(|| sink.acknowledge(now, self.incoming_stream, None))
    }

    /// Bytes of the stream that the previous sender may send in all.
    #[inline]
    fn credit(&self, next: &SenderEnd) -> u64 {
        next.stream_bytes_sent_of(self.outgoing_stream).get().saturating_add(self.limit.get())
    }
}

/// True if a queue has marked the packet in this loop or its data in an earlier one.
fn is_marked(segment: &Segment) -> bool {
    segment.marked_upstream || segment.ecn == Ecn::Ce
}
