//! From a scenario's flows to the loops of the fluid world: equal flows become one class.

use super::plan::{Model, PlannedFlow, PlannedLink, PlannedLoop, protocol};
use crate::delays::extra_delay;
use crate::flow_instances::Member;
use crate::shared_loops::{Kind, is_shared};
use crate::traffic::hops;
use millpond_fluid::{FluidNetwork, Loop, LoopId, Relay};
use millpond_law::fluid::{Allocation, LoopFacts};
use millpond_scenario::{Hop, Scenario};
use millpond_units::{Span, Time};
use std::collections::BTreeMap;

/// Where flows that exceed the round-trip time of their links spend the rest: before the first link, as in the packet
/// world. But if the word of the last link came back in less than this share of the round trip, the solver would have
/// to step as finely; then half of it is spent on the way back, which is the same to the loop.
const SHORTEST_WAY_BACK: f64 = 0.1;

/// How flows share a loop that is their own.
const TURNS: Allocation =
    Allocation::Numeric { reason: "flows share a loop by turns, and its law knows them all" };

/// All loops and flows.
#[derive(Default)]
pub(super) struct Loops {
    pub(super) loops: Vec<PlannedLoop>,
    pub(super) flows: Vec<PlannedFlow>,
    /// Those that flows share.
    shared: Vec<(Kind, LoopId)>,
}

impl Loops {
    /// One more loop.
    fn add(&mut self, network: &mut FluidNetwork, new: Loop, planned: PlannedLoop) -> LoopId {
        self.loops.push(planned);
        network.add(new)
    }
}

/// What makes flows equal: group, path, base round-trip time, start, stop.
type Key<'a> = (&'a str, Vec<(usize, bool)>, Span, Time, Option<Time>);

/// All loops of `members`, which become loops of `network`.
pub(super) fn loops(
    scenario: &Scenario,
    models: &[Model<'_>],
    members: &[Member<'_>],
    links: &[PlannedLink],
    network: &mut FluidNetwork,
) -> Loops {
    let places =
        hops(scenario).into_iter().enumerate().map(|(i, hop)| ((hop.link, hop.forward), i)).collect();
    let chains = Chains { scenario, models, links, places };
    let mut counts: BTreeMap<Key<'_>, f64> = BTreeMap::new();
    members.iter().for_each(|member| *counts.entry(key(member)).or_default() += 1.0);
    let mut known: BTreeMap<Key<'_>, Vec<LoopId>> = BTreeMap::new();
    let mut made = Loops::default();
    for member in members {
        let Some(model) = models.iter().find(|m| m.role.label.value == member.group.protocol.value) else {
            continue;
        };
        let count = counts[&key(member)];
        let ids = known
            .entry(key(member))
            .or_insert_with(|| chains.chain((model, member, count), network, &mut made))
            .clone();
        made.flows.push(chains.flow(model, member, ids));
    }
    made
}

fn key<'a>(member: &'a Member<'_>) -> Key<'a> {
    let path = member.there.iter().map(|hop| (hop.link, hop.forward)).collect();
    (&member.group.name.value, path, member.base_rtt, member.draw.start, member.draw.stop)
}

/// What makes chains of loops.
struct Chains<'a, 's> {
    scenario: &'a Scenario,
    models: &'a [Model<'s>],
    links: &'a [PlannedLink],
    /// Of each hop among [`Plan::links`](super::Plan::links).
    places: BTreeMap<(usize, bool), usize>,
}

/// A loop in space: delays in seconds.
struct Line {
    /// From the sender to each link.
    forward: Vec<f64>,
    /// From the sender to the end.
    through: f64,
    base_rtt: f64,
}

impl Chains<'_, '_> {
    fn places(&self, hops: &[Hop]) -> Vec<usize> {
        hops.iter().filter_map(|hop| self.places.get(&(hop.link, hop.forward)).copied()).collect()
    }

    /// The loops of a class of `count` equal flows, joined by its relays.
    fn chain(
        &self,
        (model, member, count): (&Model<'_>, &Member<'_>, f64),
        network: &mut FluidNetwork,
        made: &mut Loops,
    ) -> Vec<LoopId> {
        let cuts = self.scenario.loops(member.there, model.role.entry);
        let mut ids: Vec<LoopId> = Vec::with_capacity(cuts.len());
        let (mut before, mut so_far) = (0.0, 0.0);
        for (number, there) in cuts.iter().enumerate() {
            let line = self.line(member, number, there);
            let name = match (cuts.len(), count > 1.0) {
                (1, false) => member.name.clone(),
                (1, true) => member.group.name.value.clone(),
                (_, false) => format!("{}/loop{}", member.name, number + 1),
                (_, true) => format!("{}/loop{}", member.group.name.value, number + 1),
            };
            let planned_loop =
                self.planned(model, member, (there, line.base_rtt), (name, count), cuts.len() > 1);
            let id = match is_shared(self.scenario, model.role.entry, number, there) {
                true => self.part((model, member, there), (planned_loop, &line), so_far, network, made),
                false => made.add(network, self.of_engine(model, member, &planned_loop, &line), planned_loop),
            };
            if let Some(&upstream) = ids.last() {
                network.add_relay(Relay { upstream, downstream: id, forward: before });
            }
            before = line.through;
            so_far += line.through;
            ids.push(id);
        }
        ids
    }

    /// What a class of equal flows, which arrive so late, has of a loop that others may share.
    fn part(
        &self,
        (model, member, there): (&Model<'_>, &Member<'_>, &[Hop]),
        (planned, line): (PlannedLoop, &Line),
        late: f64,
        network: &mut FluidNetwork,
        made: &mut Loops,
    ) -> LoopId {
        let kind = Kind::of(&model.role.label.value, member.group, there);
        let known = made.shared.iter().find(|(other, _)| *other == kind).map(|(_, id)| *id);
        let whole = known.unwrap_or_else(|| {
            let whole = PlannedLoop {
                name: kind.name(made.shared.len()),
                group: planned.group.clone(),
                protocol: planned.protocol.clone(),
                count: 1.0,
                links: planned.links.clone(),
                facts: LoopFacts { weight: 1.0, ..planned.facts },
                allocation: TURNS,
                shared: None,
            };
            let of_engine = self.of_engine(model, member, &whole, line);
            let id = made.add(network, Loop { stop: None, ..of_engine }, whole);
            made.shared.push((kind, id));
            id
        });
        let mut part = network.shared_flow(whole, &planned.name, planned.facts.weight).times(planned.count);
        part.start = Some(member.draw.start.secs() + late);
        part.stop = member.draw.stop.map(|stop| stop.secs() + late);
        made.add(network, part, PlannedLoop { shared: Some(whole), allocation: TURNS, ..planned })
    }

    /// One loop of a class as the engine wants it.
    fn of_engine(&self, model: &Model<'_>, member: &Member<'_>, planned: &PlannedLoop, line: &Line) -> Loop {
        let roles: Vec<&Model<'_>> = self.models.iter().collect();
        let protocol = protocol(&roles, model.role.protocol.card().name);
        let sender = model.equations.sender(&planned.facts);
        let mut new = Loop::new(&planned.name, protocol, sender, line.base_rtt);
        for (place, forward) in planned.links.iter().zip(&line.forward) {
            if let Some(id) = self.links[*place].id {
                new = new.over(id, *forward);
            }
        }
        new.count = planned.count;
        new.start = Some(member.draw.start.secs());
        new.stop = member.draw.stop.map(Time::secs);
        new.ecn = model.role.needs.ecn.is_some();
        new
    }

    fn line(&self, member: &Member<'_>, number: usize, there: &[Hop]) -> Line {
        let scenario = self.scenario;
        let extra = extra_delay(scenario, member, number).secs();
        let back = scenario.propagation(&scenario.return_path(there).unwrap_or_default()).secs();
        let travels: Vec<f64> = there.iter().map(|hop| scenario.propagation(&[*hop]).secs()).collect();
        let through: f64 = travels.iter().sum();
        let base_rtt = extra + through + back;
        let last_word = back + travels.last().copied().unwrap_or_default();
        let before = if last_word < SHORTEST_WAY_BACK * base_rtt { extra / 2.0 } else { extra };
        let forward = travels.iter().scan(before, |now, travel| {
            let here = *now;
            *now += travel;
            Some(here)
        });
        Line { forward: forward.collect(), through: before + through, base_rtt }
    }

    fn planned(
        &self,
        model: &Model<'_>,
        member: &Member<'_>,
        (there, base_rtt): (&[Hop], f64),
        (name, count): (String, f64),
        chained: bool,
    ) -> PlannedLoop {
        let links = self.places(there);
        let capacities = links.iter().map(|place| self.links[*place].capacity[0].1.as_f64());
        let facts = LoopFacts {
            packet: member.group.packet.as_f64() * 8.0,
            base_rtt,
            capacity: capacities.fold(f64::INFINITY, f64::min),
            hops: there.len(),
            weight: member.group.weight,
            chained,
        };
        PlannedLoop {
            name,
            group: member.group.name.value.clone(),
            protocol: model.role.label.value.clone(),
            count,
            links,
            allocation: model.equations.allocation(&facts),
            facts,
            shared: None,
        }
    }

    fn flow(&self, model: &Model<'_>, member: &Member<'_>, loops: Vec<LoopId>) -> PlannedFlow {
        let scenario = self.scenario;
        let cuts = scenario.loops(member.there, model.role.entry);
        let relay = |hops: &Vec<Hop>| hops.first().map(|hop| scenario.nodes[scenario.tail(*hop)].clone());
        let packet = member.group.packet;
        PlannedFlow {
            name: member.name.clone(),
            group: member.group.name.value.clone(),
            protocol: model.role.label.value.clone(),
            packet,
            payload: packet.saturating_sub(member.group.overhead).as_f64() / packet.as_f64(),
            start: member.draw.start,
            stop: member.draw.stop,
            loops,
            links: self.places(member.there),
            relays: cuts.iter().skip(1).filter_map(relay).collect(),
        }
    }
}
