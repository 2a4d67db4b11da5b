//! What travels between the two ends of a loop.

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
    /// The least packet number whose acknowledgement still matters to the sender.
    pub floor: u64,
    /// Where its bytes lie in the flow's stream; the same in every loop of the flow.
    pub offset: u64,
    /// How many bytes of the stream it carries; a probe for credit carries none.
    pub payload: u32,
    /// Its size on the wire.
    pub bytes: u32,
    /// When it left its sender.
    pub sent_at: Time,
    /// When the sender of the flow's first loop first sent these bytes.
    pub birth: Time,
    /// How long these bytes have waited so far in queues of links and relays, over all loops; links add to it.
    pub queueing: Span,
    /// The ECN bits.
    pub ecn: Ecn,
    /// Does the stream end with it?
    pub last: bool,
    /// Whose bytes it carries: the flow's number among those that share the loop, 0 where there is one alone.
    pub member: u16,
    /// Did its bytes bear a CE mark in an earlier loop of their flow?
    pub marked_upstream: bool,
    /// Explicit feedback of links to the receiver.
    pub header: Header,
}

/// What a receiver tells its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledgement {
    /// Which packets have arrived.
    pub ranges: AckRanges,
    /// How long the newest of them has waited for this acknowledgement.
    pub delay: Span,
    /// How many packets have arrived with a CE mark since the loop began.
    pub ce_packets: u64,
    /// Their bytes on the wire.
    pub ce_bytes: u64,
    /// How many bytes of its stream a flow may send in all; `u64::MAX` if there is no limit.
    pub credit: u64,
    /// Whose credit it is, as in [`Segment::member`].
    pub member: u16,
    /// Its own size on the wire.
    pub bytes: u32,
    /// What the receiver's law has to say. Links must not touch it.
    pub echo: Header,
}

/// Either of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frame {
    /// From sender to receiver.
    Data(Segment),
    /// From receiver to sender.
    Ack(Acknowledgement),
}

impl Frame {
    /// Its size on the wire, in bytes.
    #[inline]
    pub const fn bytes(&self) -> u32 {
        match self {
            Self::Data(segment) => segment.bytes,
            Self::Ack(ack) => ack.bytes,
        }
    }
}

/// A packet in a simulator is a frame and 24 bytes of its own, two cache lines in all.
const _: () = assert!(size_of::<Frame>() <= 104);
