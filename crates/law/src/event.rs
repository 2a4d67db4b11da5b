//! The events of a sender. Each event is a struct and also a value of [`Event`], so that a run can be recorded, replayed
//! to a single law, and fuzzed.

use crate::Header;
use millpond_units::{Bytes, Rate, Span};

/// The start of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Size of a full packet on the wire. Windows and bytes in flight count wire bytes.
    pub packet: Bytes,
    /// The least capacity of the loop's links, if the protocol declares that its senders need it.
    pub capacity: Option<Rate>,
    /// Rate of the sender's own interface: its first link, if the protocol declares that its senders need it.
    pub interface: Option<Rate>,
    /// The weight of this flow, 1 by default.
    pub weight: f64,
    /// Links from the sender to the receiver, as the receiver of a real flow counts them from the TTL of its packets; at
    /// least one.
    pub hops: u32,
}

impl Start {
    /// The start of a flow of weight 1 over one link that receives no signal.
    pub const fn plain(packet: Bytes) -> Self {
        Self { packet, capacity: None, interface: None, weight: 1.0, hops: 1 }
    }
}

/// An arriving acknowledgement of new data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Newly acknowledged bytes, on the wire.
    pub bytes: Bytes,
    /// Newly acknowledged packets.
    pub packets: u64,
    /// Round-trip time of the newest packet acknowledged, less the receiver's own delay; none if that packet was
    /// not newly acknowledged.
    pub rtt: Option<Span>,
    /// Least round-trip time of the loop so far: the estimate of the base RTT.
    pub min_rtt: Span,
    /// Smoothed round-trip time (RFC 9002, section 5.3).
    pub smoothed_rtt: Span,
    /// Bytes in flight just before this acknowledgement.
    pub prior_in_flight: Bytes,
    /// Bytes in flight after it, without acknowledged and lost packets.
    pub in_flight: Bytes,
    /// Number of newly acknowledged packets with a CE mark.
    pub ce_packets: u64,
    /// Their bytes.
    pub ce_bytes: Bytes,
    /// All bytes delivered so far.
    pub delivered: Bytes,
    /// Value of `delivered` at the time when the newest acknowledged packet was sent.
    pub prior_delivered: Bytes,
    /// Time in which `delivered - prior_delivered` was delivered; zero if there is no valid sample, and always unless the
    /// protocol declares that it needs [samples](crate::Needs::samples).
    pub delivery_span: Span,
    /// Round trips completed. It increases when a packet is acknowledged that was sent after the last increase.
    pub round: u64,
    /// Bytes declared lost by this acknowledgement (their [`Congestion`] follows).
    pub newly_lost: Bytes,
    /// All bytes declared lost so far.
    pub lost: Bytes,
    /// Value of `lost` at the time when the newest acknowledged packet was sent, if the protocol declares that it needs
    /// [samples](crate::Needs::samples).
    pub prior_lost: Bytes,
    /// Bytes in flight just after that packet was sent, itself included; under the same condition.
    pub in_flight_at_send: Bytes,
    /// Was the sender application-limited when the newest acknowledged packet was sent?
    pub app_limited: bool,
    /// What had stopped the sender before this acknowledgement.
    pub limited_by: LimitedBy,
    /// The receiver's echo.
    pub header: Header,
}

/// What stops a sender from sending its next packet at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// The window is full, or too many bytes are in flight.
    Window,
    /// The pacing rate.
    Pace,
    /// The application has supplied no more data.
    Data,
    /// The receiver has granted no more credit.
    Credit,
    /// Persistent congestion: only probes leave until the next acknowledgement.
    NoFeedback,
}

impl Ack {
    /// Is the window underutilized: did the sender have less data, or less credit, than it was allowed to send before
    /// this acknowledgement (RFC 9002, section 7.8)?
    pub fn window_unused(&self) -> bool {
        matches!(self.limited_by, LimitedBy::Data | LimitedBy::Credit)
    }

    /// The delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation), if it is valid.
    pub fn delivery_rate(&self) -> Option<Rate> {
        (!self.delivery_span.is_zero())
            .then(|| self.delivered.saturating_sub(self.prior_delivered).per(self.delivery_span))
    }
}

/// The cause of a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Packets were declared lost by packet or time threshold (RFC 9002, section 6.1).
    Loss,
    /// A probe timeout fired (RFC 9002, section 6.2): a probe is sent, and nothing is declared lost yet.
    Timeout,
    /// CE marks were echoed.
    Ecn,
    /// Persistent congestion: no acknowledgement for the duration of RFC 9002, section 7.6.
    NoFeedback,
}

/// Whether a congestion event starts a new episode. Losses and marks have separate episodes, since a law may answer
/// them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// The first event of its episode: the lost or marked packet was sent after the last episode began.
    New,
    /// A later event of the same episode.
    Same,
}

/// A congestion event that the endpoint detected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// Its cause.
    pub cause: Cause,
    /// Whether it starts a new episode.
    pub episode: Episode,
    /// Bytes lost or marked.
    pub bytes: Bytes,
    /// Bytes in flight without the lost packets.
    pub in_flight: Bytes,
    /// Bytes in flight before.
    pub prior_in_flight: Bytes,
}

/// A packet that was declared lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostPacket {
    /// Its bytes, on the wire.
    pub bytes: Bytes,
    /// Bytes in flight just after it was sent, itself included.
    pub in_flight_at_send: Bytes,
    /// Bytes declared lost between its departure and now, itself included.
    pub lost_since: Bytes,
    /// All bytes delivered so far.
    pub delivered: Bytes,
    /// Was the sender application-limited when it was sent?
    pub app_limited: bool,
}

/// The acknowledgement of a packet that had been declared lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpuriousLoss {
    /// Its bytes, on the wire.
    pub bytes: Bytes,
    /// True if with it every packet declared lost in the current loss episode has been acknowledged.
    pub whole_episode: bool,
}

/// Any event of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// See [`Sender::on_start`](crate::Sender::on_start).
    Start(Start),
    /// See [`Sender::on_ack`](crate::Sender::on_ack).
    Ack(Ack),
    /// See [`Sender::on_congestion`](crate::Sender::on_congestion).
    Congestion(Congestion),
    /// See [`Sender::on_lost_packet`](crate::Sender::on_lost_packet).
    LostPacket(LostPacket),
    /// See [`Sender::on_spurious_loss`](crate::Sender::on_spurious_loss).
    SpuriousLoss(SpuriousLoss),
    /// See [`Sender::on_recovery_end`](crate::Sender::on_recovery_end).
    RecoveryEnd,
    /// See [`Sender::on_idle_restart`](crate::Sender::on_idle_restart).
    IdleRestart,
    /// See [`Sender::on_capacity`](crate::Sender::on_capacity).
    Capacity(Rate),
    /// See [`Sender::on_timer`](crate::Sender::on_timer).
    Timer,
    /// See [`Sender::on_sent`](crate::Sender::on_sent).
    Sent {
        /// Bytes of the packet on the wire.
        bytes: Bytes,
        /// Bytes in flight, this packet included.
        in_flight: Bytes,
    },
    /// See [`Sender::on_weight`](crate::Sender::on_weight).
    Weight(f64),
    /// See [`Sender::on_forwarded`](crate::Sender::on_forwarded).
    Forwarded {
        /// Did the packet carry a CE mark?
        marked: bool,
    },
}

impl Ack {
    /// The acknowledgement of one unmarked packet of `bytes` after `rtt`. Tests change single fields of it:
    /// `Ack { ce_packets: 1, ..Ack::plain(..) }`.
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
            lost: Bytes::ZERO,
            prior_lost: Bytes::ZERO,
            in_flight_at_send: in_flight + bytes,
            app_limited: false,
            limited_by: LimitedBy::Window,
            header: Header::NONE,
        }
    }
}
