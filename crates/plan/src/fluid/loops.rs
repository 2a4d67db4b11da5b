//! From a scenario's flows to the loops of the fluid world: equal flows become one class.

use super::plan::{FluidFlowPlan, FluidLinkPlan, FluidLoopPlan, FluidProtocol, labelled, protocol};
use crate::delays::{base_rtts, extra_delay};
use crate::flow_instances::FlowInstance;
use crate::protocols::{labels_of_loops, other_protocols_of_loops};
use crate::relay_buffers::{RelayedLoop, relay_buffer};
use crate::shared_loops::{SharedLoopKey, is_shared};
use crate::traffic::hops;
use millpond_endpoint as endpoint;
use millpond_fluid::{FluidNetwork, Loop, LoopId, Relay, RelayBuffer};
use millpond_law::fluid::{Allocation, LoopFacts};
use millpond_scenario::{BaseRtt, FlowGroup, Hop, Scenario};
use millpond_units::{Bytes, Span, Time};
use std::collections::BTreeMap;

/// The part of a flow's base RTT that exceeds the delays of its links is a delay before the first link, as in the packet
/// world. But if the delay from the last link back to the sender is less than this fraction of the base RTT, which would
/// limit the step of the solver, half of the extra delay is on the return path. The loop's dynamics are the same.
const SHORTEST_RETURN: f64 = 0.1;

/// The allocation of a loop that flows share.
const FAIR_SCHEDULING: Allocation =
    Allocation::Numeric { reason: "several flows share one loop, and its law controls their sum" };

/// The loops and flows that have been added to the network.
#[derive(Default)]
pub(super) struct Loops {
    pub(super) loops: Vec<FluidLoopPlan>,
    pub(super) flows: Vec<FluidFlowPlan>,
    shared: Vec<(SharedLoopKey, LoopId)>,
}

impl Loops {
    fn add(&mut self, network: &mut FluidNetwork, new: Loop, plan: FluidLoopPlan) -> LoopId {
        self.loops.push(plan);
        network.add(new)
    }
}

/// The properties that equal flows have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ClassKey<'a> {
    group: &'a str,
    path: Vec<(usize, bool)>,
    base_rtt: Span,
    start: Time,
    stop: Option<Time>,
}

impl<'a> ClassKey<'a> {
    fn of(instance: &'a FlowInstance<'_>) -> Self {
        Self {
            group: &instance.group.name.value,
            path: instance.forward_path.iter().map(|hop| (hop.link, hop.forward)).collect(),
            base_rtt: instance.base_rtt,
            start: instance.samples.start,
            stop: instance.samples.stop,
        }
    }
}

/// The loops of all flows, which are added to `network`.
pub(super) fn loops(
    scenario: &Scenario,
    models: &[FluidProtocol<'_>],
    instances: &[FlowInstance<'_>],
    links: &[FluidLinkPlan],
    network: &mut FluidNetwork,
) -> Loops {
    let indices =
        hops(scenario).into_iter().enumerate().map(|(i, hop)| ((hop.link, hop.forward), i)).collect();
    let builder = LoopBuilder { scenario, models, links, indices };
    let mut counts: BTreeMap<ClassKey<'_>, f64> = BTreeMap::new();
    instances.iter().for_each(|instance| *counts.entry(ClassKey::of(instance)).or_default() += 1.0);
    let mut known: BTreeMap<ClassKey<'_>, Vec<LoopId>> = BTreeMap::new();
    let mut loops = Loops::default();
    for instance in instances {
        let label = &instance.group.protocol.value;
        let Some(model) = labelled(models, label) else { continue };
        let key = ClassKey::of(instance);
        let class = EqualFlows { model, first: instance, count: counts[&key] };
        let ids = known.entry(key).or_insert_with(|| builder.chain(&class, network, &mut loops)).clone();
        loops.flows.push(builder.flow(model, instance, ids));
    }
    loops
}

/// A class of equal flows.
struct EqualFlows<'a, 's> {
    /// The protocol of the flows.
    model: &'a FluidProtocol<'s>,
    /// One of the flows.
    first: &'a FlowInstance<'s>,
    /// The number of flows.
    count: f64,
}

impl EqualFlows<'_, '_> {
    /// The name of loop number `number` (from 0) of `loops`.
    fn loop_name(&self, number: usize, loops: usize) -> String {
        let name = if self.count > 1.0 { &self.first.group.name.value } else { &self.first.name };
        if loops == 1 { name.clone() } else { format!("{name}/loop{}", number + 1) }
    }
}

/// Builds the chains of loops of the flows.
struct LoopBuilder<'a, 's> {
    scenario: &'a Scenario,
    models: &'a [FluidProtocol<'s>],
    links: &'a [FluidLinkPlan],
    /// The index of each hop in [`FluidPlan::links`](super::FluidPlan::links).
    indices: BTreeMap<(usize, bool), usize>,
}

/// The delays of a loop in seconds.
struct PathDelays {
    /// From the sender to each link.
    to_links: Vec<f64>,
    /// From the sender to the end of the loop.
    to_end: f64,
    base_rtt: f64,
}

/// A loop of a class of flows.
struct NewLoop<'a, 's> {
    /// Its protocol.
    model: &'a FluidProtocol<'s>,
    path: &'a [Hop],
    delays: PathDelays,
    /// The delay in seconds from the sender of the first loop to that of this one.
    offset: f64,
    plan: FluidLoopPlan,
}

impl<'s> LoopBuilder<'_, 's> {
    fn link_indices(&self, hops: &[Hop]) -> Vec<usize> {
        hops.iter().filter_map(|hop| self.indices.get(&(hop.link, hop.forward)).copied()).collect()
    }

    /// Adds the loops of a class of flows and the relays between them.
    fn chain(&self, class: &EqualFlows<'_, 's>, network: &mut FluidNetwork, all: &mut Loops) -> Vec<LoopId> {
        let entry = class.model.configured.entry;
        let paths = self.scenario.loops(class.first.forward_path, entry);
        let labels = labels_of_loops(self.scenario, class.first, &paths);
        let models = labels.into_iter().filter_map(|label| labelled(self.models, label));
        let mut ids: Vec<LoopId> = Vec::with_capacity(paths.len());
        let mut buffers = self.relay_buffers(class, &paths).into_iter();
        let (mut before, mut offset) = (0.0, 0.0);
        for (number, (path, model)) in paths.iter().zip(models).enumerate() {
            let delays = self.delays(class.first, number, path);
            let name = class.loop_name(number, paths.len());
            let facts = self.facts(class.first.group, path, delays.base_rtt, paths.len() > 1);
            let plan = self.plan(class, model, self.link_indices(path), facts, name);
            let to_end = delays.to_end;
            let new = NewLoop { model, path, delays, offset, plan };
            let id = if is_shared(self.scenario, entry, number, path) {
                self.add_to_shared(class, new, network, all)
            } else {
                // Loops after the first one stop once they have sent what their relays hold.
                let stop = class.first.samples.stop.filter(|_| number == 0).map(Time::secs);
                let engine_loop = self.engine_loop(class, model, &new.plan, &new.delays);
                all.add(network, Loop { stop, ..engine_loop }, new.plan)
            };
            if let Some(&upstream) = ids.last() {
                let buffer = buffers.next().unwrap_or(RelayBuffer::UNLIMITED);
                network.add_relay(Relay { upstream, downstream: id, forward: before, buffer });
            }
            before = to_end;
            offset += to_end;
            ids.push(id);
        }
        ids
    }

    /// The buffers of the relays between the loops of a class of flows, as in the packet world.
    fn relay_buffers(&self, class: &EqualFlows<'_, 's>, paths: &[Vec<Hop>]) -> Vec<RelayBuffer> {
        let Some(entry) = class.model.configured.entry else { return Vec::new() };
        let rtts = base_rtts(self.scenario, class.first, paths);
        let loops = paths.iter().zip(rtts).map(|(path, base_rtt)| RelayedLoop { path, base_rtt });
        let loops: Vec<RelayedLoop<'_>> = loops.collect();
        let packet = class.first.group.packet;
        let buffer = |ends: &[RelayedLoop<'_>]| {
            in_bits(
                relay_buffer(self.scenario, &entry.relay_buffer, [&ends[0], &ends[1]], packet),
                class.first.group,
            )
        };
        loops.windows(2).map(buffer).collect()
    }

    /// Adds a class of flows to a shared loop, which is made if this is its first class.
    fn add_to_shared(
        &self,
        class: &EqualFlows<'_, 's>,
        new: NewLoop<'_, 's>,
        network: &mut FluidNetwork,
        all: &mut Loops,
    ) -> LoopId {
        let NewLoop { model, path, delays, offset, plan } = new;
        let key = SharedLoopKey::of(&model.configured.label.value, class.first.group, path);
        let known = all.shared.iter().find(|(other, _)| *other == key).map(|(_, id)| *id);
        let shared = known.unwrap_or_else(|| {
            let whole = FluidLoopPlan {
                name: key.name(all.shared.len()),
                group: plan.group.clone(),
                protocol: plan.protocol.clone(),
                count: 1.0,
                links: plan.links.clone(),
                facts: LoopFacts { weight: 1.0, ..plan.facts },
                allocation: FAIR_SCHEDULING,
                steady_state: model.equations.steady_state(&plan.facts),
                shared: None,
            };
            let engine_loop = self.engine_loop(class, model, &whole, &delays);
            let id = all.add(network, engine_loop, whole);
            all.shared.push((key, id));
            id
        });
        let mut flows = network.shared_flow(shared, &plan.name, plan.facts.weight).times(plan.count);
        flows.start = Some(class.first.samples.start.secs() + offset);
        all.add(network, flows, FluidLoopPlan { shared: Some(shared), allocation: FAIR_SCHEDULING, ..plan })
    }

    /// A loop of the engine.
    fn engine_loop(
        &self,
        class: &EqualFlows<'_, 's>,
        model: &FluidProtocol<'s>,
        plan: &FluidLoopPlan,
        delays: &PathDelays,
    ) -> Loop {
        let protocol = protocol(self.models, model.configured.protocol.card().name);
        let sender = model.equations.sender(&plan.facts);
        let mut new = Loop::new(&plan.name, protocol, sender, delays.base_rtt);
        for (index, delay) in plan.links.iter().zip(&delays.to_links) {
            if let Some(id) = self.links[*index].id {
                new = new.over(id, *delay);
            }
        }
        new.count = plan.count;
        new.start = Some(class.first.samples.start.secs());
        new.ecn = model.configured.needs.ecn.is_some();
        new
    }

    fn delays(&self, instance: &FlowInstance<'_>, number: usize, path: &[Hop]) -> PathDelays {
        let scenario = self.scenario;
        let extra = extra_delay(scenario, instance, number).secs();
        let return_path = scenario.return_path(path).unwrap_or_default();
        let (packet, ack) = (instance.group.packet, instance.group.ack);
        let delay =
            |hop: &Hop| scenario.propagation(&[*hop]).secs() + self.counted_service_time(*hop, packet);
        let served: f64 = return_path.iter().map(|hop| self.counted_service_time(*hop, ack)).sum();
        let return_delay = scenario.propagation(&return_path).secs() + served;
        let link_delays: Vec<f64> = path.iter().map(delay).collect();
        let forward_delay: f64 = link_delays.iter().sum();
        let base_rtt = extra + forward_delay + return_delay;
        let from_last_link = return_delay + link_delays.last().copied().unwrap_or_default();
        let first = if from_last_link < SHORTEST_RETURN * base_rtt { extra / 2.0 } else { extra };
        let to_links = link_delays.iter().scan(first, |now, delay| {
            let here = *now;
            *now += delay;
            Some(here)
        });
        PathDelays { to_links: to_links.collect(), to_end: first + forward_delay, base_rtt }
    }

    /// The service time of a packet of this size at a link in seconds, if the base RTT contains it; otherwise zero.
    fn counted_service_time(&self, hop: Hop, size: Bytes) -> f64 {
        let rate = || {
            self.scenario.links[hop.link].direction(hop.forward).rate.schedule().mean(self.scenario.duration)
        };
        match self.scenario.fluid.base_rtt {
            BaseRtt::Propagation => 0.0,
            BaseRtt::Service => rate().time_for(size).secs(),
        }
    }

    /// The facts that the law of a loop over these links receives.
    fn facts(&self, group: &FlowGroup, path: &[Hop], base_rtt: f64, chained: bool) -> LoopFacts {
        let links = self.link_indices(path).into_iter();
        let capacities = links.map(|index| self.links[index].configured_capacity[0].1.as_f64());
        LoopFacts {
            packet: group.packet.as_f64() * 8.0,
            base_rtt,
            capacity: capacities.fold(f64::INFINITY, f64::min),
            hops: path.len(),
            weight: group.weight,
            chained,
        }
    }

    fn plan(
        &self,
        class: &EqualFlows<'_, 's>,
        model: &FluidProtocol<'s>,
        links: Vec<usize>,
        facts: LoopFacts,
        name: String,
    ) -> FluidLoopPlan {
        FluidLoopPlan {
            name,
            group: class.first.group.name.value.clone(),
            protocol: model.configured.label.value.clone(),
            count: class.count,
            links,
            allocation: model.equations.allocation(&facts),
            steady_state: model.equations.steady_state(&facts),
            facts,
            shared: None,
        }
    }

    fn flow(
        &self,
        model: &FluidProtocol<'_>,
        instance: &FlowInstance<'_>,
        loops: Vec<LoopId>,
    ) -> FluidFlowPlan {
        let scenario = self.scenario;
        let paths = scenario.loops(instance.forward_path, model.configured.entry);
        let relay = |hops: &Vec<Hop>| hops.first().map(|hop| scenario.nodes[scenario.tail(*hop)].clone());
        let packet = instance.group.packet;
        FluidFlowPlan {
            name: instance.name.clone(),
            group: instance.group.name.value.clone(),
            protocol: model.configured.label.value.clone(),
            packet,
            payload: payload(instance.group),
            start: instance.samples.start,
            stop: instance.samples.stop,
            weight: instance.share_weight,
            loops,
            links: self.link_indices(instance.forward_path),
            relays: paths.iter().skip(1).filter_map(relay).collect(),
            loop_protocols: other_protocols_of_loops(scenario, instance, &paths),
        }
    }
}

/// The share of a packet of these flows that is payload.
fn payload(group: &FlowGroup) -> f64 {
    group.packet.saturating_sub(group.overhead).as_f64() / group.packet.as_f64()
}

/// The buffer of a relay in bits of whole packets; the packet world counts payload.
fn in_bits(buffer: endpoint::RelayBuffer, group: &FlowGroup) -> RelayBuffer {
    let bits = |payload_bytes: Bytes| match payload_bytes {
        Bytes::MAX => f64::INFINITY,
        bytes => bytes.as_f64() * 8.0 / payload(group),
    };
    match buffer {
        endpoint::RelayBuffer::Size(size) => RelayBuffer::of_size(bits(size.max(group.packet * 2))),
        endpoint::RelayBuffer::Limited { size, delay } => RelayBuffer {
            size: bits(size.max(group.packet * 2)),
            delay: delay.secs(),
            least: bits(group.packet * endpoint::RelayBuffer::LEAST_PACKETS),
        },
    }
}
