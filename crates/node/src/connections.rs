//! Whether flows share a connection to the next neighbour, or each has one of its own.
//!
//! A connection of its own is a loop of its own: its first stream is the flow, and it is closed when the flow has ended at both
//! ends. A law sends at least a packet per round-trip time on each connection, so that many of them fill a path whatever its
//! queue signals. Therefore their number is bounded.

use crate::flow::{Abort, LinkId};
use crate::link::{FLOW_ENDED, stream_id};
use crate::node::Node;
use millpond_units::{Bytes, Rate, Span, Time};
use noq_proto::{Dir, StreamId, VarInt};

/// The part of the bandwidth-delay product that the least rates of all connections may be: a quarter.
const SHARE: u64 = 4;
/// The first stream of the side that has begun a connection.
const FIRST_STREAM: u64 = 0;

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

impl Node {
    /// Begins a connection for a flow from `source`; returns it with the stream that it will have.
    pub(crate) fn open_connection(
        &mut self,
        now: Time,
        source: Option<LinkId>,
    ) -> Result<(LinkId, StreamId), Abort> {
        let base = self.next.and_then(|next| self.links.get(&next)).ok_or(Abort::Refused)?;
        let base_rtt = base.control.get().min_rtt().ok_or(Abort::Refused)?;
        let capacity = self.config.capacity.ok_or(Abort::Refused)?;
        if self.of_flows.len() >= most_connections(capacity, base_rtt, self.config.packet) {
            return Err(Abort::Floor);
        }
        let neighbour = self.config.next.ok_or(Abort::Refused)?;
        let id = self.connect(now, neighbour).map_err(|error| {
            tracing::error!(neighbour = %neighbour.address, error, "cannot connect for a flow");
            Abort::Refused
        })?;
        self.of_flows.insert(id, source);
        Ok((id, stream_id(FIRST_STREAM)))
    }

    /// The connection of a flow is established: its stream begins, unless the flow has ended.
    pub(crate) fn begin_stream(&mut self, id: LinkId) {
        let Some(flow) = self.streams.get(&(id, FIRST_STREAM)).copied() else { return };
        let Some(link) = self.links.get_mut(&id) else { return };
        if link.connection.streams().open(Dir::Bi) == Some(stream_id(FIRST_STREAM)) {
            link.begun = 1;
        } else {
            self.abort_flow(flow, Abort::Refused);
        }
    }

    /// Closes the connection of a flow that has ended here and at the neighbour.
    pub(crate) fn close_if_over(&mut self, now: Time, id: LinkId) {
        if !self.of_flows.contains_key(&id) || self.streams.contains_key(&(id, FIRST_STREAM)) {
            return;
        }
        let instant = self.clock.instant(now);
        let Some(link) = self.links.get_mut(&id).filter(|link| link.is_up) else { return };
        // A flow that ended during the handshake has no stream.
        if link.ended_at_peer >= link.begun {
            link.is_up = false;
            link.connection.close(instant, VarInt::from_u32(FLOW_ENDED), "the flow has ended".into());
            self.of_flows.remove(&id);
        }
    }
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
