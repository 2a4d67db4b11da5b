//! From a scenario's links to those of the packet world.

use super::buffers::buffer;
use super::cast::Role;
use super::laws::{Laws, laws};
use super::members::Member;
use millpond_law::LinkFacts;
use millpond_protocols::Registry;
use millpond_scenario as scenario;
use millpond_scenario::{Delay, Direction, End, Fault, Hop, Scenario};
use millpond_sim::{AtEnd, Buffer, Jitter, LinkSpec, Loss, NodeId, Propagation, Schedule, Scheduler};
use millpond_units::{Bytes, Rate, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What crosses one direction of a link.
#[derive(Default)]
pub(crate) struct Traffic<'a, 's> {
    /// Flows whose data it carries, each with the index of its role.
    pub(crate) data: Vec<(usize, &'a Member<'s>)>,
    /// Flows whose acknowledgements it carries.
    pub(crate) acks: Vec<&'a Member<'s>>,
}

/// What crosses each of [`hops`], in their order; `labels` are what flows call their roles.
pub(crate) fn traffic<'a, 's, 'l>(
    scenario: &Scenario,
    members: &'a [Member<'s>],
    labels: impl IntoIterator<Item = &'l str>,
) -> Vec<(Hop, Traffic<'a, 's>)> {
    let roles: BTreeMap<&str, usize> = labels.into_iter().enumerate().map(|(i, label)| (label, i)).collect();
    let mut all: Vec<_> = hops(scenario).into_iter().map(|hop| (hop, Traffic::default())).collect();
    let key = |hop: &Hop| (hop.link, hop.forward);
    let places: BTreeMap<_, usize> = all.iter().enumerate().map(|(i, (hop, _))| (key(hop), i)).collect();
    let place = |hop: &Hop| places.get(&key(hop)).copied();
    for member in members {
        if let Some(&role) = roles.get(member.group.protocol.value.as_str()) {
            member.there.iter().filter_map(place).for_each(|place| all[place].1.data.push((role, member)));
        }
        for place in member.back.iter().filter_map(place) {
            all[place].1.acks.push(member);
        }
    }
    all
}

/// Every direction of every link, forward before backward.
pub(crate) fn hops(scenario: &Scenario) -> Vec<Hop> {
    let directions = |(link, spec): (usize, &scenario::Link)| {
        let backward = spec.backward.is_some().then_some(Hop { link, forward: false });
        [Some(Hop { link, forward: true }), backward].into_iter().flatten()
    };
    scenario.links.iter().enumerate().flat_map(directions).collect()
}

/// `L1 ->`, `L1 <-`: as series and random streams call a direction.
pub(crate) fn hop_name(scenario: &Scenario, hop: Hop) -> String {
    let arrow = if hop.forward { "->" } else { "<-" };
    format!("{} {arrow}", scenario.links[hop.link].name.value)
}

/// The link of the packet world that serves `hop`.
pub(super) fn link(
    scenario: &Scenario,
    registry: &Registry,
    roles: &[Role<'_>],
    traffic: &Traffic<'_, '_>,
    hop: Hop,
    ends: (NodeId, NodeId),
) -> Result<LinkSpec, Fault> {
    let direction = scenario.links[hop.link].direction(hop.forward);
    let told = Arc::new(schedule(&direction.told()));
    let buffer = buffer(direction, traffic);
    let facts = facts(told.rate_at(Time::ZERO), buffer, traffic);
    let Laws { queue, routers } = laws(scenario, registry, roles, traffic, hop, &facts)?;
    Ok(LinkSpec {
        name: hop_name(scenario, hop),
        from: ends.0,
        to: ends.1,
        rate: Arc::new(schedule(&direction.rate.schedule())),
        told: Some(told),
        propagation: propagation(direction),
        loss: loss(&direction.loss),
        buffer,
        scheduler: match direction.scheduler {
            scenario::Scheduler::Fifo => Scheduler::Fifo,
            scenario::Scheduler::Fair => Scheduler::Fair,
        },
        queue,
        routers,
    })
}

/// What laws may know of a link that they are told has this capacity at first.
pub(crate) fn facts(capacity: Rate, buffer: Buffer, traffic: &Traffic<'_, '_>) -> LinkFacts {
    let packet = largest_packet(traffic);
    let buffer = match buffer {
        Buffer::Unlimited => None,
        Buffer::Bytes(bytes) => Some(bytes),
        Buffer::Packets(packets) => Some(packet * packets),
    };
    LinkFacts { capacity, buffer, packet }
}

/// The largest data packet that crosses it, or else the largest acknowledgement.
fn largest_packet(traffic: &Traffic<'_, '_>) -> Bytes {
    let data = traffic.data.iter().map(|(_, member)| member.group.packet).max();
    data.or_else(|| traffic.acks.iter().map(|member| member.group.ack).max()).unwrap_or(Bytes::new(1500))
}

/// A schedule of the scenario as one of the packet world. The scenario has checked what could be wrong with it.
fn schedule(schedule: &scenario::Schedule) -> Schedule {
    let at_end = match schedule.end {
        End::Loop => AtEnd::Loop,
        End::Hold => AtEnd::Hold,
        End::Stop => AtEnd::Stop,
    };
    let endless = schedule.length == millpond_units::Span::MAX;
    let made = if endless {
        Schedule::steps(&schedule.steps)
    } else {
        Schedule::table(&schedule.stretches().map(|(_, span, rate)| (span, rate)).collect::<Vec<_>>(), at_end)
    };
    made.unwrap_or_else(|_| Schedule::constant(schedule.at(Time::ZERO)))
}

fn propagation(direction: &Direction) -> Propagation {
    let steps = match &direction.delay {
        Delay::Constant(_) => Vec::new(),
        Delay::Steps(steps) => steps.iter().skip(1).copied().collect(),
    };
    let jitter = (!direction.jitter.is_zero()).then_some(Jitter::Uniform(direction.jitter));
    Propagation { delay: direction.delay.initial(), steps, jitter, reorder: direction.reorder }
}

fn loss(loss: &scenario::Loss) -> Option<Loss> {
    match *loss {
        scenario::Loss::None => None,
        scenario::Loss::Bernoulli(probability) => Some(Loss::Bernoulli(probability)),
        scenario::Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            Some(Loss::GilbertElliott {
                worsen: good_to_bad,
                recover: bad_to_good,
                good: loss_good,
                bad: loss_bad,
            })
        }
    }
}
