//! The connections of single flows to the next neighbour: how they begin and end.

use crate::connections::most_connections;
use crate::flow::{Abort, LinkId};
use crate::link::{FLOW_ENDED, stream_id};
use crate::node::Node;
use millpond_units::Time;
use noq_proto::{Dir, StreamId, VarInt};

/// The first stream of the side that has begun a connection.
const FIRST_STREAM: u64 = 0;

impl Node {
    /// Begins a connection for a flow from `source`; returns it with the stream that it will have.
    pub(crate) fn open_connection(
        &mut self,
        now: Time,
        source: Option<LinkId>,
    ) -> Result<(LinkId, StreamId), Abort> {
        let base = self.next.and_then(|next| self.links.get(next)).ok_or(Abort::Refused)?;
        let base_rtt = base.control.get().min_rtt().ok_or(Abort::Refused)?;
        let capacity = self.config.capacity.ok_or(Abort::Refused)?;
        if self.flow_connections.len() >= most_connections(capacity, base_rtt, self.config.packet) {
            return Err(Abort::Floor);
        }
        let neighbour = self.config.next.ok_or(Abort::Refused)?;
        let id = self.connect(now, neighbour).map_err(|error| {
            tracing::error!(neighbour = %neighbour.address, error, "cannot connect for a flow");
            Abort::Refused
        })?;
        self.flow_connections.insert(id, source);
        Ok((id, stream_id(FIRST_STREAM)))
    }

    /// The connection of a flow is established: its stream begins, unless the flow has ended.
    pub(crate) fn begin_stream(&mut self, id: LinkId) {
        let Some(flow) = self.streams.get(&(id, FIRST_STREAM)).copied() else { return };
        let Some(link) = self.links.get_mut(id) else { return };
        if link.connection.streams().open(Dir::Bi) == Some(stream_id(FIRST_STREAM)) {
            link.begun = 1;
        } else {
            self.abort_flow(flow, Abort::Refused);
        }
    }

    /// Closes the connection of a flow that has ended here and at the neighbour.
    pub(crate) fn close_if_over(&mut self, now: Time, id: LinkId) {
        if !self.flow_connections.contains(id) || self.streams.contains_key(&(id, FIRST_STREAM)) {
            return;
        }
        let instant = self.clock.instant(now);
        let Some(link) = self.links.get_mut(id).filter(|link| link.is_up) else { return };
        // A flow that ended during the handshake has no stream.
        if link.ended_at_peer >= link.begun {
            link.is_up = false;
            link.connection.close(instant, VarInt::from_u32(FLOW_ENDED), "the flow has ended".into());
            self.flow_connections.remove(id);
        }
    }
}
