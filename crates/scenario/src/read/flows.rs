//! `[[flows]]`: who sends what to whom, and when.

use super::times::{delayed_acks, positive, start, stop};
use super::workloads::workload;
use super::{Reader, tables, unique};
use crate::fields::{self, Complaints, Fields, within};
use crate::model::{FlowGroup, Hop, Rtt, Start, Workload};
use crate::network::Network;
use crate::place::At;
use crate::tree::{Node, Raw};
use millpond_units::{Bytes, Span, Time};
use std::collections::BTreeSet;

const MOST_FLOWS: u64 = 1_000_000;
const LARGEST_PACKET: Bytes = Bytes::new(65_535);

/// Reads every group; what they spawn is bounded by the run's `duration`.
pub(crate) fn read(reader: &Reader<'_>, node: &Node, network: &Network, duration: Span) -> Vec<FlowGroup> {
    let complaints = reader.complaints;
    let tables = tables(complaints, node, "flows");
    if let (Raw::List(_), []) = (&node.value, tables) {
        let _: Option<()> = complaints.expected(node, "at least one [[flows]] table");
    }
    let (mut groups, mut names) = (Vec::new(), BTreeSet::new());
    for table in tables {
        if let Some(group) = group(complaints, table, network, duration) {
            unique(complaints, &group.name, "flow group", !names.insert(group.name.value.clone()));
            groups.push(group);
        }
    }
    groups
}

fn group(complaints: &Complaints, node: &Node, network: &Network, duration: Span) -> Option<FlowGroup> {
    let mut fields = Fields::new(complaints, node, "flow group")?;
    let name = fields.required("name", "\"short\"").and_then(|node| fields::name(complaints, node));
    let protocol = fields.required("protocol", "\"cubic\"").and_then(|node| fields::name(complaints, node));
    let paths = paths(&mut fields, network);
    let each = paths.as_ref().map_or(1, |paths| paths.len() as u64);
    let count = fields.read_or("count", each, |c, node| fields::whole(c, node, 1, MOST_FLOWS));
    let rtt = fields.get("rtt").and_then(|node| rtt(complaints, node, network, paths.as_deref()?));
    let packet = fields.read_or("packet", Bytes::new(1500), |c, node| size(c, node, 1));
    let overhead = fields.read_or("overhead", Bytes::ZERO, |c, node| overhead(c, node, packet));
    let group = FlowGroup {
        name: name.unwrap_or_default(),
        count: u32::try_from(count).unwrap_or(u32::MAX),
        protocol: protocol.unwrap_or_default(),
        pinned: fields.read_or("pinned", false, fields::flag),
        rtt,
        start: fields.read_or("start", Start::At(Time::ZERO), start),
        stop: stop(&mut fields),
        packet,
        overhead,
        ack: fields.read_or("ack", Bytes::new(40), |c, node| size(c, node, 1)),
        delayed_acks: fields.read_or("delayed_acks", None, delayed_acks),
        workload: fields.read_or("workload", Workload::Bulk, |c, node| workload(c, node, duration)),
        weight: fields.read_or("weight", 1.0, |c, node| fields::number(c, node, 1e-3, 1e3)),
        paths: paths.unwrap_or_default(),
    };
    fields.finish();
    Some(group)
}

fn size(complaints: &Complaints, node: &Node, least: u64) -> Option<Bytes> {
    within(complaints, node, Bytes::new(least), LARGEST_PACKET)
}

fn overhead(complaints: &Complaints, node: &Node, packet: Bytes) -> Option<Bytes> {
    let overhead = size(complaints, node, 0)?;
    if overhead < packet {
        return Some(overhead);
    }
    complaints.expected(node, &format!("an overhead smaller than the packet of {packet}"))
}

/// `path = ["R1", "R2"]`, `paths = [[...], [...]]`, `from` and `to`, or a word that a shorthand defines.
fn paths(fields: &mut Fields<'_>, network: &Network) -> Option<Vec<Vec<Hop>>> {
    let complaints = fields.complaints;
    let (path, paths) = (fields.get("path"), fields.get("paths"));
    let (from, to) = (fields.get("from"), fields.get("to"));
    match (path, paths, from, to) {
        (Some(node), None, None, None) => match &node.value {
            Raw::Text(word) => network.named_ways(complaints, &At::new(word.as_str(), node.place)),
            _ => Some(vec![explicit(complaints, node, network)?]),
        },
        (None, Some(node), None, None) => {
            let items = fields::list(complaints, node, "[[\"S1\", \"R\"], [\"S2\", \"R\"]]")?;
            if items.is_empty() {
                return complaints.expected(node, "at least one path");
            }
            items.iter().map(|item| explicit(complaints, item, network)).collect()
        }
        (None, None, Some(from), Some(to)) => Some(vec![shortest(complaints, from, to, network)?]),
        (None, None, None, None) if network.usual_way.is_some() => network.usual_ways(),
        _ => complaints.wrong(
            fields.place,
            "expected one way to go",
            "in here",
            "write path = [\"R1\", \"R2\"], or from = \"R1\" and to = \"R2\" for the shortest path",
        ),
    }
}

/// Node after node.
fn explicit(complaints: &Complaints, node: &Node, network: &Network) -> Option<Vec<Hop>> {
    let items = fields::list(complaints, node, "[\"R1\", \"R2\"]")?;
    let nodes = stations(complaints, items, network)?;
    if nodes.len() < 2 {
        return complaints.expected(node, "a path of two nodes at least");
    }
    let hop = |(number, ends): (usize, &[usize])| match (ends, items.get(number)) {
        (&[from, to], Some(item)) => {
            network.hop(from, to).or_else(|| no_hop(complaints, network, number, from, to, item))
        }
        _ => None,
    };
    let hops = (1..).zip(nodes.windows(2)).map(hop).collect::<Option<_>>()?;
    way_back_exists(complaints, node, network, hops)
}

/// The nodes that a path names, each once.
fn stations(complaints: &Complaints, items: &[Node], network: &Network) -> Option<Vec<usize>> {
    let mut nodes = Vec::new();
    for item in items {
        let index = network.known(complaints, &At::new(fields::text(complaints, item)?, item.place))?;
        if nodes.contains(&index) {
            return complaints.wrong(
                item.place,
                "a path that visits a node twice",
                "again",
                "visit each node once",
            );
        }
        nodes.push(index);
    }
    Some(nodes)
}

fn no_hop(
    complaints: &Complaints,
    network: &Network,
    number: usize,
    from: usize,
    to: usize,
    item: &Node,
) -> Option<Hop> {
    let message = format!(
        "hop {number} does not exist: no link leads from \"{}\" to \"{}\"",
        network.name(from),
        network.name(to)
    );
    let next = network.neighbours(from).join(", ");
    let help = if next.is_empty() {
        "no link leads away from there".into()
    } else {
        format!("links lead from \"{}\" to: {next}", network.name(from))
    };
    complaints.wrong(item.place, message, "cannot be reached in one hop", help)
}

fn shortest(complaints: &Complaints, from: &Node, to: &Node, network: &Network) -> Option<Vec<Hop>> {
    let end = |node: &Node| network.known(complaints, &At::new(fields::text(complaints, node)?, node.place));
    let (start, end) = (end(from), end(to));
    let (start, end) = (start?, end?);
    if start == end {
        return complaints.wrong(
            to.place,
            "a flow from a node to itself",
            "the same node",
            "name another node",
        );
    }
    let Some(path) = network.shortest_path(start, end) else {
        let message = format!("no path leads from \"{}\" to \"{}\"", network.name(start), network.name(end));
        return complaints.wrong(
            to.place,
            message,
            "cannot be reached",
            "add the missing link, or turn a simplex one round",
        );
    };
    way_back_exists(complaints, to, network, path)
}

fn way_back_exists(
    complaints: &Complaints,
    node: &Node,
    network: &Network,
    path: Vec<Hop>,
) -> Option<Vec<Hop>> {
    if network.way_back(&path).is_some() {
        return Some(path);
    }
    let message = "no way back for the acknowledgements";
    complaints.wrong(
        node.place,
        message,
        "leads over a simplex link",
        "make the links duplex or add links that lead back",
    )
}

/// A base round-trip time or a range of them, at least what the paths' propagation takes.
fn rtt(complaints: &Complaints, node: &Node, network: &Network, paths: &[Vec<Hop>]) -> Option<Rtt> {
    let (rtt, shortest) = match &node.value {
        Raw::Table(_) => uniform_rtt(complaints, node)?,
        _ => positive(complaints, node).map(|rtt| (Rtt::Constant(rtt), rtt))?,
    };
    let round = |path: &Vec<Hop>| {
        network.propagation(path) + network.propagation(&network.way_back(path).unwrap_or_default())
    };
    let least = paths.iter().map(round).max().unwrap_or_default();
    if shortest >= least {
        return Some(rtt);
    }
    let message = format!("a base round-trip time of {shortest} on a path that takes {least}");
    complaints.wrong(
        node.place,
        message,
        "shorter than the links' delays",
        "rtt can only lengthen a path: shorten the links' delays",
    )
}

/// `{ uniform = ["20ms", "100ms"] }`, and the shortest of it.
fn uniform_rtt(complaints: &Complaints, node: &Node) -> Option<(Rtt, Span)> {
    let mut fields = Fields::new(complaints, node, "round-trip time")?;
    let written = fields.required("uniform", "[\"20ms\", \"100ms\"]");
    fields.finish();
    let (low, high) = fields::range(complaints, written?, "[\"20ms\", \"100ms\"]")?;
    Some((Rtt::Uniform(low, high), low))
}
