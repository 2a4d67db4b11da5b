//! Whether flows share a connection to the next neighbour, or each has one of its own.
//!
//! A connection of its own is a loop of its own: its first stream is the flow, and it is closed when the flow has ended at both
//! ends. A law sends at least a packet per round-trip time on each connection, so that many of them fill a path whatever its
//! queue signals. Therefore their number is bounded.

use millpond_units::{Bytes, Rate, Span};

/// The part of the bandwidth-delay product that the least rates of all connections may be: a quarter.
const SHARE: u64 = 4;

/// How flows are carried to the next neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connections {
    /// One connection, with a stream for each flow.
    #[default]
    Shared,
    /// A connection for each flow.
    PerFlow,
}

/// How many connections may share a path: as many as a quarter of its bandwidth-delay product in packets, and at least one.
pub fn most_connections(capacity: Rate, base_rtt: Span, packet: Bytes) -> usize {
    let packets = capacity.bytes_in(base_rtt).get() / packet.get().max(1);
    usize::try_from(packets / SHARE).unwrap_or(usize::MAX).max(1)
}

/// The least RTT at which a path carries this number of connections.
pub fn least_rtt(capacity: Rate, connections: usize, packet: Bytes) -> Span {
    capacity.time_for(packet * (connections as u64).saturating_mul(SHARE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_send_at_most_a_quarter_of_the_capacity_at_a_packet_per_rtt() {
        let (rate, packet) = (Rate::from_mbps(60.0), Bytes::new(1500));
        // 60 Mbit/s times 20 ms: 100 packets.
        assert_eq!(most_connections(rate, Span::from_millis(20), packet), 25);
        assert_eq!(most_connections(rate, Span::from_micros(10), packet), 1);
        assert_eq!(least_rtt(rate, 25, packet), Span::from_millis(20));
        assert_eq!(most_connections(rate, least_rtt(rate, 1000, packet), packet), 1000);
    }
}
