//! Paths between random hosts, each over a random one of the shortest paths, as routers spread flows over paths of equal
//! cost by a hash of their addresses (ECMP, RFC 2992).

use crate::model::{DrawnPaths, Hop, Link, Pattern, Scenario};
use crate::network::{Costs, Entries, Exits, costs_to, entries, exits, next_hops};
use millpond_stats::Random;
use std::collections::BTreeMap;

impl Pattern {
    pub(crate) const ALL: [Self; 3] = [Self::Permutation, Self::Random, Self::Incast];

    /// Its name as a key, and as a set of paths.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Permutation => "permutation",
            Self::Random => "random",
            Self::Incast => "incast",
        }
    }
}

impl DrawnPaths {
    /// The number of flows of a group that does not say how many it has: each host that may send does it once.
    pub(crate) fn senders(&self) -> usize {
        match self.pattern {
            Pattern::Random | Pattern::Permutation => self.hosts.len(),
            Pattern::Incast => self.hosts.len().saturating_sub(1),
        }
    }

    /// The paths of `count` flows of the group called `name`.
    pub(crate) fn draw(&self, links: &[Link], nodes: usize, group: &DrawnGroup<'_>) -> Vec<Vec<Hop>> {
        let stream = |part: &str| Random::stream(group.seed, &format!("group {} {part}", group.name));
        let (mut of_pairs, mut of_routes) = (stream("pairs"), stream("routes"));
        let mut routes = Routes::new(links, exits(links, nodes));
        let pairs = self.pairs(group.count, &mut of_pairs);
        pairs.into_iter().filter_map(|(from, to)| routes.random(from, to, &mut of_routes)).collect()
    }

    /// Sender and receiver of each flow.
    fn pairs(&self, count: usize, random: &mut Random) -> Vec<(usize, usize)> {
        let mut pairs = Vec::with_capacity(count);
        while pairs.len() < count && self.hosts.len() > 1 {
            match self.pattern {
                Pattern::Random => pairs.push(two_of(&self.hosts, random)),
                Pattern::Permutation => {
                    let next = cycle(self.hosts.len(), random);
                    pairs.extend(self.hosts.iter().zip(next).map(|(from, next)| (*from, self.hosts[next])));
                }
                Pattern::Incast => {
                    let mut senders = self.hosts[1..].to_vec();
                    shuffle(&mut senders, random);
                    pairs.extend(senders.into_iter().map(|from| (from, self.hosts[0])));
                }
            }
        }
        pairs.truncate(count);
        pairs
    }
}

/// A group whose paths are drawn.
pub(crate) struct DrawnGroup<'a> {
    pub(crate) name: &'a str,
    pub(crate) count: usize,
    pub(crate) seed: u64,
}

/// Two different hosts, in random order.
fn two_of(hosts: &[usize], random: &mut Random) -> (usize, usize) {
    let from = random.below(hosts.len());
    let to = (from + 1 + random.below(hosts.len() - 1)) % hosts.len();
    (hosts[from], hosts[to])
}

/// A random order of the numbers below `count` as the next one of each, which is never the number itself: one cycle (Sattolo,
/// Information Processing Letters 22(6), 1986).
fn cycle(count: usize, random: &mut Random) -> Vec<usize> {
    let mut next: Vec<usize> = (0..count).collect();
    (1..count).rev().for_each(|last| next.swap(last, random.below(last)));
    next
}

/// A random order (Fisher and Yates).
fn shuffle(items: &mut [usize], random: &mut Random) {
    (1..items.len()).rev().for_each(|last| items.swap(last, random.below(last + 1)));
}

/// Finds shortest paths.
struct Routes<'a> {
    links: &'a [Link],
    exits: Exits,
    entries: Entries,
    /// The costs to each node that is the end of a path.
    costs: BTreeMap<usize, Costs>,
}

impl<'a> Routes<'a> {
    fn new(links: &'a [Link], exits: Exits) -> Self {
        Self { links, entries: entries(&exits), exits, costs: BTreeMap::new() }
    }

    /// A path of the least cost between two nodes: each router chooses among the next hops of equal cost at random. None if
    /// there is no path.
    fn random(&mut self, from: usize, to: usize, random: &mut Random) -> Option<Vec<Hop>> {
        let costs = self.costs.entry(to).or_insert_with(|| costs_to(self.links, &self.entries, to));
        let (mut node, mut path) = (from, Vec::new());
        while node != to {
            let choices: Vec<_> = next_hops(self.links, &self.exits, costs, node).collect();
            if choices.is_empty() {
                return None;
            }
            let (hop, next) = choices[random.below(choices.len())];
            path.push(hop);
            node = next;
        }
        Some(path)
    }
}

impl Scenario {
    /// The same scenario with this seed: paths that are drawn at random are drawn again.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        for group in &mut self.flows {
            if let Some(drawn) = &group.drawn {
                let drawn_group = DrawnGroup { name: &group.name.value, count: group.count as usize, seed };
                group.paths = drawn.draw(&self.links, self.nodes.len(), &drawn_group);
            }
        }
        self
    }

    /// The same scenario with its present paths under every seed, so that changes of their links concern them.
    #[must_use]
    pub fn with_fixed_paths(mut self) -> Self {
        self.flows.iter_mut().for_each(|group| group.drawn = None);
        self
    }
}
