//! What can happen to a sender: each event is one record of facts, and each is also a value of [`Event`], so that
//! a run can be recorded, replayed into one law alone, and fuzzed.

use crate::{Context, Header, Sender};
use millpond_units::{Bytes, Rate, Span};

/// The loop begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// A full packet on the wire; windows and what is in flight are counted in such bytes.
    pub packet: Bytes,
    /// The least capacity of the loop's links as told to the sender, where the protocol declares that it needs it.
    pub capacity: Option<Rate>,
    /// This flow's weight among others (1 unless the scenario says otherwise).
    pub weight: f64,
}

/// An acknowledgement arrived that acknowledged something new.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Newly acknowledged bytes, on the wire.
    pub bytes: Bytes,
    /// Newly acknowledged packets.
    pub packets: u64,
    /// Round-trip time of the newest packet acknowledged, less the receiver's own delay; none if that packet was
    /// not newly acknowledged.
    pub rtt: Option<Span>,
    /// Least round-trip time of the loop so far: the base RTT as far as the sender can know.
    pub min_rtt: Span,
    /// Smoothed round-trip time (RFC 9002, section 5.3).
    pub smoothed_rtt: Span,
    /// What was in flight just before this acknowledgement.
    pub prior_in_flight: Bytes,
    /// What is in flight after it (acknowledged and lost packets removed).
    pub in_flight: Bytes,
    /// Of the newly acknowledged packets, how many bore a CE mark.
    pub ce_packets: u64,
    /// Their bytes.
    pub ce_bytes: Bytes,
    /// All bytes delivered so far.
    pub delivered: Bytes,
    /// All bytes that had been delivered when the newest acknowledged packet was sent.
    pub prior_delivered: Bytes,
    /// The span over which `delivered - prior_delivered` was delivered; zero if there is no valid sample.
    pub delivery_span: Span,
    /// Round trips completed: it grows by one when a packet that was sent after the last growth is acknowledged.
    pub round: u64,
    /// Bytes declared lost by this acknowledgement (their [`Congestion`] follows).
    pub newly_lost: Bytes,
    /// Was the sender short of data, not of permission, when the newest acknowledged packet was sent?
    pub app_limited: bool,
    /// Is the sender short of data now: would it have been allowed to send more than it had before this ack?
    pub window_unused: bool,
    /// The receiver's echo.
    pub header: Header,
}

impl Ack {
    /// The delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation), if it is valid.
    pub fn delivery_rate(&self) -> Option<Rate> {
        (!self.delivery_span.is_zero())
            .then(|| self.delivered.saturating_sub(self.prior_delivered).per(self.delivery_span))
    }
}

/// Why a sender is told of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Packets were declared lost by packet or time threshold (RFC 9002, section 6.1).
    Loss,
    /// A probe timeout fired (RFC 9002, section 6.2): no verdict yet, a probe goes out.
    Timeout,
    /// Packets came back with a CE mark.
    Ecn,
    /// Nothing at all came back for the persistent-congestion span (RFC 9002, section 7.6).
    NoFeedback,
}

/// Does this congestion belong to an episode of its kind that the law has already been told of? Losses and marks have
/// episodes of their own: a law may answer each in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// The first of its episode: the congested packet was sent after the last episode began.
    New,
    /// Another packet of the same episode.
    Same,
}

/// Congestion, as the endpoint has established it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// What kind.
    pub cause: Cause,
    /// Of a new episode or of one already reported.
    pub episode: Episode,
    /// Bytes lost or marked.
    pub bytes: Bytes,
    /// What is in flight after removal of what was lost.
    pub in_flight: Bytes,
    /// What was in flight before.
    pub prior_in_flight: Bytes,
}

/// Any event that a sender can be told of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// See [`Sender::on_start`].
    Start(Start),
    /// See [`Sender::on_ack`].
    Ack(Ack),
    /// See [`Sender::on_congestion`].
    Congestion(Congestion),
    /// See [`Sender::on_capacity`].
    Capacity(Rate),
    /// See [`Sender::on_timer`].
    Timer,
    /// See [`Sender::on_sent`].
    Sent {
        /// Bytes of the packet on the wire.
        bytes: Bytes,
        /// What is in flight with it.
        in_flight: Bytes,
    },
    /// See [`Sender::on_weight`].
    Weight(f64),
    /// See [`Sender::on_forwarded`].
    Forwarded {
        /// Did it bear a mark?
        marked: bool,
    },
}

/// Tells `sender` of `event` at a time.
pub fn deliver(sender: &mut dyn Sender, cx: &mut Context<'_>, event: &Event) {
    match event {
        Event::Start(start) => sender.on_start(cx, start),
        Event::Ack(ack) => sender.on_ack(cx, ack),
        Event::Congestion(congestion) => sender.on_congestion(cx, congestion),
        Event::Capacity(rate) => sender.on_capacity(cx, *rate),
        Event::Timer => sender.on_timer(cx),
        Event::Sent { bytes, in_flight } => sender.on_sent(cx, *bytes, *in_flight),
        Event::Weight(weight) => sender.on_weight(cx, *weight),
        Event::Forwarded { marked } => sender.on_forwarded(cx, *marked),
    }
}

impl Ack {
    /// An acknowledgement of one packet of `bytes` after `rtt`, with nothing else remarkable: the ground on which
    /// tests write `Ack { ce_packets: 1, ..Ack::plain(..) }`.
    pub fn plain(bytes: Bytes, rtt: Span, in_flight: Bytes) -> Self {
        Self {
            bytes,
            packets: 1,
            rtt: Some(rtt),
            min_rtt: rtt,
            smoothed_rtt: rtt,
            prior_in_flight: in_flight + bytes,
            in_flight,
            ce_packets: 0,
            ce_bytes: Bytes::ZERO,
            delivered: bytes,
            prior_delivered: Bytes::ZERO,
            delivery_span: rtt,
            round: 0,
            newly_lost: Bytes::ZERO,
            app_limited: false,
            window_unused: false,
            header: Header::NONE,
        }
    }
}
