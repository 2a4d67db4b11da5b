//! From a scenario to equations.

use super::{links, loops, refuse};
use crate::plan::cast::{Role, cast};
use crate::plan::faults;
use crate::plan::members::members;
use crate::plan::warnings::warnings;
use millpond_fluid::{Assembly, Error, FluidNetwork, LinkId, LoopId};
use millpond_law::fluid::{Allocation, FluidModel, LoopFacts};
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Place, Scenario};
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

/// A protocol as a scenario means it, with its equations.
pub(super) struct Model<'s> {
    pub(super) role: Role<'s>,
    pub(super) equations: Box<dyn FluidModel>,
}

/// Plans the fluid world of `scenario` with the protocols of `registry`.
///
/// # Errors
/// What the packet world's plan refuses, and what equations cannot honour: by name, at its line, with what would work.
pub fn plan(scenario: &Scenario, registry: &Registry) -> Result<Plan, Faults> {
    planned(scenario, registry).map_err(Faults::from)
}

fn planned(scenario: &Scenario, registry: &Registry) -> Result<Plan, Fault> {
    refuse::scenario(scenario)?;
    let roles = cast(scenario, registry)?;
    let members = members(scenario)?;
    let warnings = warnings(scenario, &roles, &members);
    refuse::fair_sharing(scenario, &members, &roles)?;
    let models =
        roles.into_iter().map(|role| model(scenario, registry, role)).collect::<Result<Vec<_>, _>>()?;
    let mut network = FluidNetwork::new();
    let links = links::links(scenario, registry, &models, &members, &mut network)?;
    let loops::Loops { loops, flows, .. } = loops::loops(scenario, &models, &members, &links, &mut network);
    // Only the sum of a loop's delays matters to its stability; one that is too short to matter at all would make the
    // solver step as finely.
    let shortest = loops.iter().map(|l| l.facts.base_rtt).fold(f64::INFINITY, f64::min);
    network.round_down_delays(shortest / 100.0);
    let assembly = Assembly::new(network).map_err(|error| refused(scenario, &links, &loops, error))?;
    let left_out = models.iter().map(|m| (m.role.label.value.clone(), m.equations.left_out()));
    let left_out = left_out.filter(|(_, left_out)| !left_out.is_empty()).collect();
    Ok(Plan { assembly, links, loops, flows, warnings, left_out })
}

/// The equations of a protocol.
fn model<'s>(scenario: &Scenario, registry: &Registry, role: Role<'s>) -> Result<Model<'s>, Fault> {
    let params = role.entry.map_or(&[][..], |entry| &entry.params);
    let fault = |error| faults::setting(scenario, &role.label.value, params, role.label.place, &error);
    match role.protocol.fluid(&role.settings).map_err(fault)? {
        Some(equations) => Ok(Model { role, equations }),
        None => Err(refuse::without_equations(scenario, registry, &role)),
    }
}

/// What the engine has found to be no equations, at the line of the link or group concerned.
fn refused(scenario: &Scenario, links: &[PlannedLink], loops: &[PlannedLoop], error: Error) -> Fault {
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
