//! `[protocols.NAME]`: what belongs to a protocol rather than to the network.

use super::links::{buffer, queue, settings};
use crate::fields::{self, Complaints, Fields};
use crate::model::{Buffer, FlowGroup, ProtocolEntry, Relays};
use crate::network::Network;
use crate::place::At;
use crate::tree::{Node, Raw};
use std::collections::BTreeMap;

/// Unless the scenario says otherwise: the previous loop is never short of credit, and a stall of the next one leaves
/// no more than that behind.
const RELAY_BUFFER: Buffer = Buffer::Bdp(2.0);

/// Reads every entry.
pub(crate) fn read(
    complaints: &Complaints,
    node: &Node,
    network: &Network,
    flows: &[FlowGroup],
) -> Option<BTreeMap<String, ProtocolEntry>> {
    let Raw::Table(table) = &node.value else {
        return complaints.expected(node, "[protocols.NAME] tables");
    };
    let mut entries = BTreeMap::new();
    for (name, node) in &table.entries {
        if let Some(entry) = entry(complaints, name, node, network, flows) {
            entries.insert(name.value.clone(), entry);
        }
    }
    Some(entries)
}

fn entry(
    complaints: &Complaints,
    name: &At<String>,
    node: &Node,
    network: &Network,
    flows: &[FlowGroup],
) -> Option<ProtocolEntry> {
    let mut fields = Fields::new(complaints, node, "protocol")?;
    let relays =
        fields.read_or("relays", Relays::Nodes(Vec::new()), |c, node| relays(c, node, network, flows));
    let entry = ProtocolEntry {
        protocol: fields.read_or("protocol", name.clone(), fields::name),
        aggregate: fields
            .read_or("aggregate", Relays::Nodes(Vec::new()), |c, node| aggregate(c, node, &relays)),
        relays,
        relay_buffer: fields.read_or("relay_buffer", RELAY_BUFFER, buffer),
        queue: fields.read_or("queue", None, queue),
        params: fields.read_or("params", Vec::new(), |c, node| settings(c, node, "protocol's parameters")),
    };
    fields.finish();
    Some(entry)
}

/// `"all"` or a list of nodes, each inside the path of a flow.
fn relays(complaints: &Complaints, node: &Node, network: &Network, flows: &[FlowGroup]) -> Option<Relays> {
    let items = match &node.value {
        Raw::Text(text) if text == "all" => return Some(Relays::All),
        Raw::List(items) => items,
        _ => return complaints.expected(node, "a list of nodes such as [\"R1\", \"R5\"], or \"all\""),
    };
    // A flow without a path was complained about: nobody knows what it was to pass through.
    let lost = flows.iter().any(|flow| flow.paths.is_empty());
    let relay = |item: &Node| {
        let name = At::new(fields::text(complaints, item)?.to_owned(), item.place);
        let relay = network.known(complaints, &name)?;
        if lost || flows.iter().flat_map(|flow| &flow.paths).any(|path| network.is_inside(path, relay)) {
            return Some(name);
        }
        let message = format!("no flow passes through \"{}\"", *name);
        complaints.wrong(
            name.place,
            message,
            "not inside any path",
            "a relay stands between a sender and a receiver",
        )
    };
    items.iter().map(relay).collect::<Option<_>>().map(Relays::Nodes)
}

/// `"all"` or a list of nodes, each one of the entry's relays.
fn aggregate(complaints: &Complaints, node: &Node, relays: &Relays) -> Option<Relays> {
    let items = match &node.value {
        Raw::Text(text) if text == "all" => return Some(Relays::All),
        Raw::List(items) => items,
        _ => return complaints.expected(node, "a list of relays such as [\"R1\", \"R5\"], or \"all\""),
    };
    let relay = |item: &Node| {
        let name = At::new(fields::text(complaints, item)?.to_owned(), item.place);
        if relays.contains(&name) {
            return Some(name);
        }
        let message = format!("\"{}\" is no relay", *name);
        complaints.wrong(
            name.place,
            message,
            "not among the relays",
            "flows can share a loop that begins at a relay",
        )
    };
    items.iter().map(relay).collect::<Option<_>>().map(Relays::Nodes)
}
