//! The flows that cross each direction of each link.

use crate::flow_instances::FlowInstance;
use crate::protocols::ConfiguredProtocol;
use millpond_law::{HeaderSize, LinkFacts};
use millpond_scenario as scenario;
use millpond_scenario::{Hop, Scenario};
use millpond_sim::Buffer;
use millpond_units::{Bytes, Rate};
use std::collections::BTreeMap;

/// The flows that cross one direction of a link.
#[derive(Default)]
pub(crate) struct LinkTraffic<'a, 's> {
    /// Flows whose data it carries, each with the index of the protocol of the loop that crosses the link.
    pub(crate) data: Vec<(usize, &'a FlowInstance<'s>)>,
    /// Flows whose acknowledgements it carries, each with the size of its largest acknowledgement.
    pub(crate) acks: Vec<(Bytes, &'a FlowInstance<'s>)>,
}

/// The traffic of each of [`hops`], in their order; `protocols` are in the order of their indices.
pub(crate) fn traffic<'a, 's: 'p, 'p>(
    scenario: &Scenario,
    instances: &'a [FlowInstance<'s>],
    protocols: impl IntoIterator<Item = &'p ConfiguredProtocol<'s>>,
) -> Vec<(Hop, LinkTraffic<'a, 's>)> {
    let known: BTreeMap<&str, (usize, HeaderSize)> = protocols
        .into_iter()
        .enumerate()
        .map(|(index, protocol)| (protocol.label.value.as_str(), (index, protocol.needs.header_size)))
        .collect();
    let mut all: Vec<_> = hops(scenario).into_iter().map(|hop| (hop, LinkTraffic::default())).collect();
    let indices: BTreeMap<Hop, usize> = all.iter().enumerate().map(|(i, (hop, _))| (*hop, i)).collect();
    let index = |hop: &Hop| indices.get(hop).copied();
    for instance in instances {
        let labels = scenario.protocols_along(instance.group, instance.forward_path);
        // An acknowledgement returns the header of the data.
        let mut header = Bytes::ZERO;
        for (hop, label) in instance.forward_path.iter().zip(labels) {
            let Some(&(protocol, size)) = known.get(label.value.as_str()) else { continue };
            header = header.max(size.over(instance.forward_path.len()));
            if let Some(index) = index(hop) {
                all[index].1.data.push((protocol, instance));
            }
        }
        for index in instance.return_path.iter().filter_map(index) {
            all[index].1.acks.push((instance.group.ack + header, instance));
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

/// The name of a direction in series and random streams: `L1 ->`, `L1 <-`.
pub(crate) fn hop_name(scenario: &Scenario, hop: Hop) -> String {
    let arrow = if hop.forward { "->" } else { "<-" };
    format!("{} {arrow}", scenario.links[hop.link].name.value)
}

/// The facts about a link that its laws receive; `capacity` is the signalled capacity at time zero.
pub(crate) fn facts(capacity: Rate, buffer: Buffer, traffic: &LinkTraffic<'_, '_>) -> LinkFacts {
    let packet = largest_packet(traffic);
    let buffer = match buffer {
        Buffer::Unlimited => None,
        Buffer::Bytes(bytes) => Some(bytes),
        Buffer::Packets(packets) => Some(packet * packets),
    };
    LinkFacts::fifo(capacity, buffer, packet)
}

/// The largest data packet that crosses the link, else the largest acknowledgement, else 1500 bytes.
fn largest_packet(traffic: &LinkTraffic<'_, '_>) -> Bytes {
    let data = traffic.data.iter().map(|(_, instance)| instance.group.packet).max();
    data.or_else(|| traffic.acks.iter().map(|(size, _)| *size).max()).unwrap_or(Bytes::new(1500))
}
