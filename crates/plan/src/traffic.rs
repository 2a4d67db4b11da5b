//! Which flows cross which direction of which link.

use crate::flow_instances::Member;
use millpond_law::LinkFacts;
use millpond_scenario as scenario;
use millpond_scenario::{Hop, Scenario};
use millpond_sim::Buffer;
use millpond_units::{Bytes, Rate};
use std::collections::BTreeMap;

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
