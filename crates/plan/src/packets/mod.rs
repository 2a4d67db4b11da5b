//! From a scenario to a network of the simulator.
//!
//! ```text
//!   Scenario --> protocols ---------+--> links: buffers, laws --> Builder --> PacketNetwork
//!           \--> flow instances ----+--> flows: loops, relays ----^
//! ```

mod applications;
mod flows;
mod links;
mod plan;
mod shared_loops;
mod shortest_completion;

pub use plan::{
    ApplicationPlan, PacketCheck, PacketFlowPlan, PacketLinkPlan, PacketPlan, TransferSourcePlan,
};
pub use shortest_completion::ShortestCompletion;

use crate::flow_instances::FlowInstance;
use crate::protocols::{ConfiguredProtocol, configured_protocols, labelled, other_protocols_of_loops};
use crate::queue_conflicts::check_queues;
use crate::traffic::{hop_name, hops, traffic};
use crate::warnings;
use applications::applications;
use flows::FlowBuilder;
use millpond_law::HeaderId;
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Hop, Place, Scenario, Workload};
use millpond_sim::{ApplicationSpec, Builder, FlowId, LinkSpec, NodeId, PacketNetwork, TransfersId};
use plan::NetworkSize;
use shared_loops::SharedLoops;
use std::collections::{BTreeMap, BTreeSet};

/// Plans a run of `scenario` with the protocols of `registry`.
///
/// # Errors
/// An unknown protocol or queue, a setting that a law refuses, or a path without a return path, with its line.
pub fn plan(scenario: &Scenario, registry: &Registry) -> Result<PacketPlan, Faults> {
    plan_network(scenario, registry)
}

/// Checks a run of `scenario` as [`plan`] does, but builds one flow for each path of a group, so that a scenario with a
/// million flows needs little memory.
///
/// # Errors
/// Those of [`plan`].
pub fn check(scenario: &Scenario, registry: &Registry) -> Result<PacketCheck, Faults> {
    let protocols = configured_protocols(scenario, registry)?;
    let instances = flow_instances(scenario, &protocols, registry)?;
    let mut built = BTreeSet::new();
    // Each path of each group is stored once.
    let is_first = |instance: &&FlowInstance<'_>| built.insert(instance.forward_path.as_ptr());
    let examples = instances.iter().filter(is_first);
    build(scenario, registry, &protocols, &instances, examples)?;
    let is_source =
        |instance: &&FlowInstance<'_>| matches!(instance.group.workload, Workload::Transfers { .. });
    let sources = instances.iter().filter(is_source).count();
    let outline = NetworkSize {
        link_directions: hops(scenario).len(),
        flows: instances.len() - sources,
        sources,
        protocols: instances.iter().map(|instance| instance.group.protocol.value.as_str()).collect(),
    };
    Ok(PacketCheck {
        warnings: warnings::warnings(scenario, registry, &protocols, &instances)?,
        outline: outline.to_string(),
    })
}

fn plan_network(scenario: &Scenario, registry: &Registry) -> Result<PacketPlan, Faults> {
    let protocols = configured_protocols(scenario, registry)?;
    let instances = flow_instances(scenario, &protocols, registry)?;
    let Built { network, links, flows } =
        build(scenario, registry, &protocols, &instances, instances.iter())?;
    let FlowPlans { flows, sources, applications } = flows;
    let warnings = warnings::warnings(scenario, registry, &protocols, &instances)?;
    let headers = protocols.iter().map(|c| (c.needs.header, c.protocol.card().name));
    let protocols = headers.filter(|(header, _)| *header != HeaderId::NONE).collect();
    Ok(PacketPlan { network, links, flows, sources, applications, protocols, warnings })
}

/// The flows of a scenario whose protocols agree on the queue of each link.
fn flow_instances<'s>(
    scenario: &'s Scenario,
    protocols: &[ConfiguredProtocol<'_>],
    registry: &Registry,
) -> Result<Vec<FlowInstance<'s>>, Faults> {
    check_queues(scenario, registry, &protocols.iter().collect::<Vec<_>>())?;
    crate::flow_instances::flow_instances(scenario)
}

/// The directions of all links of `scenario`, in the order of its links, forward before backward.
///
/// # Errors
/// Those of [`plan`].
pub fn links(scenario: &Scenario, registry: &Registry) -> Result<Vec<LinkSpec>, Faults> {
    let protocols = configured_protocols(scenario, registry)?;
    let instances = flow_instances(scenario, &protocols, registry)?;
    let nodes: Vec<NodeId> = {
        let mut builder = Builder::new(scenario.seed);
        scenario.nodes.iter().map(|_| builder.node()).collect()
    };
    let specs = link_specs(scenario, registry, &protocols, &instances, &nodes)?;
    Ok(specs.into_iter().map(|(_, spec)| spec).collect())
}

/// A network and the names of its parts.
struct Built {
    network: PacketNetwork,
    links: Vec<PacketLinkPlan>,
    flows: FlowPlans,
}

/// Builds the network for the traffic of all `instances`, with the flows `built`.
fn build<'a, 's: 'a>(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
    instances: &[FlowInstance<'s>],
    built: impl Iterator<Item = &'a FlowInstance<'s>>,
) -> Result<Built, Faults> {
    let mut builder = Builder::new(scenario.seed);
    let nodes: Vec<NodeId> = scenario.nodes.iter().map(|_| builder.node()).collect();
    let links = plan_links(scenario, registry, protocols, instances, &nodes, &mut builder)?;
    let flows = plan_flows(scenario, protocols, built, &links, &mut builder)?;
    let network = builder.build().map_err(|error| scenario.fault(Place::default(), error.to_string(), ""))?;
    Ok(Built { network, links: links.into_iter().map(|(_, link)| link).collect(), flows })
}

fn plan_links(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
    instances: &[FlowInstance<'_>],
    nodes: &[NodeId],
    builder: &mut Builder,
) -> Result<Vec<(Hop, PacketLinkPlan)>, Faults> {
    let mut plans = Vec::new();
    for (hop, spec) in link_specs(scenario, registry, protocols, instances, nodes)? {
        let ends = (scenario.tail(hop), scenario.head(hop));
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

/// Each direction of each link, for the traffic of all `instances`.
fn link_specs(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
    instances: &[FlowInstance<'_>],
    nodes: &[NodeId],
) -> Result<Vec<(Hop, LinkSpec)>, Faults> {
    let specs = traffic(scenario, instances, protocols).into_iter().map(|(hop, traffic)| {
        let ends = (nodes[scenario.tail(hop)], nodes[scenario.head(hop)]);
        Ok((hop, links::link(scenario, registry, protocols, &traffic, hop, ends)?))
    });
    specs.collect()
}

/// The flows and the sources of transfers.
#[derive(Default)]
struct FlowPlans {
    flows: Vec<PacketFlowPlan>,
    sources: Vec<TransferSourcePlan>,
    applications: Vec<ApplicationPlan>,
}

fn plan_flows<'a, 's: 'a>(
    scenario: &Scenario,
    protocols: &[ConfiguredProtocol<'_>],
    instances: impl Iterator<Item = &'a FlowInstance<'s>>,
    links: &[(Hop, PacketLinkPlan)],
    builder: &mut Builder,
) -> Result<FlowPlans, Fault> {
    let indices: BTreeMap<Hop, usize> =
        links.iter().enumerate().map(|(index, (hop, _))| (*hop, index)).collect();
    let index = |hop: &Hop| indices.get(hop).copied();
    let link = |hop: Hop| index(&hop).and_then(|index| links.get(index)).map(|(_, link)| link.id);
    let (mut plans, mut shared_loops) = (FlowPlans::default(), SharedLoops::default());
    let mut with_ids = Vec::new();
    for instance in instances {
        let Some(configured) = labelled(protocols, &instance.group.protocol) else { continue };
        let flow_builder = FlowBuilder { scenario, configured, protocols, instance, link: &link };
        match &instance.group.workload {
            Workload::Transfers { size, gap } => {
                let id = builder.transfers(flow_builder.transfers(size, *gap)?);
                plans.sources.push(source_plan(id, &flow_builder));
            }
            _ => {
                let spec = flow_builder.flow(&mut shared_loops, builder)?;
                let demand = flow_builder.demand(&spec.workload);
                let id = builder.flow(spec);
                with_ids.push((instance, id));
                let links = instance.forward_path.iter().filter_map(index).collect();
                plans.flows.push(PacketFlowPlan { demand, ..flow_plan(id, &flow_builder, links) });
            }
        }
    }
    plans.applications = plan_applications(scenario, &with_ids, builder);
    Ok(plans)
}

/// Adds the applications of all groups.
fn plan_applications<'a, 's: 'a>(
    scenario: &Scenario,
    flows: &[(&'a FlowInstance<'s>, FlowId)],
    builder: &mut Builder,
) -> Vec<ApplicationPlan> {
    let groups = flows.chunk_by(|(one, _), (next, _)| std::ptr::eq(one.group, next.group));
    let all = groups.flat_map(|group| applications(scenario, group));
    let plan = |(name, flow, spec): (String, &FlowInstance<'_>, ApplicationSpec)| ApplicationPlan {
        id: builder.application(spec),
        name,
        group: flow.group.name.value.clone(),
        protocol: flow.group.protocol.value.clone(),
    };
    all.map(plan).collect()
}

fn source_plan(id: TransfersId, flow: &FlowBuilder<'_, '_>) -> TransferSourcePlan {
    let FlowBuilder { configured, instance, .. } = flow;
    TransferSourcePlan {
        id,
        name: instance.name.clone(),
        group: instance.group.name.value.clone(),
        protocol: configured.label.value.clone(),
        start: instance.samples.start,
        stop: instance.samples.stop,
        shortest_completion: flow.shortest_completion(),
    }
}

fn flow_plan(id: FlowId, flow: &FlowBuilder<'_, '_>, links: Vec<usize>) -> PacketFlowPlan {
    let FlowBuilder { scenario, configured, instance, .. } = flow;
    let loops = scenario.loops(instance.forward_path, configured.entry);
    let size = instance.samples.size;
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
        size,
        shortest_completion: size.and_then(|size| Some(flow.shortest_completion()?.of(size))),
        demand: None,
        weight: instance.share_weight,
        is_ping: matches!(instance.group.workload, Workload::Ping(_)),
        competes: !matches!(
            instance.group.workload,
            Workload::Ping(_) | Workload::Pages(_) | Workload::Video(_) | Workload::Call(_)
        ),
        links,
        relays: loops.iter().skip(1).filter_map(relay).collect(),
        loop_protocols: other_protocols_of_loops(scenario, instance, &loops),
    }
}
