//! Equations that are ready to be integrated, and the names of their parts.

use crate::names;
use crate::protocols::ConfiguredProtocol;
use millpond_fluid::{Assembly, Error, LinkId, LoopId, ProtocolId};
use millpond_law::fluid::{Allocation, FluidModel, LoopFacts, SteadyStateFacts};
use millpond_scenario::{Fault, Place, Scenario};
use millpond_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

/// Equations that are ready to be integrated or analysed, and the names of their parts.
pub struct FluidPlan {
    /// The equations: loops by [`LoopId`] in the order of [`FluidPlan::loops`].
    pub assembly: Assembly,
    /// Every direction of every link, forward before backward, in the order of the packet world.
    pub links: Vec<FluidLinkPlan>,
    /// Every loop of every class of equal flows.
    pub loops: Vec<FluidLoopPlan>,
    /// Every flow, in the order of the packet world.
    pub flows: Vec<FluidFlowPlan>,
    /// Warnings about the scenario, one sentence each.
    pub warnings: Vec<String>,
    /// The name of each protocol of the engine, by [`ProtocolId`].
    pub protocols: Vec<&'static str>,
    /// For each protocol, by its name in the scenario: the parts of its law that its equations do not have.
    pub left_out: Vec<(String, &'static [&'static str])>,
}

/// One direction of a link.
pub struct FluidLinkPlan {
    /// Its index in the engine; none if no data cross it, because acknowledgements use no capacity.
    pub id: Option<LinkId>,
    /// The name of the link in the scenario.
    pub name: String,
    /// The name of this direction in series: `L1 ->`.
    pub entity: String,
    /// The nodes at its ends: `R1 -> R2`.
    pub direction: String,
    /// The largest packet that crosses it: the unit of queue lengths in packets.
    pub packet: Bytes,
    /// Its capacity from each time on; the first time is zero.
    pub capacity: Vec<(Time, Rate)>,
    /// The capacity with which its laws compute, from each time on.
    pub configured_capacity: Vec<(Time, Rate)>,
}

/// One loop of a class of equal flows.
pub struct FluidLoopPlan {
    /// The name of its flow or group, with the number of the loop if there are several.
    pub name: String,
    /// The group of its flows.
    pub group: String,
    /// The name of its protocol in the scenario, which may be another than that of its flows.
    pub protocol: String,
    /// The number of equal flows in the class.
    pub count: f64,
    /// Its links, as indices into [`FluidPlan::links`].
    pub links: Vec<usize>,
    /// The facts that its law received.
    pub facts: LoopFacts,
    /// The kind of allocation at which its protocol has its equilibrium.
    pub allocation: Allocation,
    /// What its law does in the steady state beside what the equations show.
    pub steady_state: SteadyStateFacts,
    /// For the part that these flows have in a shared loop: the shared loop, whose law controls the sum.
    pub shared: Option<LoopId>,
}

/// One flow.
pub struct FluidFlowPlan {
    /// `short.3`, or the group's name if it is alone.
    pub name: String,
    /// Its group.
    pub group: String,
    /// The name of its protocol in the scenario.
    pub protocol: String,
    /// Packet size on the wire.
    pub packet: Bytes,
    /// Payload divided by packet size.
    pub payload: f64,
    /// When it starts.
    pub start: Time,
    /// When it stops; none: with the run.
    pub stop: Option<Time>,
    /// Its weight in fair shares.
    pub weight: f64,
    /// Its loops; each stands for all equal flows.
    pub loops: Vec<LoopId>,
    /// The links that its data cross, as indices into [`FluidPlan::links`].
    pub links: Vec<usize>,
    /// Names of the nodes where it is relayed, in order.
    pub relays: Vec<String>,
    /// For each of its loops, in order: the name of its protocol in the scenario, if it is not that of the flow.
    pub loop_protocols: Vec<Option<String>>,
}

impl FluidPlan {
    /// The size of the equations and their protocols, in one line.
    pub fn outline(&self) -> String {
        let protocols: BTreeSet<&str> = self.loops.iter().map(|l| l.protocol.as_str()).collect();
        let protocols = protocols.into_iter().collect::<Vec<_>>().join(", ");
        let links = self.links.iter().filter(|link| link.id.is_some()).count();
        let (loops, flows) = (self.loops.len(), self.flows.len());
        let states = self.assembly.states();
        format!("{links} link directions, {flows} flows as {loops} loops ({protocols}), {states} states")
    }
}

impl FluidLinkPlan {
    /// Its mean capacity between two moments, in bit/s.
    pub fn mean_capacity(&self, from: Time, until: Time) -> f64 {
        mean_rate(&self.capacity, from, until)
    }

    /// The mean between two moments of the capacity with which its laws compute, in bit/s.
    pub fn mean_configured_capacity(&self, from: Time, until: Time) -> f64 {
        mean_rate(&self.configured_capacity, from, until)
    }
}

/// The mean between two moments of a rate that is given from each time on, in bit/s.
fn mean_rate(steps: &[(Time, Rate)], from: Time, until: Time) -> f64 {
    let ends = steps.iter().skip(1).map(|(time, _)| *time).chain([Time::NEVER]);
    let bits = steps.iter().zip(ends).map(|((begin, rate), end)| {
        let (begin, end) = ((*begin).max(from), end.min(until));
        if begin < end { rate.as_f64() * end.since(begin).secs() } else { 0.0 }
    });
    bits.sum::<f64>() / until.since(from).secs()
}

impl FluidFlowPlan {
    /// The name in series of loop number `position` (from 0), as in the packet world.
    pub fn loop_name(&self, position: usize) -> String {
        names::loop_name(&self.name, self.relays.len(), position)
    }

    /// Its relays in order: the name in results, and the loops before and after it.
    pub fn relay_ends(&self) -> impl Iterator<Item = (String, [LoopId; 2])> {
        let between =
            |(position, ends): (usize, &[LoopId])| Some((self.relay_name(position)?, [ends[0], ends[1]]));
        self.loops.windows(2).enumerate().filter_map(between)
    }

    /// The name in results of relay number `position` (from 0).
    pub fn relay_name(&self, position: usize) -> Option<String> {
        names::relay_name(&self.name, &self.relays, position)
    }
}

/// A configured protocol with its equations.
pub(super) struct FluidProtocol<'s> {
    pub(super) configured: ConfiguredProtocol<'s>,
    pub(super) equations: Box<dyn FluidModel>,
}

/// An error of the engine, with the line of the link or group that it names.
pub(super) fn refused(
    scenario: &Scenario,
    links: &[FluidLinkPlan],
    loops: &[FluidLoopPlan],
    error: Error,
) -> Fault {
    let Error::InvalidNetwork { name, reason } = &error else {
        return scenario.fault(Default::default(), error.to_string(), "");
    };
    scenario.fault(
        place_of(scenario, links, loops, name),
        format!("{name}: {reason}"),
        "not possible in the fluid world",
    )
}

/// The place in the scenario of the link or loop that has this name in the engine.
pub(super) fn place_of(
    scenario: &Scenario,
    links: &[FluidLinkPlan],
    loops: &[FluidLoopPlan],
    name: &str,
) -> Place {
    let link = links.iter().find(|link| link.entity == name).map(|link| &link.name);
    let link = scenario.links.iter().find(|l| link == Some(&l.name.value)).map(|l| l.name.place);
    let group = loops.iter().find(|l| l.name == name).map(|l| &l.group);
    let group = scenario.flows.iter().find(|g| group == Some(&g.name.value)).map(|g| g.name.place);
    link.or(group).unwrap_or_default()
}

/// The model with this name in the scenario.
pub(super) fn labelled<'m, 's>(
    models: &'m [FluidProtocol<'s>],
    label: &str,
) -> Option<&'m FluidProtocol<'s>> {
    models.iter().find(|model| model.configured.label.value == label)
}

/// The number of a protocol in the engine, which a router and its senders have in common; `name` is the registered name.
pub(super) fn protocol(models: &[FluidProtocol<'_>], name: &str) -> ProtocolId {
    ProtocolId(
        models.iter().position(|model| model.configured.protocol.card().name == name).unwrap_or_default(),
    )
}
