//! Ways through a scenario's network.

use crate::model::{Hop, Link, ProtocolEntry, Relays, Scenario};
use crate::place::Place;
use crate::source::Fault;
use millpond_units::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Scenario {
    /// The node where `hop` begins.
    pub fn tail(&self, hop: Hop) -> usize {
        self.links.get(hop.link).map_or(0, |link| if hop.forward { link.from } else { link.to })
    }

    /// The node where `hop` ends.
    pub fn head(&self, hop: Hop) -> usize {
        self.tail(Hop { forward: !hop.forward, ..hop })
    }

    /// The way that acknowledgements take: the same links the other way round, or the shortest path if one of
    /// them is simplex. `None` if there is none.
    pub fn way_back(&self, there: &[Hop]) -> Option<Vec<Hop>> {
        let turned: Vec<_> = there.iter().rev().map(|hop| Hop { forward: !hop.forward, ..*hop }).collect();
        if turned.iter().all(|&hop| exists(&self.links, hop)) {
            return Some(turned);
        }
        let (first, last) = (there.first()?, there.last()?);
        shortest_path(&self.links, &self.nodes, self.head(*last), self.tail(*first))
    }

    /// A path cut at the relays of `entry`: one list of hops per loop.
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

    fn is_relay(&self, entry: &ProtocolEntry, node: usize) -> bool {
        match &entry.relays {
            Relays::All => true,
            Relays::Nodes(names) => {
                self.nodes.get(node).is_some_and(|name| names.iter().any(|relay| relay.value == *name))
            }
        }
    }

    /// Propagation along `hops`, as it is when the run begins.
    pub fn propagation(&self, hops: &[Hop]) -> Span {
        hops.iter().map(|&hop| propagation(&self.links, hop)).sum()
    }

    /// A complaint about what the scenario says at `place`.
    pub fn fault(&self, place: Place, message: impl Into<String>, label: impl Into<String>) -> Fault {
        self.sources.fault(place, message, label)
    }
}

/// Does the link have this direction?
fn exists(links: &[Link], hop: Hop) -> bool {
    links.get(hop.link).is_some_and(|link| hop.forward || link.backward.is_some())
}

fn propagation(links: &[Link], hop: Hop) -> Span {
    links.get(hop.link).map_or(Span::ZERO, |link| link.direction(hop.forward).delay.initial())
}

/// Every direction that leads away from `node`, with the node it leads to.
fn exits(links: &[Link], node: usize) -> impl Iterator<Item = (Hop, usize)> {
    links.iter().enumerate().flat_map(move |(index, link)| {
        let out = (link.from == node).then_some((Hop { link: index, forward: true }, link.to));
        let back = link.backward.is_some() && link.to == node;
        out.into_iter().chain(back.then_some((Hop { link: index, forward: false }, link.from)))
    })
}

/// What a path is judged by: fewest hops, then least propagation, then the names of its nodes.
type Cost<'a> = (usize, Span, Vec<&'a str>);

/// Dijkstra's algorithm under [`Cost`]; `None` if `to` cannot be reached.
pub(crate) fn shortest_path(links: &[Link], nodes: &[String], from: usize, to: usize) -> Option<Vec<Hop>> {
    let mut settled = vec![false; nodes.len()];
    let start: Cost<'_> = (0, Span::ZERO, Vec::new());
    let mut open = BinaryHeap::from([Reverse((start, from, Vec::<(usize, bool)>::new()))]);
    while let Some(Reverse((cost, node, path))) = open.pop() {
        if node == to {
            return Some(path.into_iter().map(|(link, forward)| Hop { link, forward }).collect());
        }
        if std::mem::replace(settled.get_mut(node)?, true) {
            continue;
        }
        for (hop, next) in exits(links, node) {
            let (hops, delay, names) = &cost;
            let names = [names.as_slice(), &[nodes.get(next)?.as_str()]].concat();
            let cost = (hops + 1, *delay + propagation(links, hop), names);
            let path = [path.as_slice(), &[(hop.link, hop.forward)]].concat();
            open.push(Reverse((cost, next, path)));
        }
    }
    None
}
