//! From a scenario to a network of the simulator.
//!
//! ```text
//!   Scenario --> protocols ---------+--> links: buffers, laws --> Builder --> PacketNetwork
//!           \--> flow instances ----+--> flows: loops, relays ----^
//! ```

mod flows;
mod links;
mod plan;
mod shared_loops;

pub use plan::{PacketFlowPlan, PacketLinkPlan, PacketPlan, TransferSourcePlan};

use crate::flow_instances::{FlowInstance, flow_instances};
use crate::protocols::{ConfiguredProtocol, configured_protocols};
use crate::traffic::{hop_name, traffic};
use crate::warnings;
use flows::FlowBuilder;
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Hop, Place, Scenario, Workload};
use millpond_sim::{Builder, FlowId, NodeId, TransfersId};
use shared_loops::SharedLoops;

/// Plans a run of `scenario` with the protocols of `registry`.
///
/// # Errors
/// An unknown protocol or queue, a setting that a law refuses, or a path without a return path, with its line.
pub fn plan(scenario: &Scenario, registry: &Registry) -> Result<PacketPlan, Faults> {
    plan_network(scenario, registry).map_err(Faults::from)
}

fn plan_network(scenario: &Scenario, registry: &Registry) -> Result<PacketPlan, Fault> {
    let protocols = configured_protocols(scenario, registry)?;
    let instances = flow_instances(scenario)?;
    let mut builder = Builder::new(scenario.seed);
    let nodes: Vec<NodeId> = scenario.nodes.iter().map(|_| builder.node()).collect();
    let links = plan_links(scenario, registry, &protocols, &instances, &nodes, &mut builder)?;
    let FlowPlans { flows, sources } = plan_flows(scenario, &protocols, &instances, &links, &mut builder)?;
    let network = builder.build().map_err(|error| scenario.fault(Place::default(), error.to_string(), ""))?;
    Ok(PacketPlan {
        network,
        links: links.into_iter().map(|(_, link)| link).collect(),
        flows,
        sources,
        warnings: warnings::warnings(scenario, &protocols, &instances),
    })
}

fn plan_links(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
    instances: &[FlowInstance<'_>],
    nodes: &[NodeId],
    builder: &mut Builder,
) -> Result<Vec<(Hop, PacketLinkPlan)>, Fault> {
    let mut plans = Vec::new();
    for (hop, traffic) in
        traffic(scenario, instances, protocols.iter().map(|configured| configured.label.value.as_str()))
    {
        let ends = (scenario.tail(hop), scenario.head(hop));
        let spec = links::link(scenario, registry, protocols, &traffic, hop, (nodes[ends.0], nodes[ends.1]))?;
        let link = PacketLinkPlan {
            id: builder.link(spec),
            name: scenario.links[hop.link].name.value.clone(),
            entity: hop_name(scenario, hop),
            direction: format!("{} -> {}", scenario.nodes[ends.0], scenario.nodes[ends.1]),
        };
        plans.push((hop, link));
    }
    Ok(plans)
}

/// The flows and the sources of transfers.
#[derive(Default)]
struct FlowPlans {
    flows: Vec<PacketFlowPlan>,
    sources: Vec<TransferSourcePlan>,
}

fn plan_flows(
    scenario: &Scenario,
    protocols: &[ConfiguredProtocol<'_>],
    instances: &[FlowInstance<'_>],
    links: &[(Hop, PacketLinkPlan)],
    builder: &mut Builder,
) -> Result<FlowPlans, Fault> {
    let link = |hop: Hop| links.iter().find(|(other, _)| *other == hop).map(|(_, link)| link.id);
    let index = |hop: &Hop| links.iter().position(|(other, _)| other == hop);
    let (mut plans, mut shared_loops) = (FlowPlans::default(), SharedLoops::default());
    for instance in instances {
        let Some(configured) =
            protocols.iter().find(|configured| configured.label.value == instance.group.protocol.value)
        else {
            continue;
        };
        let flow_builder = FlowBuilder { scenario, configured, instance, link: &link };
        match &instance.group.workload {
            Workload::Transfers { size, gap } => {
                let id = builder.transfers(flow_builder.transfers(size, *gap)?);
                plans.sources.push(source_plan(id, configured, instance));
            }
            _ => {
                let spec = flow_builder.flow(&mut shared_loops, builder)?;
                let id = builder.flow(spec);
                let links = instance.forward_path.iter().filter_map(index).collect();
                plans.flows.push(flow_plan(id, scenario, configured, instance, links));
            }
        }
    }
    Ok(plans)
}

fn source_plan(
    id: TransfersId,
    configured: &ConfiguredProtocol<'_>,
    instance: &FlowInstance<'_>,
) -> TransferSourcePlan {
    TransferSourcePlan {
        id,
        name: instance.name.clone(),
        group: instance.group.name.value.clone(),
        protocol: configured.label.value.clone(),
        start: instance.samples.start,
        stop: instance.samples.stop,
    }
}

fn flow_plan(
    id: FlowId,
    scenario: &Scenario,
    configured: &ConfiguredProtocol<'_>,
    instance: &FlowInstance<'_>,
    links: Vec<usize>,
) -> PacketFlowPlan {
    let loops = scenario.loops(instance.forward_path, configured.entry);
    let relay = |hops: &Vec<Hop>| hops.first().map(|hop| scenario.nodes[scenario.tail(*hop)].clone());
    PacketFlowPlan {
        id,
        name: instance.name.clone(),
        group: instance.group.name.value.clone(),
        protocol: configured.label.value.clone(),
        packet: instance.group.packet,
        base_rtt: instance.base_rtt,
        start: instance.samples.start,
        stop: instance.samples.stop,
        size: instance.samples.size,
        demand: instance.group.workload.rate(),
        links,
        relays: loops.iter().skip(1).filter_map(relay).collect(),
    }
}
