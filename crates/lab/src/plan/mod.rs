//! From a scenario to a network that can run: every name resolved, every setting checked, every draw made.
//!
//! ```text
//!   Scenario --> cast: protocols, settings    --+
//!           \--> members: flows, draws, ways  --+--> links: buffers, laws --> Builder --> Network
//!                                               +--> flows: loops, relays ----^
//! ```

pub(crate) mod aggregates;
pub(crate) mod buffers;
pub(crate) mod cast;
mod draws;
pub(crate) mod faults;
pub(crate) mod flows;
pub(crate) mod laws;
pub(crate) mod links;
pub(crate) mod members;
pub(crate) mod warnings;

use aggregates::Aggregates;
use cast::Role;
use flows::Maker;
use links::{hop_name, traffic};
use members::Member;
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Hop, Place, Scenario, Workload};
use millpond_sim::{Builder, FlowId, LinkId, Network, NodeId, TransfersId};
use millpond_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

/// A network ready to run, and what its parts are called.
pub struct Plan {
    pub(crate) network: Network,
    pub(crate) links: Vec<PlannedLink>,
    pub(crate) flows: Vec<PlannedFlow>,
    pub(crate) sources: Vec<PlannedSource>,
    pub(crate) warnings: Vec<String>,
}

/// One direction of a link.
pub(crate) struct PlannedLink {
    pub(crate) id: LinkId,
    /// As the scenario calls the link.
    pub(crate) name: String,
    /// `L1 ->`, as series call this direction.
    pub(crate) entity: String,
    /// `R1 -> R2`.
    pub(crate) direction: String,
}

/// One flow.
pub(crate) struct PlannedFlow {
    pub(crate) id: FlowId,
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) protocol: String,
    pub(crate) packet: Bytes,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    /// Payload of a sized transfer.
    pub(crate) size: Option<Bytes>,
    /// What its application asks for, if that is limited.
    pub(crate) demand: Option<Rate>,
    /// The links that its data cross, as indices of [`Plan::links`].
    pub(crate) links: Vec<usize>,
    /// Names of the nodes where it is relayed, in order.
    pub(crate) relays: Vec<String>,
}

/// One source of transfers, each a flow of its own.
pub(crate) struct PlannedSource {
    pub(crate) id: TransfersId,
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) protocol: String,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
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
    pub(crate) fn loop_name(&self, position: usize) -> String {
        if self.relays.is_empty() { self.name.clone() } else { format!("{}/loop{}", self.name, position + 1) }
    }

    /// How results call the relay at `position` (from 0): `short.3@R1`.
    pub(crate) fn relay_name(&self, position: usize) -> Option<String> {
        self.relays.get(position).map(|node| format!("{}@{node}", self.name))
    }
}

/// Plans a run of `scenario` with the protocols of `registry`.
///
/// # Errors
/// An unknown protocol or queue, a setting that cannot be, a path that leads nowhere: each points at its line.
pub fn plan(scenario: &Scenario, registry: &Registry) -> Result<Plan, Faults> {
    planned(scenario, registry).map_err(Faults::from)
}

fn planned(scenario: &Scenario, registry: &Registry) -> Result<Plan, Fault> {
    let roles = cast::cast(scenario, registry)?;
    let members = members::members(scenario)?;
    let mut builder = Builder::new(scenario.seed);
    let nodes: Vec<NodeId> = scenario.nodes.iter().map(|_| builder.node()).collect();
    let links = plan_links(scenario, registry, &roles, &members, &nodes, &mut builder)?;
    let Traffic { flows, sources } = plan_traffic(scenario, &roles, &members, &links, &mut builder)?;
    let network = builder.build().map_err(|error| scenario.fault(Place::default(), error.to_string(), ""))?;
    Ok(Plan {
        network,
        links: links.into_iter().map(|(_, link)| link).collect(),
        flows,
        sources,
        warnings: warnings::warnings(scenario, &roles, &members),
    })
}

fn plan_links(
    scenario: &Scenario,
    registry: &Registry,
    roles: &[Role<'_>],
    members: &[Member<'_>],
    nodes: &[NodeId],
    builder: &mut Builder,
) -> Result<Vec<(Hop, PlannedLink)>, Fault> {
    let mut planned = Vec::new();
    for (hop, traffic) in traffic(scenario, members, roles.iter().map(|role| role.label.value.as_str())) {
        let ends = (scenario.tail(hop), scenario.head(hop));
        let spec = links::link(scenario, registry, roles, &traffic, hop, (nodes[ends.0], nodes[ends.1]))?;
        let link = PlannedLink {
            id: builder.link(spec),
            name: scenario.links[hop.link].name.value.clone(),
            entity: hop_name(scenario, hop),
            direction: format!("{} -> {}", scenario.nodes[ends.0], scenario.nodes[ends.1]),
        };
        planned.push((hop, link));
    }
    Ok(planned)
}

/// All that crosses the links.
#[derive(Default)]
struct Traffic {
    flows: Vec<PlannedFlow>,
    sources: Vec<PlannedSource>,
}

fn plan_traffic(
    scenario: &Scenario,
    roles: &[Role<'_>],
    members: &[Member<'_>],
    links: &[(Hop, PlannedLink)],
    builder: &mut Builder,
) -> Result<Traffic, Fault> {
    let link = |hop: Hop| links.iter().find(|(other, _)| *other == hop).map(|(_, link)| link.id);
    let place = |hop: &Hop| links.iter().position(|(other, _)| other == hop);
    let (mut traffic, mut aggregates) = (Traffic::default(), Aggregates::default());
    for member in members {
        let Some(role) = roles.iter().find(|role| role.label.value == member.group.protocol.value) else {
            continue;
        };
        let maker = Maker { scenario, role, member, link: &link };
        match &member.group.workload {
            Workload::Transfers { size, gap } => {
                let id = builder.transfers(maker.transfers(size, *gap)?);
                traffic.sources.push(planned_source(id, role, member));
            }
            _ => {
                let spec = maker.flow(&mut aggregates, builder)?;
                let id = builder.flow(spec);
                let crossed = member.there.iter().filter_map(place).collect();
                traffic.flows.push(planned_flow(id, scenario, role, (member, crossed)));
            }
        }
    }
    Ok(traffic)
}

fn planned_source(id: TransfersId, role: &Role<'_>, member: &Member<'_>) -> PlannedSource {
    PlannedSource {
        id,
        name: member.name.clone(),
        group: member.group.name.value.clone(),
        protocol: role.label.value.clone(),
        start: member.draw.start,
        stop: member.draw.stop,
    }
}

fn planned_flow(
    id: FlowId,
    scenario: &Scenario,
    role: &Role<'_>,
    (member, links): (&Member<'_>, Vec<usize>),
) -> PlannedFlow {
    let cuts = scenario.loops(member.there, role.entry);
    let relay = |hops: &Vec<Hop>| hops.first().map(|hop| scenario.nodes[scenario.tail(*hop)].clone());
    PlannedFlow {
        id,
        name: member.name.clone(),
        group: member.group.name.value.clone(),
        protocol: role.label.value.clone(),
        packet: member.group.packet,
        start: member.draw.start,
        stop: member.draw.stop,
        size: member.draw.size,
        demand: member.group.workload.rate(),
        links,
        relays: cuts.iter().skip(1).filter_map(relay).collect(),
    }
}
