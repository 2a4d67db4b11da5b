//! Paths through a network.

use crate::collector::FaultCollector;
use crate::model::{DrawnPaths, FlowGroup, Hop, Link, Pattern, ProtocolEntry, Scenario};
use crate::place::{At, Place};
use crate::source::{Fault, Faults};
use millpond_units::Span;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

impl Scenario {
    /// The node where `hop` begins.
    pub fn tail(&self, hop: Hop) -> usize {
        tail(&self.links, hop)
    }

    /// The node where `hop` ends.
    pub fn head(&self, hop: Hop) -> usize {
        head(&self.links, hop)
    }

    /// The path of acknowledgements: the links of `path` in the other direction, or the shortest path if one of them is
    /// simplex. `None` if there is none.
    pub fn return_path(&self, path: &[Hop]) -> Option<Vec<Hop>> {
        return_path(&self.links, &self.nodes, path)
    }

    /// The path divided at the relays of `entry`: one list of hops per loop.
    pub fn loops(&self, path: &[Hop], entry: Option<&ProtocolEntry>) -> Vec<Vec<Hop>> {
        let mut loops: Vec<Vec<Hop>> = Vec::new();
        for &hop in path {
            let cut = entry.is_some_and(|entry| self.is_relay(entry, self.tail(hop)));
            match loops.last_mut() {
                Some(last) if !cut => last.push(hop),
                _ => loops.push(vec![hop]),
            }
        }
        loops
    }

    /// The name of the protocol at each hop of `path`, a path of `group`: that of the loop to which the hop belongs.
    pub fn protocols_along<'s>(
        &'s self,
        group: &'s FlowGroup,
        path: &'s [Hop],
    ) -> impl Iterator<Item = &'s At<String>> {
        let entry = self.protocols.get(&group.protocol.value).filter(|_| !group.is_uncontrolled());
        let begins = move |hop: Hop| entry?.loops.get(self.nodes.get(self.tail(hop))?);
        path.iter().enumerate().scan(&group.protocol, move |protocol, (index, hop)| {
            // A flow has no relay at its source.
            if let Some(next) = begins(*hop).filter(|_| index > 0) {
                *protocol = next;
            }
            Some(*protocol)
        })
    }

    /// The names of the protocols of a group: its own, and for each hop of its paths that of [`Self::protocols_along`] if loops
    /// may have others.
    pub fn protocols_of<'s>(&'s self, group: &'s FlowGroup) -> impl Iterator<Item = &'s At<String>> {
        let entry = self.protocols.get(&group.protocol.value);
        let paths = if entry.is_some_and(|entry| !entry.loops.is_empty()) { group.count as usize } else { 0 };
        let of_loops = group.paths.iter().take(paths).flat_map(|path| self.protocols_along(group, path));
        std::iter::once(&group.protocol).chain(of_loops)
    }

    fn is_relay(&self, entry: &ProtocolEntry, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|name| entry.relays.contains(name))
    }

    /// Whether flows that continue together from this relay share one loop.
    pub fn aggregates(&self, entry: &ProtocolEntry, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|name| entry.aggregate.contains(name))
    }

    /// The propagation delay along `hops` at the start of the run.
    pub fn propagation(&self, hops: &[Hop]) -> Span {
        propagation(&self.links, hops)
    }

    /// The shortest base round-trip time that all flows of a group can have: the propagation along its longest path and back.
    pub fn least_rtt(&self, group: &FlowGroup) -> Span {
        least_rtt(&self.links, &self.nodes, &group.paths)
    }

    /// A fault of the value at `place` of the scenario. `label` stands at the place, below the line.
    pub fn fault(&self, place: Place, message: impl Into<String>, label: impl Into<String>) -> Fault {
        self.sources.fault(place, message, label)
    }

    /// These faults of the scenario in the order of its texts. Faults with the same texts become one with several lines.
    pub fn faults(&self, faults: Vec<Fault>) -> Faults {
        Faults::in_order(&self.sources, faults)
    }
}

/// The paths that the flows of a group take.
#[derive(Clone, Debug)]
pub(crate) enum PathSet {
    /// These in turn.
    Listed(Vec<Vec<Hop>>),
    /// Random ones.
    Drawn(DrawnPaths),
}

/// A network while it is being read.
#[derive(Default)]
pub(crate) struct Network {
    pub(crate) nodes: Vec<String>,
    pub(crate) links: Vec<Link>,
    /// The index of each node by name.
    numbers: BTreeMap<String, usize>,
    /// The hops from each node.
    exits: Exits,
    names: BTreeSet<String>,
    /// Whether a fault that was reported leaves out nodes or links: that something is not there is no fault of its own.
    pub(crate) is_incomplete: bool,
    /// Sets of paths that a shorthand names.
    pub(crate) path_sets: BTreeMap<&'static str, PathSet>,
    /// The one of them that flows without a path take.
    pub(crate) default_path_set: Option<&'static str>,
}

impl Network {
    /// The index of the node with this name, which is added if it is new.
    pub(crate) fn node(&mut self, name: &str) -> usize {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        self.numbers.insert(name.to_owned(), self.nodes.len());
        self.nodes.push(name.to_owned());
        self.exits.push(Vec::new());
        self.nodes.len() - 1
    }

    /// Adds a link between nodes that it knows.
    pub(crate) fn add(&mut self, link: Link) {
        for DirectedHop { hop, from, to } in directions(self.links.len(), &link) {
            if let Some(exits) = self.exits.get_mut(from) {
                exits.push((hop, to));
            }
        }
        self.names.insert(link.name.value.clone());
        self.links.push(link);
    }

    /// Whether a link has this name.
    pub(crate) fn has_link(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The first link that shares a direction with this one.
    pub(crate) fn parallel(&self, link: &Link) -> Option<&Link> {
        let same = directions(0, link).filter_map(|direction| self.hop(direction.from, direction.to));
        self.links.get(same.map(|hop| hop.link).min()?)
    }

    /// The index of a node that must exist.
    pub(crate) fn known(&self, faults: &FaultCollector, name: &At<impl AsRef<str>>) -> Option<usize> {
        let index = self.numbers.get(name.value.as_ref()).copied();
        if index.is_some() || self.is_incomplete {
            return index;
        }
        if self.nodes.is_empty() {
            let message = format!("unknown node \"{}\"", name.value.as_ref());
            let help = "a node exists when a link names it: write [[links]] tables";
            return faults.report(name.place, message, "the scenario has no links", help);
        }
        faults.unknown(name, "node", self.nodes.iter().map(String::as_str))
    }

    /// The name of a node.
    pub(crate) fn name(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("", String::as_str)
    }

    /// The names of the nodes that one hop reaches.
    pub(crate) fn neighbours(&self, node: usize) -> Vec<&str> {
        self.exits.get(node).into_iter().flatten().map(|&(_, next)| self.name(next)).collect()
    }

    /// The hop from one node to another, if a link joins them.
    pub(crate) fn hop(&self, from: usize, to: usize) -> Option<Hop> {
        self.exits.get(from)?.iter().find(|&&(_, node)| node == to).map(|&(hop, _)| hop)
    }

    /// Whether the path passes through the node other than at its ends.
    pub(crate) fn is_inside(&self, path: &[Hop], node: usize) -> bool {
        path.iter().skip(1).any(|&hop| tail(&self.links, hop) == node)
    }

    pub(crate) fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<Hop>> {
        shortest_path(&self.links, &self.nodes, &self.exits, from, to)
    }

    pub(crate) fn return_path(&self, path: &[Hop]) -> Option<Vec<Hop>> {
        return_path(&self.links, &self.nodes, path)
    }

    /// The first of these nodes that the first of them does not reach, or that does not reach it.
    pub(crate) fn apart(&self, hosts: &[usize]) -> Option<usize> {
        let first = *hosts.first()?;
        let entries = entries(&self.exits);
        let (to, from) = (costs_to(&self.links, &entries, first), costs_to(&self.links, &self.exits, first));
        hosts
            .iter()
            .copied()
            .find(|host| [&to, &from].iter().any(|costs| costs.get(*host).is_none_or(|cost| cost.is_none())))
    }

    pub(crate) fn least_rtt(&self, paths: &[Vec<Hop>]) -> Span {
        least_rtt(&self.links, &self.nodes, paths)
    }

    /// The set of paths with this name, which a shorthand defines.
    pub(crate) fn paths_named(&self, faults: &FaultCollector, name: &At<impl AsRef<str>>) -> Option<PathSet> {
        match self.path_sets.get(name.value.as_ref()) {
            Some(paths) => Some(paths.clone()),
            None if self.is_incomplete => None,
            None if self.path_sets.is_empty() => faults.report(
                name.place,
                "expected a list of nodes",
                "a name of a set of paths needs a shorthand for a network, such as [dumbbell] or [tree]",
                "write path = [\"R1\", \"R2\"]",
            ),
            None => faults.unknown(name, "set of paths", self.path_sets.keys().copied()),
        }
    }

    /// Names a set of paths.
    pub(crate) fn name_paths(&mut self, name: &'static str, paths: Vec<Vec<Hop>>) {
        self.path_sets.insert(name, PathSet::Listed(paths));
    }

    /// Names the random paths between hosts.
    pub(crate) fn name_hosts(&mut self, hosts: &[usize]) {
        for pattern in Pattern::ALL {
            let drawn = DrawnPaths { pattern, hosts: hosts.to_vec() };
            self.path_sets.insert(pattern.name(), PathSet::Drawn(drawn));
        }
    }

    /// The paths of flows that name none.
    pub(crate) fn default_paths(&self) -> Option<PathSet> {
        self.path_sets.get(self.default_path_set?).cloned()
    }
}

fn tail(links: &[Link], hop: Hop) -> usize {
    links.get(hop.link).map_or(0, |link| if hop.forward { link.from } else { link.to })
}

fn head(links: &[Link], hop: Hop) -> usize {
    tail(links, Hop { forward: !hop.forward, ..hop })
}

/// Whether the link has this direction.
fn exists(links: &[Link], hop: Hop) -> bool {
    links.get(hop.link).is_some_and(|link| hop.forward || link.backward.is_some())
}

fn return_path(links: &[Link], nodes: &[String], path: &[Hop]) -> Option<Vec<Hop>> {
    let reversed: Vec<_> = path.iter().rev().map(|hop| Hop { forward: !hop.forward, ..*hop }).collect();
    if reversed.iter().all(|&hop| exists(links, hop)) {
        return Some(reversed);
    }
    let (first, last) = (path.first()?, path.last()?);
    shortest_path(links, nodes, &exits(links, nodes.len()), head(links, *last), tail(links, *first))
}

fn delay(links: &[Link], hop: Hop) -> Span {
    links.get(hop.link).map_or(Span::ZERO, |link| link.direction(hop.forward).delay.initial())
}

fn least_rtt(links: &[Link], nodes: &[String], paths: &[Vec<Hop>]) -> Span {
    let there_and_back = |path: &Vec<Hop>| {
        let back = return_path(links, nodes, path).unwrap_or_default();
        propagation(links, path) + propagation(links, &back)
    };
    paths.iter().map(there_and_back).max().unwrap_or_default()
}

fn propagation(links: &[Link], hops: &[Hop]) -> Span {
    hops.iter().map(|&hop| delay(links, hop)).sum()
}

/// Every direction that leads away from each node, with the node it leads to.
pub(crate) type Exits = Vec<Vec<(Hop, usize)>>;

pub(crate) fn exits(links: &[Link], nodes: usize) -> Exits {
    let mut exits = vec![Vec::new(); nodes];
    for DirectedHop { hop, from, to } in
        links.iter().enumerate().flat_map(|(index, link)| directions(index, link))
    {
        exits[from].push((hop, to));
    }
    exits
}

/// Every direction that leads to each node, with the node that it comes from.
pub(crate) type Entries = Vec<Vec<(Hop, usize)>>;

pub(crate) fn entries(exits: &Exits) -> Entries {
    let mut entries: Entries = vec![Vec::new(); exits.len()];
    for (node, hops) in exits.iter().enumerate() {
        for &(hop, next) in hops {
            entries[next].push((hop, node));
        }
    }
    entries
}

/// One direction of a link, with the indices of its ends.
struct DirectedHop {
    hop: Hop,
    from: usize,
    to: usize,
}

/// The directions of a link with this index.
fn directions(index: usize, link: &Link) -> impl Iterator<Item = DirectedHop> {
    let hop = |forward| Hop { link: index, forward };
    let forward = DirectedHop { hop: hop(true), from: link.from, to: link.to };
    let backward = DirectedHop { hop: hop(false), from: link.to, to: link.from };
    std::iter::once(forward).chain(link.backward.is_some().then_some(backward))
}

/// The cost of a path: number of hops, then propagation delay.
type Cost = (usize, Span);

/// The least cost from each node to one of them; none where there is no path.
pub(crate) type Costs = Vec<Option<Cost>>;

/// The path of the least cost; among several, the one whose nodes have the least names, compared in the order of the
/// path. `None` if `to` cannot be reached.
fn shortest_path(
    links: &[Link],
    nodes: &[String],
    exits: &Exits,
    from: usize,
    to: usize,
) -> Option<Vec<Hop>> {
    let costs = costs_to(links, &entries(exits), to);
    let (mut node, mut path) = (from, Vec::new());
    while node != to {
        let choices = next_hops(links, exits, &costs, node);
        let (hop, next) = choices.min_by_key(|(_, next)| nodes.get(*next))?;
        path.push(hop);
        node = next;
    }
    Some(path)
}

/// The next hops on the paths of the least cost from a node to the one that `costs` lead to, with the nodes that they reach.
pub(crate) fn next_hops(
    links: &[Link],
    exits: &Exits,
    costs: &Costs,
    node: usize,
) -> impl Iterator<Item = (Hop, usize)> {
    let cost = |node: usize| costs.get(node).copied().flatten();
    let own = cost(node);
    let is_next = move |&&(hop, next): &&(Hop, usize)| {
        let with_hop = cost(next).map(|(hops, left)| (hops + 1, left + delay(links, hop)));
        own.is_some() && own == with_hop
    };
    exits.get(node).into_iter().flatten().filter(is_next).copied()
}

/// The least cost from each node to the node `to` (Dijkstra's algorithm). With the exits of all nodes in place of their
/// entries it is the least cost from the node `to` to each node.
pub(crate) fn costs_to(links: &[Link], entries: &Entries, to: usize) -> Costs {
    const NOTHING: Cost = (0, Span::ZERO);
    let mut costs: Costs = vec![None; entries.len()];
    costs[to] = Some(NOTHING);
    let mut open = BinaryHeap::from([Reverse((NOTHING, to))]);
    while let Some(Reverse((cost, node))) = open.pop() {
        // Since then it was reached at a lower cost.
        if costs[node] != Some(cost) {
            continue;
        }
        for &(hop, previous) in &entries[node] {
            let (hops, so_far) = cost;
            let with_hop = (hops + 1, so_far + delay(links, hop));
            if costs[previous].is_none_or(|known| with_hop < known) {
                costs[previous] = Some(with_hop);
                open.push(Reverse((with_hop, previous)));
            }
        }
    }
    costs
}
