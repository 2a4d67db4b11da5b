//! The paths of flows: node after node, by a shorthand's name, between random hosts, or the shortest.

use crate::drawn_paths::DrawnGroup;
use crate::model::{DrawnPaths, FlowGroup, Hop, Pattern, Scenario};
use crate::network::PathSet;
use crate::place::At;
use crate::table::{Form, KeyTable, ReadContext, Rule, ScenarioKey, Written, array, set, text};
use crate::tree::{Raw, TomlNode};
use std::collections::BTreeSet;

/// A list of nodes, from sender to receiver.
pub(crate) const NODES: Form = Form::List { item: &Form::Name, least: 2 };

/// Hosts between which paths are drawn, and who sends to whom.
#[derive(Default)]
pub(crate) struct DrawnTable {
    pattern: Option<Pattern>,
    hosts: Vec<String>,
}

impl DrawnTable {
    /// The paths of a group for writing.
    pub(crate) fn of(drawn: &DrawnPaths, scenario: &Scenario) -> Self {
        let hosts = drawn.hosts.iter().map(|host| scenario.node_name(*host).to_owned()).collect();
        Self { pattern: Some(drawn.pattern), hosts }
    }

    fn read(&mut self, written: &Written<'_>, pattern: Pattern) -> Option<()> {
        let hosts = written.list("[\"H1\", \"H2\", \"H3\"]")?.iter();
        let hosts = hosts.map(|host| written.part(host, &Form::Name).text().map(str::to_owned));
        set(&mut self.hosts, hosts.collect())?;
        set(&mut self.pattern, Some(Some(pattern)))
    }

    fn write(&self, pattern: Pattern) -> Option<String> {
        (self.pattern == Some(pattern)).then(|| array(self.hosts.iter().map(text)))
    }
}

/// Names of hosts, of which there are two at least.
const HOSTS: Form = Form::List { item: &Form::Name, least: 2 };

/// The keys of paths between random hosts.
pub(crate) static DRAWN: KeyTable<DrawnTable> = KeyTable {
    name: "random path",
    blank: DrawnTable::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: Pattern::Permutation.name(),
            form: HOSTS,
            rule: Rule::OneOf("[\"H1\", \"H2\", \"H3\"]"),
            meaning: "each of these hosts sends to one other and receives from one, in a random order; with more flows than \
                      hosts in one random order after the other",
            read: |table, written| table.read(written, Pattern::Permutation),
            write: |table| table.write(Pattern::Permutation),
        },
        ScenarioKey {
            name: Pattern::Random.name(),
            form: HOSTS,
            rule: Rule::OneOf("[\"H1\", \"H2\", \"H3\"]"),
            meaning: "each flow runs from a random one of these hosts to a random other one",
            read: |table, written| table.read(written, Pattern::Random),
            write: |table| table.write(Pattern::Random),
        },
        ScenarioKey {
            name: Pattern::Incast.name(),
            form: HOSTS,
            rule: Rule::OneOf("[\"H1\", \"H2\", \"H3\"]"),
            meaning: "the other hosts send to the first one, in a random order",
            read: |table, written| table.read(written, Pattern::Incast),
            write: |table| table.write(Pattern::Incast),
        },
    ],
};

/// `["R1", "R2"]`, the name of a shorthand's set of paths, or hosts between which they are drawn.
pub(crate) fn path(group: &mut FlowGroup, written: &Written<'_>) -> Option<()> {
    let context = written.context;
    let set = match &written.node.value {
        Raw::Text(name) => {
            context.network.paths_named(context.faults, &At::new(name.as_str(), written.place()))?
        }
        Raw::Table(_) => PathSet::Drawn(drawn(&written.with_form(&Form::Table(&DRAWN)))?),
        _ => PathSet::Listed(vec![explicit(written)?]),
    };
    take(group, set, written)
}

/// The paths that a shorthand has for flows that name none.
pub(crate) fn by_default(group: &mut FlowGroup, written: &Written<'_>) -> Option<()> {
    take(group, written.context.network.default_paths()?, written)
}

/// Gives a group its paths. `written`: what names them, for errors.
fn take(group: &mut FlowGroup, set: PathSet, written: &Written<'_>) -> Option<()> {
    let drawn = match set {
        PathSet::Listed(paths) => return self::set(&mut group.paths, Some(paths)),
        PathSet::Drawn(drawn) => drawn,
    };
    let ReadContext { network, seed, .. } = *written.context;
    if let Some(apart) = network.apart(&drawn.hosts) {
        if network.is_incomplete {
            return None;
        }
        let first = drawn.hosts.first().map_or("", |first| network.name(*first));
        let message = format!("no path leads from \"{first}\" to \"{}\" and back", network.name(apart));
        return written.report(
            message,
            "between random hosts",
            "add the missing link, or leave out the host",
        );
    }
    if group.count == 0 {
        group.count = u32::try_from(drawn.senders()).unwrap_or(u32::MAX);
    }
    let named = DrawnGroup { name: &group.name.value, count: group.count as usize, seed };
    group.paths = drawn.draw(&network.links, network.nodes.len(), &named);
    group.drawn = Some(drawn);
    Some(())
}

/// `{ random = ["H1", "H2", "H3"] }`.
fn drawn(written: &Written<'_>) -> Option<DrawnPaths> {
    let pattern = DRAWN.read(written)?.pattern?;
    let items = written.part(written.key(pattern.name())?, &HOSTS);
    let hosts = distinct_nodes(&items, items.list("")?, TWICE)?;
    if hosts.len() < 2 {
        return items.expected("two hosts at least");
    }
    Some(DrawnPaths { pattern, hosts })
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
    let nodes = distinct_nodes(written, items, AGAIN)?;
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

/// What is wrong with a list that has a node twice, and what to do.
type Repeated = (&'static str, &'static str);

const AGAIN: Repeated = ("a path that visits a node twice", "visit each node once");
const TWICE: Repeated = ("a host that is listed twice", "list each host once");

/// The indices of the nodes, each of which may occur once.
fn distinct_nodes(written: &Written<'_>, items: &[TomlNode], repeated: Repeated) -> Option<Vec<usize>> {
    let (mut nodes, mut visited) = (Vec::new(), BTreeSet::new());
    for item in items {
        let item = written.part(item, &Form::Name);
        let index = written.context.network.known(written.context.faults, &item.placed_text()?)?;
        if !visited.insert(index) {
            return item.report(repeated.0, "again", repeated.1);
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
