//! A network that is ready to run, and the names of its parts.

use crate::names;
use millpond_sim::{FlowId, LinkId, PacketNetwork, TransfersId};
use millpond_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

/// A network ready to run, and what its parts are called.
pub struct Plan {
    /// The simulator's network.
    pub network: PacketNetwork,
    /// Every direction of every link, in the order of the network.
    pub links: Vec<PlannedLink>,
    /// Every declared flow.
    pub flows: Vec<PlannedFlow>,
    /// Every source of transfers.
    pub sources: Vec<PlannedSource>,
    /// What a user should know before looking at results.
    pub warnings: Vec<String>,
}

/// One direction of a link.
pub struct PlannedLink {
    /// Its number in the network.
    pub id: LinkId,
    /// As the scenario calls the link.
    pub name: String,
    /// `L1 ->`, as series call this direction.
    pub entity: String,
    /// `R1 -> R2`.
    pub direction: String,
}

/// One flow.
pub struct PlannedFlow {
    /// Its number in the network.
    pub id: FlowId,
    /// `short.3`, or the name of the group if it is alone.
    pub name: String,
    /// Its group.
    pub group: String,
    /// As flows call the protocol.
    pub protocol: String,
    /// Size on the wire.
    pub packet: Bytes,
    /// When it starts.
    pub start: Time,
    /// When it stops; none: with the run.
    pub stop: Option<Time>,
    /// Payload of a sized transfer.
    pub size: Option<Bytes>,
    /// What its application asks for, if that is limited.
    pub demand: Option<Rate>,
    /// The links that its data cross, as indices of [`Plan::links`].
    pub links: Vec<usize>,
    /// Names of the nodes where it is relayed, in order.
    pub relays: Vec<String>,
}

/// One source of transfers, each a flow of its own.
pub struct PlannedSource {
    /// Its number in the network.
    pub id: TransfersId,
    /// `short.3`, or the name of the group if it is alone.
    pub name: String,
    /// Its group.
    pub group: String,
    /// As flows call the protocol.
    pub protocol: String,
    /// When it starts.
    pub start: Time,
    /// When it stops; none: with the run.
    pub stop: Option<Time>,
}

impl Plan {
    /// What a user should know before looking at results.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What will be run, in a few words.
    pub fn outline(&self) -> String {
        let flows = self.flows.iter().map(|flow| flow.protocol.as_str());
        let sources = self.sources.iter().map(|source| source.protocol.as_str());
        let protocols =
            flows.chain(sources).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
        let transfers = match self.sources.len() {
            0 => String::new(),
            sources => format!(", {sources} sources of transfers"),
        };
        format!("{} link directions, {} flows{transfers} ({protocols})", self.links.len(), self.flows.len())
    }
}

impl PlannedFlow {
    /// How series call the loop at `position` (from 0): `short.3/loop1`, or `short.3` if it is the only one.
    pub fn loop_name(&self, position: usize) -> String {
        names::loop_name(&self.name, self.relays.len(), position)
    }

    /// How results call the relay at `position` (from 0): `short.3@R1`.
    pub fn relay_name(&self, position: usize) -> Option<String> {
        names::relay_name(&self.name, &self.relays, position)
    }
}
