//! A network of the simulator that is ready to run, and the names of its parts.

use super::ShortestCompletion;
use crate::names;
use millpond_law::HeaderId;
use millpond_sim::{ApplicationId, FlowId, LinkId, PacketNetwork, Schedule, TransfersId};
use millpond_units::{Bytes, Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// A network of the simulator that is ready to run, and the names of its parts.
pub struct PacketPlan {
    /// The simulator's network.
    pub network: PacketNetwork,
    /// Every direction of every link, in the order of the network.
    pub links: Vec<PacketLinkPlan>,
    /// Every declared flow.
    pub flows: Vec<PacketFlowPlan>,
    /// Every source of transfers.
    pub sources: Vec<TransferSourcePlan>,
    /// Every application.
    pub applications: Vec<ApplicationPlan>,
    /// The name of each protocol whose packets have a header.
    pub protocols: BTreeMap<HeaderId, &'static str>,
    /// Warnings about the scenario, one sentence each.
    pub warnings: Vec<String>,
}

/// One direction of a link.
pub struct PacketLinkPlan {
    /// Its number in the network.
    pub id: LinkId,
    /// The name of the link in the scenario.
    pub name: String,
    /// The name of this direction in series: `L1 ->`.
    pub entity: String,
    /// The nodes at its ends: `R1 -> R2`.
    pub direction: String,
}

/// One flow.
pub struct PacketFlowPlan {
    /// Its number in the network.
    pub id: FlowId,
    /// `short.3`, or the name of the group if it is alone.
    pub name: String,
    /// Its group.
    pub group: String,
    /// The name of its protocol in the scenario.
    pub protocol: String,
    /// Packet size on the wire.
    pub packet: Bytes,
    /// Its base round-trip time, end to end.
    pub base_rtt: Span,
    /// When it starts.
    pub start: Time,
    /// When it stops; none: with the run.
    pub stop: Option<Time>,
    /// Payload of a sized transfer.
    pub size: Option<Bytes>,
    /// The shortest completion time of a sized transfer, if its links have one.
    pub shortest_completion: Option<Span>,
    /// The rate at which its application produces data over time, if that is limited; of a sized transfer its size over its
    /// shortest completion time.
    pub demand: Option<Arc<Schedule>>,
    /// Its weight in fair shares.
    pub weight: f64,
    /// True if it sends pings.
    pub is_ping: bool,
    /// True if it takes what it can get: it neither sends pings nor waits for an application.
    pub competes: bool,
    /// The links that its data cross, as indices into [`PacketPlan::links`].
    pub links: Vec<usize>,
    /// Names of the nodes where it is relayed, in order.
    pub relays: Vec<String>,
    /// For each of its loops, in order: the name of its protocol in the scenario, if it is not that of the flow.
    pub loop_protocols: Vec<Option<String>>,
}

/// One source of transfers, each a flow of its own.
pub struct TransferSourcePlan {
    /// Its number in the network.
    pub id: TransfersId,
    /// `short.3`, or the name of the group if it is alone.
    pub name: String,
    /// Its group.
    pub group: String,
    /// The name of its protocol in the scenario.
    pub protocol: String,
    /// When it starts.
    pub start: Time,
    /// When it stops; none: with the run.
    pub stop: Option<Time>,
    /// The shortest completion times of its transfers, if their links have them.
    pub(super) shortest_completion: Option<ShortestCompletion>,
}

/// An application, whose pages, segments or frames are transfers.
pub struct ApplicationPlan {
    /// Its number in the network.
    pub id: ApplicationId,
    /// The name of its group if it has all flows of the group, else that of its flow.
    pub name: String,
    /// Its group.
    pub group: String,
    /// The name of its protocol in the scenario.
    pub protocol: String,
}

impl PacketPlan {
    /// Warnings about the scenario, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The protocols of all loops, as the scenario names them.
    pub fn protocols(&self) -> BTreeSet<String> {
        let flows = self.flows.iter().flat_map(|flow| {
            let others = flow.loop_protocols.iter().flatten();
            others.chain([&flow.protocol])
        });
        flows.chain(self.sources.iter().map(|source| &source.protocol)).cloned().collect()
    }

    /// The size of the network and its protocols, in one line.
    pub fn outline(&self) -> String {
        let flows = self.flows.iter().map(|flow| flow.protocol.as_str());
        let sources = self.sources.iter().map(|source| source.protocol.as_str());
        let outline = NetworkSize {
            link_directions: self.links.len(),
            flows: self.flows.len(),
            sources: self.sources.len(),
            protocols: flows.chain(sources).collect(),
        };
        outline.to_string()
    }
}

/// What can be said about a plan without building it.
pub struct PacketCheck {
    /// Warnings about the scenario, one sentence each.
    pub warnings: Vec<String>,
    /// The size of the network and its protocols, in one line.
    pub outline: String,
}

/// The size of a network.
pub(super) struct NetworkSize<'a> {
    pub(super) link_directions: usize,
    pub(super) flows: usize,
    /// Sources of transfers.
    pub(super) sources: usize,
    pub(super) protocols: BTreeSet<&'a str>,
}

impl fmt::Display for NetworkSize<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { link_directions, flows, sources, protocols } = self;
        write!(f, "{link_directions} link directions, {flows} flows")?;
        if *sources > 0 {
            write!(f, ", {sources} sources of transfers")?;
        }
        write!(f, " ({})", protocols.iter().copied().collect::<Vec<_>>().join(", "))
    }
}

impl TransferSourcePlan {
    /// The shortest completion time of a transfer of this size, if the links have one.
    pub fn shortest(&self, size: Bytes) -> Option<Span> {
        self.shortest_completion.as_ref().map(|shortest| shortest.of(size))
    }
}

impl PacketFlowPlan {
    /// The name in series of loop number `position` (from 0): `short.3/loop1`, or `short.3` if it is the only one.
    pub fn loop_name(&self, position: usize) -> String {
        names::loop_name(&self.name, self.relays.len(), position)
    }

    /// The name in results of relay number `position` (from 0): `short.3@R1`.
    pub fn relay_name(&self, position: usize) -> Option<String> {
        names::relay_name(&self.name, &self.relays, position)
    }
}
