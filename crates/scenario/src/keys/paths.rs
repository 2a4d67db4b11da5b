//! The paths of flows: node after node, by a shorthand's name, or the shortest.

use crate::model::{Hop, Scenario};
use crate::place::At;
use crate::table::{Form, Written};
use crate::tree::{Raw, TomlNode};
use std::collections::BTreeSet;

/// A list of nodes, from sender to receiver.
pub(crate) const NODES: Form = Form::List { item: &Form::Name, least: 2 };

/// `["R1", "R2"]`, or the name of a shorthand's set of paths.
pub(crate) fn path(written: &Written<'_>) -> Option<Vec<Vec<Hop>>> {
    let context = written.context;
    match &written.node.value {
        Raw::Text(name) => {
            context.network.paths_named(context.faults, &At::new(name.as_str(), written.place()))
        }
        _ => Some(vec![explicit(written)?]),
    }
}

/// `[["S1", "R"], ["S2", "R"]]`.
pub(crate) fn paths(written: &Written<'_>) -> Option<Vec<Vec<Hop>>> {
    let items = written.list("[[\"S1\", \"R\"], [\"S2\", \"R\"]]")?;
    if items.is_empty() {
        return written.expected("at least one path");
    }
    items.iter().map(|item| explicit(&written.part(item, &NODES))).collect()
}

/// The shortest path from the node that `written` names to that of the key `to`; `None` without a report if that is
/// missing.
pub(crate) fn from_and_to(written: &Written<'_>) -> Option<Vec<Vec<Hop>>> {
    let to = written.part(written.sibling("to")?, written.form);
    Some(vec![shortest(written, &to)?])
}

/// The names of the nodes along a path.
pub(crate) fn names(scenario: &Scenario, path: &[Hop]) -> Vec<String> {
    let first = path.first().map(|&hop| scenario.tail(hop));
    let nodes = first.into_iter().chain(path.iter().map(|&hop| scenario.head(hop)));
    nodes.map(|node| scenario.node_name(node).to_owned()).collect()
}

fn explicit(written: &Written<'_>) -> Option<Vec<Hop>> {
    let items = written.list("[\"R1\", \"R2\"]")?;
    let nodes = distinct_nodes(written, items)?;
    if nodes.len() < 2 {
        return written.expected("a path of two nodes at least");
    }
    let hop = |(number, ends): (usize, &[usize])| match (ends, items.get(number)) {
        (&[from, to], Some(item)) => {
            let hop = written.context.network.hop(from, to);
            hop.or_else(|| {
                report_missing_hop(&written.part(item, &Form::Name), MissingHop { number, from, to })
            })
        }
        _ => None,
    };
    let hops = (1..).zip(nodes.windows(2)).map(hop).collect::<Option<_>>()?;
    with_return_path(written, hops)
}

/// The indices of the nodes, each of which may occur once.
fn distinct_nodes(written: &Written<'_>, items: &[TomlNode]) -> Option<Vec<usize>> {
    let (mut nodes, mut visited) = (Vec::new(), BTreeSet::new());
    for item in items {
        let item = written.part(item, &Form::Name);
        let index = written.context.network.known(written.context.faults, &item.placed_text()?)?;
        if !visited.insert(index) {
            return item.report("a path that visits a node twice", "again", "visit each node once");
        }
        nodes.push(index);
    }
    Some(nodes)
}

/// Hop `number` of a path, which no link serves.
struct MissingHop {
    number: usize,
    from: usize,
    to: usize,
}

fn report_missing_hop(written: &Written<'_>, hop: MissingHop) -> Option<Hop> {
    let network = written.context.network;
    if network.is_incomplete {
        return None;
    }
    let (from, to) = (network.name(hop.from), network.name(hop.to));
    let message = format!("hop {} does not exist: no link leads from \"{from}\" to \"{to}\"", hop.number);
    let next = network.neighbours(hop.from).join(", ");
    let help = if next.is_empty() {
        format!("no link leads away from \"{from}\"")
    } else {
        format!("links lead from \"{from}\" to: {next}")
    };
    written.report(message, "cannot be reached in one hop", help)
}

fn shortest(from: &Written<'_>, to: &Written<'_>) -> Option<Vec<Hop>> {
    let network = from.context.network;
    let node = |written: &Written<'_>| network.known(written.context.faults, &written.placed_text()?);
    let (start, end) = (node(from), node(to));
    let (start, end) = (start?, end?);
    if start == end {
        return to.report("a flow from a node to itself", "the same node", "name another node");
    }
    let Some(path) = network.shortest_path(start, end) else {
        if network.is_incomplete {
            return None;
        }
        let message = format!("no path leads from \"{}\" to \"{}\"", network.name(start), network.name(end));
        let help = "add the missing link, or reverse a simplex one";
        return to.report(message, "cannot be reached", help);
    };
    with_return_path(to, path)
}

/// The path, if acknowledgements can return from its end to its start.
fn with_return_path(written: &Written<'_>, path: Vec<Hop>) -> Option<Vec<Hop>> {
    if written.context.network.return_path(&path).is_some() {
        return Some(path);
    }
    if written.context.network.is_incomplete {
        return None;
    }
    let help = "make the links duplex or add links that lead back";
    written.report("no return path for the acknowledgements", "uses a simplex link", help)
}
