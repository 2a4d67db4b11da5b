//! Equations ready to be integrated, and what their parts are called.

use crate::names;
use crate::protocols::Role;
use millpond_fluid::{Assembly, Error, LinkId, LoopId, ProtocolId};
use millpond_law::fluid::{Allocation, FluidModel, LoopFacts};
use millpond_scenario::{Fault, Place, Scenario};
use millpond_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

/// Equations ready to be integrated, or to be asked where they rest, and what their parts are called.
pub struct Plan {
    /// The equations: loops by [`LoopId`] in the order of [`Plan::loops`].
    pub assembly: Assembly,
    /// Every direction of every link, forward before backward, as the packet world has them.
    pub links: Vec<PlannedLink>,
    /// Every loop of every class of equal flows.
    pub loops: Vec<PlannedLoop>,
    /// Every flow, as the packet world has them.
    pub flows: Vec<PlannedFlow>,
    /// What a user should know before looking at results.
    pub warnings: Vec<String>,
    /// What the equations of each protocol leave out of its law, by what flows call the protocol.
    pub left_out: Vec<(String, &'static [&'static str])>,
}

/// One direction of a link.
pub struct PlannedLink {
    /// None if no data crosses it: acknowledgements take no room.
    pub id: Option<LinkId>,
    /// As the scenario calls the link.
    pub name: String,
    /// `L1 ->`, as series call this direction.
    pub entity: String,
    /// `R1 -> R2`.
    pub direction: String,
    /// The largest packet that crosses it, by which queues are counted in packets.
    pub packet: Bytes,
    /// From when on it has which capacity; the first from zero.
    pub capacity: Vec<(Time, Rate)>,
}

/// One loop of a class of equal flows.
pub struct PlannedLoop {
    /// The flow or group that it belongs to, and which of its loops it is.
    pub name: String,
    /// The group of its flows.
    pub group: String,
    /// As flows call the protocol.
    pub protocol: String,
    /// How many equal flows it stands for.
    pub count: f64,
    /// Its links, as indices of [`Plan::links`].
    pub links: Vec<usize>,
    /// What its law was told.
    pub facts: LoopFacts,
    /// How its protocol shares the network.
    pub allocation: Allocation,
    /// The loop whose law decides what is sent, if this is a flow's part of a loop that flows share.
    pub shared: Option<LoopId>,
}

/// One flow.
pub struct PlannedFlow {
    /// `short.3`, or the group's name if it is alone.
    pub name: String,
    /// Its group.
    pub group: String,
    /// As flows call the protocol.
    pub protocol: String,
    /// On the wire.
    pub packet: Bytes,
    /// Payload over packet.
    pub payload: f64,
    /// When it starts.
    pub start: Time,
    /// When it stops; none: with the run.
    pub stop: Option<Time>,
    /// Its loops, each shared with the flows that equal it.
    pub loops: Vec<LoopId>,
    /// The links that its data cross, as indices of [`Plan::links`].
    pub links: Vec<usize>,
    /// Names of the nodes where it is relayed, in order.
    pub relays: Vec<String>,
}

impl Plan {
    /// What will be integrated, in a few words.
    pub fn outline(&self) -> String {
        let protocols: BTreeSet<&str> = self.loops.iter().map(|l| l.protocol.as_str()).collect();
        let protocols = protocols.into_iter().collect::<Vec<_>>().join(", ");
        let links = self.links.iter().filter(|link| link.id.is_some()).count();
        let (loops, flows) = (self.loops.len(), self.flows.len());
        let states = self.assembly.states();
        format!("{links} link directions, {flows} flows as {loops} loops ({protocols}), {states} states")
    }
}

impl PlannedLink {
    /// Its mean capacity between two moments, in bit/s.
    pub fn mean_capacity(&self, from: Time, until: Time) -> f64 {
        let ends = self.capacity.iter().skip(1).map(|(time, _)| *time).chain([Time::NEVER]);
        let stretches = self.capacity.iter().zip(ends);
        let bits = stretches.map(|((begin, rate), end)| {
            let (begin, end) = (from.max(*begin), until.min(end));
            if begin < end { rate.as_f64() * end.since(begin).secs() } else { 0.0 }
        });
        bits.sum::<f64>() / until.since(from).secs()
    }
}

impl PlannedFlow {
    /// How series call the loop at `position` (from 0), as in the packet world.
    pub fn loop_name(&self, position: usize) -> String {
        names::loop_name(&self.name, self.relays.len(), position)
    }

    /// How results call the relay at `position` (from 0).
    pub fn relay_name(&self, position: usize) -> Option<String> {
        names::relay_name(&self.name, &self.relays, position)
    }
}

/// A protocol as a scenario means it, with its equations.
pub(super) struct Model<'s> {
    pub(super) role: Role<'s>,
    pub(super) equations: Box<dyn FluidModel>,
}

/// What the engine has found to be no equations, at the line of the link or group concerned.
pub(super) fn refused(
    scenario: &Scenario,
    links: &[PlannedLink],
    loops: &[PlannedLoop],
    error: Error,
) -> Fault {
    let Error::InvalidNetwork { name, reason } = &error else {
        return scenario.fault(Default::default(), error.to_string(), "");
    };
    scenario.fault(place_of(scenario, links, loops, name), format!("{name}: {reason}"), "no fluid")
}

/// Where the scenario speaks of the link or loop that the engine calls so.
pub(super) fn place_of(
    scenario: &Scenario,
    links: &[PlannedLink],
    loops: &[PlannedLoop],
    name: &str,
) -> Place {
    let link = links.iter().find(|link| link.entity == name).map(|link| &link.name);
    let link = scenario.links.iter().find(|l| link == Some(&l.name.value)).map(|l| l.name.place);
    let group = loops.iter().find(|l| l.name == name).map(|l| &l.group);
    let group = scenario.flows.iter().find(|g| group == Some(&g.name.value)).map(|g| g.name.place);
    link.or(group).unwrap_or_default()
}

/// The protocol that a router and its senders share, by its registered name.
pub(super) fn protocol(models: &[&Model<'_>], name: &str) -> ProtocolId {
    ProtocolId(models.iter().position(|model| model.role.protocol.card().name == name).unwrap_or_default())
}
