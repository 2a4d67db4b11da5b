//! What a sending end is told when it is built, and what it tells.

use millpond_law::Needs;
use millpond_units::{Bytes, Span};

/// What a sending end is told when it is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderConfig {
    /// A full packet on the wire.
    pub packet: Bytes,
    /// How much of it is not payload.
    pub overhead: Bytes,
    /// This flow's weight among others.
    pub weight: f64,
    /// What the protocol asks for; what it does not ask for, it is not called for.
    pub needs: Needs,
    /// How much of the stream the receiver has room for before its first acknowledgement; `u64::MAX` unless it is a
    /// relay's.
    pub credit: u64,
    /// A packet is lost if one with a number higher by this was acknowledged (RFC 9002: 3).
    pub packet_threshold: u64,
    /// No timer is finer than this (RFC 9002: 1 ms).
    pub granularity: Span,
    /// The round-trip time assumed before it is known (RFC 9002: 333 ms).
    pub initial_rtt: Span,
    /// The longest the receiver may hold back an acknowledgement.
    pub max_ack_delay: Span,
    /// No more than this is in flight, whatever the law says.
    pub max_in_flight: Bytes,
}

impl SenderConfig {
    /// The usual configuration for packets of this size on the wire, all of it payload.
    pub const fn new(packet: Bytes, needs: Needs) -> Self {
        Self {
            packet,
            overhead: Bytes::ZERO,
            weight: 1.0,
            needs,
            credit: u64::MAX,
            packet_threshold: 3,
            granularity: Span::from_millis(1),
            initial_rtt: Span::from_millis(333),
            max_ack_delay: Span::ZERO,
            max_in_flight: Bytes::new(1 << 28),
        }
    }

    /// How many bytes of a stream a packet holds.
    pub(super) fn payload(&self) -> u32 {
        u32::try_from(self.packet.saturating_sub(self.overhead).get()).unwrap_or(u32::MAX)
    }
}

/// What a sending end has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Packets sent, retransmissions and probes included.
    pub sent_packets: u64,
    /// Their bytes on the wire.
    pub sent_bytes: u64,
    /// Packets sent whose piece of the stream had been sent before.
    pub retransmitted_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Packets acknowledged.
    pub acked_packets: u64,
    /// Packets declared lost and acknowledged after all.
    pub spurious_losses: u64,
    /// Probe timeouts.
    pub probe_timeouts: u64,
    /// Times that nothing came back for the persistent-congestion span.
    pub silences: u64,
}

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOutcome {
    /// A round-trip time sample, if it gave one.
    pub rtt: Option<Span>,
    /// Newly acknowledged, on the wire.
    pub acked: Bytes,
    /// Declared lost because of it, on the wire.
    pub lost: Bytes,
}
