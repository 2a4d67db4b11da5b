//! The relay between two loops of a flow.

use crate::chunk::Origin;
use crate::{Acknowledgement, Received, ReceiverEnd, Segment, SenderEnd};
use millpond_law::{Ecn, RelayView, Sharing};
use millpond_units::{Bytes, Rate, Span, Time};

/// The bound of a relay's send queue together with the data under way to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RelayBuffer {
    /// This size, at least two packets.
    Size(Bytes),
    /// The smaller of a size and of what the sender of the next loop may send of the flow in `delay`, which is a share of all if
    /// flows share that loop. The latter is at least
    /// [`Self::LEAST_PACKETS`], and a size at least two packets.
    Limited {
        /// Upper bound at any rate of the next loop.
        size: Bytes,
        /// Upper bound of the time for which data waits, if the next loop sends at the rate that it may have.
        delay: Span,
    },
}

impl RelayBuffer {
    /// The smallest bound that depends on the next loop, in packets: two under way (a window of at least one packet,
    /// rounded up), the two that LGCC keeps in the queue (`cushion`), and one that arrives while another leaves.
    pub const LEAST_PACKETS: u64 = 5;

    /// The bound before the first RTT sample of the next loop.
    pub fn initial(self, packet: Bytes) -> Bytes {
        match self {
            Self::Size(size) => size.max(packet * 2),
            Self::Limited { size, .. } => size.min(packet * Self::LEAST_PACKETS).max(packet * 2),
        }
    }

    /// The bound while the next loop has this sender, of which the flow has this stream.
    #[inline]
    fn current(self, packet: Bytes, next: &SenderEnd, stream_id: u16) -> Bytes {
        let Self::Limited { size, delay } = self else { return self.initial(packet) };
        let Some(allowed) = next.allowed_within(delay, stream_id) else { return self.initial(packet) };
        size.min(allowed.max(packet * Self::LEAST_PACKETS)).max(packet * 2)
    }
}

/// Joins the receiver of one loop (the sink) to the sender of the next loop through a bounded send queue, for one flow.
/// If several flows share either loop, there is one relay for each of them.
///
/// ```text
///   previous loop --> [ sink ] --> send queue, at most the limit -> [ next sender ] --> next loop
///         ^              |              of each flow                     ^
///         +--- credit ---+   what the next sender has sent so far        +--- other flows, by fair queueing
///                            of the flow, plus the limit
/// ```
///
/// **No acknowledged byte is lost.** The sink advertises how many bytes of the stream the previous sender may send in
/// all: the bytes that the next sender has sent, plus the limit. So data in flight towards the relay and data queued in
/// it never exceed the limit together, the greatest one since they were sent if it varies. The limit should be well
/// above the base RTT of the previous loop times the rate. Retransmissions need no credit.
///
/// **Order.** Data is forwarded in the order of arrival, with its stream offset, without waiting for lost data before
/// it. The last receiver of the flow restores the order. Each byte is forwarded once. Time of origin, queueing delay
/// and CE mark are forwarded with it; the delay in the send queue is added on departure.
#[derive(Clone, Copy, Debug)]
pub struct Relay {
    buffer: RelayBuffer,
    packet: Bytes,
    /// Stream of the flow in the previous loop.
    incoming_stream: u16,
    /// Stream of the flow in the next loop.
    outgoing_stream: u16,
}

impl Relay {
    /// A relay of stream 0 with this buffer, for packets of size `packet` in the previous loop.
    pub fn new(buffer: RelayBuffer, packet: Bytes) -> Self {
        Self { buffer, packet, incoming_stream: 0, outgoing_stream: 0 }
    }

    /// The same relay for these streams of the previous and the next loop.
    pub fn with_stream_ids(self, incoming_stream: u16, outgoing_stream: u16) -> Self {
        Self { incoming_stream, outgoing_stream, ..self }
    }

    /// Stream of the flow in the next loop.
    pub fn outgoing_stream(&self) -> u16 {
        self.outgoing_stream
    }

    /// The initial [`credit`](crate::SenderConfig::credit) of the previous sender.
    pub fn initial_credit(&self) -> Bytes {
        self.buffer.initial(self.packet)
    }

    /// Capacity of the send queue.
    #[inline]
    pub fn limit(&self, next: &SenderEnd) -> Bytes {
        self.buffer.current(self.packet, next, self.outgoing_stream)
    }

    /// State of the next loop, as input of the sink's law.
    #[inline]
    pub fn view(&self, now: Time, next: &SenderEnd) -> RelayView {
        let next_rate = next.allowed_rate(now);
        RelayView {
            next_rate,
            next_pace: next.permit().pace.unwrap_or(Rate::MAX),
            next_in_flight: next.in_flight(),
            backlog: next.backlog_of(self.outgoing_stream),
            next_backlog: next.backlog(),
            limit: self.limit(next),
            next_rtt: next.smoothed_rtt().unwrap_or(Span::ZERO),
            next_base_rtt: next.min_rtt().unwrap_or(Span::ZERO),
            sharing: next.sharing(self.outgoing_stream, next_rate),
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
        next.on_relay_arrival(
            now,
            self.outgoing_stream,
            Bytes::new(segment.bytes.into()),
            is_marked(segment),
        );
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
    /// up the advertised credit and could not continue without it; or one with new feedback if the law of the sink needs
    /// it and the flow is the only one of the previous loop.
    #[inline]
    pub fn on_sent(&self, now: Time, sink: &mut ReceiverEnd, next: &SenderEnd) -> Option<Acknowledgement> {
        let credit = self.credit(next);
        sink.set_credit(self.incoming_stream, credit);
        let (advertised, delivered) =
            (sink.advertised_credit(self.incoming_stream), sink.delivered_of(self.incoming_stream));
        let exhausted = advertised.saturating_sub(delivered) < self.packet.get();
        let worth_advertising = credit.saturating_sub(advertised) >= self.packet.get();
        let has_update = sink.sends_updates() && sink.update_feedback(&self.view(now, next));
        (exhausted && worth_advertising || has_update)
            .then(|| sink.acknowledge(now, self.incoming_stream, None))
    }

    /// Bytes of the stream that the previous sender may send in all.
    #[inline]
    fn credit(&self, next: &SenderEnd) -> u64 {
        next.stream_bytes_sent_of(self.outgoing_stream).get().saturating_add(self.limit(next).get())
    }
}

/// True if a queue has marked the packet in this loop or its data in an earlier one.
fn is_marked(segment: &Segment) -> bool {
    segment.marked_upstream || segment.ecn == Ecn::Ce
}
