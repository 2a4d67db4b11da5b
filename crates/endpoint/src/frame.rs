//! The frames between the two ends of a loop.

use crate::AckRanges;
use millpond_law::{Ecn, Header};
use millpond_units::{Span, Time};

/// An acknowledgement's size on the wire, unless configured otherwise, in bytes.
pub const ACK_BYTES: u32 = 40;

/// A data packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Packet number in this loop; never reused, also not by a retransmission.
    pub number: u64,
    /// The sender needs no acknowledgement of packet numbers below this one.
    pub floor: u64,
    /// Offset of its data in the stream of the flow; the same in every loop.
    pub offset: u64,
    /// Bytes of stream data; a probe for credit carries none.
    pub payload: u32,
    /// Size on the wire in bytes.
    pub bytes: u32,
    /// When its sender sent it.
    pub sent_at: Time,
    /// When the sender of the flow's first loop first sent its data.
    pub origin_time: Time,
    /// Queueing delay of its data in links and relays of all loops so far; links add to it.
    pub queueing: Span,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// True if the stream ends with it.
    pub last: bool,
    /// Its stream among those that share the loop; 0 in a loop of one flow.
    pub stream_id: u16,
    /// True if its data had a CE mark in an earlier loop of the flow.
    pub marked_upstream: bool,
    /// Header for explicit feedback from links to the receiver.
    pub header: Header,
}

impl Segment {
    /// A segment that nobody has sent: a place to write one to.
    pub const UNUSED: Self = Self {
        number: 0,
        floor: 0,
        offset: 0,
        payload: 0,
        bytes: 0,
        sent_at: Time::ZERO,
        origin_time: Time::ZERO,
        queueing: Span::ZERO,
        ecn: Ecn::NotCapable,
        last: false,
        stream_id: 0,
        marked_upstream: false,
        header: Header::NONE,
    };
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledgement {
    /// The packet numbers that have arrived.
    pub ranges: AckRanges,
    /// Time between the arrival of the newest of them and this acknowledgement.
    pub delay: Span,
    /// Number of packets received with a CE mark since the loop began, modulo 2^32.
    pub ce_packets: u32,
    /// Number of packets received since the loop began whose ECN field was zero, modulo 2^32.
    pub not_ect_packets: u32,
    /// Bytes on the wire of those packets.
    pub ce_bytes: u64,
    /// Flow-control limit of a stream: how many bytes of it may be sent in all; `u64::MAX` without limit.
    pub credit: u64,
    /// The stream of the credit, as in [`Segment::stream_id`].
    pub stream_id: u16,
    /// Size on the wire in bytes.
    pub bytes: u32,
    /// Header written by the receiver's law. Links must not change it.
    pub echo: Header,
}

/// A data packet or an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frame {
    /// From sender to receiver.
    Data(Segment),
    /// From receiver to sender.
    Ack(Acknowledgement),
}

impl Frame {
    /// Size on the wire in bytes.
    #[inline]
    pub const fn bytes(&self) -> u32 {
        match self {
            Self::Data(segment) => segment.bytes,
            Self::Ack(ack) => ack.bytes,
        }
    }
}

/// The simulator stores a frame and 16 bytes of its own in two cache lines.
const _: () = assert!(size_of::<Frame>() <= 112);
