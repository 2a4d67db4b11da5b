//! From a scenario to a network that can run: every name resolved, every setting checked, every draw made.
//!
//! ```text
//!   Scenario --> cast: protocols, settings    --+
//!           \--> members: flows, draws, ways  --+--> links: buffers, laws --> Builder --> Network
//!                                               +--> flows: loops, relays ----^
//! ```

mod flows;
mod links;
mod plan;
mod shared_loops;

pub use plan::{Plan, PlannedFlow, PlannedLink, PlannedSource};

use crate::flow_instances::{self, Member};
use crate::protocols::{self, Role};
use crate::traffic::{hop_name, traffic};
use crate::warnings;
use flows::Maker;
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Hop, Place, Scenario, Workload};
use millpond_sim::{Builder, FlowId, NodeId, TransfersId};
use shared_loops::Aggregates;

/// Plans a run of `scenario` with the protocols of `registry`.
///
/// # Errors
/// An unknown protocol or queue, a setting that cannot be, a path that leads nowhere: each points at its line.
pub fn plan(scenario: &Scenario, registry: &Registry) -> Result<Plan, Faults> {
    planned(scenario, registry).map_err(Faults::from)
}

fn planned(scenario: &Scenario, registry: &Registry) -> Result<Plan, Fault> {
    let roles = protocols::cast(scenario, registry)?;
    let members = flow_instances::members(scenario)?;
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
