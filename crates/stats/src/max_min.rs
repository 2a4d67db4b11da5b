//! Weighted max-min fair shares of a network: the rate of a flow can only increase if that of a flow with an equal or
//! smaller rate per unit of weight decreases.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// A class of equal flows that share the links of one path.
#[derive(Clone, Copy, Debug)]
pub struct MaxMinFlow<'a> {
    /// Indices of the links that each flow crosses, each at most once.
    pub path: &'a [usize],
    /// The number of equal flows.
    pub count: f64,
    /// Shares are in proportion to weights.
    pub weight: f64,
    /// The maximum rate of one flow; infinite if it has no limit of its own.
    pub max_rate: f64,
}

/// A max-min allocation, in the unit of the capacities.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxMinShares {
    /// The rate of one flow of each class; infinite if neither a link nor a limit of its own bounds it.
    pub rates: Vec<f64>,
    /// For each link that stopped flows: the level, in rate per unit of weight, at which it became full.
    pub levels: Vec<Option<f64>>,
}

/// The max-min fair shares of `flows` on links of these `capacities`, by progressive filling: all rates grow together, in
/// proportion to the weights; a flow stops when it has its maximum rate or when a link of its path is full.
///
/// Bertsekas, Gallager: *Data Networks*, section 6.5.2. The time is that of a heap with one entry per change of a link.
pub fn max_min_shares(capacities: &[f64], flows: &[MaxMinFlow<'_>]) -> MaxMinShares {
    let mut filling = Filling::new(capacities, flows);
    while let Some((Reverse(bits), stop)) = filling.stops.pop() {
        match stop.checked_sub(flows.len()) {
            Some(link) => filling.fill_link(link, bits),
            None => filling.fix(stop, filling.level_of_limit(stop)),
        }
    }
    let rates = filling.rates.iter().map(|rate| rate.unwrap_or(f64::INFINITY)).collect();
    MaxMinShares { rates, levels: filling.levels }
}

/// The state of progressive filling.
struct Filling<'a> {
    flows: &'a [MaxMinFlow<'a>],
    /// The rate of each flow that has stopped.
    rates: Vec<Option<f64>>,
    links: Vec<LinkState>,
    levels: Vec<Option<f64>>,
    /// The level (as bits, whose order is that of the non-negative numbers) at which flow number `i` reaches its
    /// maximum rate, or link number `i - flows.len()` is full. Of equal levels the greatest number comes first. A link
    /// has an entry for every change; all but the last are out of date.
    stops: BinaryHeap<(Reverse<u64>, usize)>,
}

#[derive(Clone, Default)]
struct LinkState {
    /// The capacity that is left by flows which have stopped.
    left: f64,
    /// The sum of count times weight over the classes that still grow.
    weight: f64,
    /// The number of classes that still grow.
    growing: u32,
    /// The classes that cross the link.
    crossing: Vec<usize>,
}

impl LinkState {
    /// The level at which the link would be full.
    fn level(&self) -> f64 {
        self.left.max(0.0) / self.weight
    }
}

impl<'a> Filling<'a> {
    fn new(capacities: &[f64], flows: &'a [MaxMinFlow<'a>]) -> Self {
        let state = |&left: &f64| LinkState { left, ..LinkState::default() };
        let mut filling = Self {
            flows,
            rates: vec![None; flows.len()],
            links: capacities.iter().map(state).collect(),
            levels: vec![None; capacities.len()],
            stops: BinaryHeap::new(),
        };
        for (index, flow) in flows.iter().enumerate() {
            for &link in flow.path {
                let link = &mut filling.links[link];
                link.crossing.push(index);
                link.weight += flow.count * flow.weight;
                link.growing += 1;
            }
            filling.push(filling.level_of_limit(index), index);
        }
        (0..capacities.len()).for_each(|link| filling.push_link(link));
        filling
    }

    /// The level at which a flow has its maximum rate.
    fn level_of_limit(&self, flow: usize) -> f64 {
        (self.flows[flow].max_rate / self.flows[flow].weight).max(0.0)
    }

    fn push(&mut self, level: f64, stop: usize) {
        if level.is_finite() {
            self.stops.push((Reverse(level.to_bits()), stop));
        }
    }

    fn push_link(&mut self, link: usize) {
        if self.links[link].growing > 0 {
            self.push(self.links[link].level(), self.flows.len() + link);
        }
    }

    /// Handles a full link: its flows that still grow stop. Does nothing if the link's level has changed since this entry.
    fn fill_link(&mut self, link: usize, bits: u64) {
        let level = self.links[link].level();
        if self.links[link].growing == 0 || level.to_bits() != bits {
            return;
        }
        self.levels[link] = Some(level);
        for flow in core::mem::take(&mut self.links[link].crossing) {
            self.fix(flow, level);
        }
    }

    /// Stops a flow at this level, unless it has stopped before.
    fn fix(&mut self, flow: usize, level: f64) {
        let MaxMinFlow { path, count, weight, .. } = self.flows[flow];
        if self.rates[flow].is_some() {
            return;
        }
        let rate = level * weight;
        self.rates[flow] = Some(rate);
        for &link in path {
            let state = &mut self.links[link];
            state.left -= rate * count;
            state.weight -= count * weight;
            state.growing -= 1;
            self.push_link(link);
        }
    }
}

/// For each path the number of its connected component: two flows are connected if they share a link, directly or through
/// other flows. A flow without links is a component of its own.
pub fn connected_components(links: usize, paths: &[&[usize]]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..links).collect();
    for pair in paths.iter().flat_map(|path| path.windows(2)) {
        let (a, b) = (root(&parent, pair[0]), root(&parent, pair[1]));
        parent[a.max(b)] = a.min(b);
    }
    let component = |(flow, path): (usize, &&[usize])| match path.first() {
        Some(&link) => root(&parent, link),
        None => links + flow,
    };
    paths.iter().enumerate().map(component).collect()
}

fn root(parent: &[usize], mut link: usize) -> usize {
    while parent[link] != link {
        link = parent[link];
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNLIMITED: f64 = f64::INFINITY;

    fn rates(capacities: &[f64], paths: &[&[usize]], limits: &[f64]) -> Vec<f64> {
        let flows: Vec<_> = paths
            .iter()
            .zip(limits)
            .map(|(path, max)| MaxMinFlow { path, count: 1.0, weight: 1.0, max_rate: *max })
            .collect();
        max_min_shares(capacities, &flows).rates
    }

    #[test]
    fn a_link_is_shared_equally_and_the_others_use_capacity_that_a_flow_leaves() {
        let paths: [&[usize]; 3] = [&[0]; 3];
        assert_eq!(rates(&[9.0], &paths, &[UNLIMITED; 3]), [3.0; 3]);
        assert_eq!(rates(&[9.0], &paths, &[1.0, UNLIMITED, UNLIMITED]), [1.0, 4.0, 4.0]);
        assert_eq!(rates(&[9.0], &paths, &[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn the_others_use_capacity_that_a_flow_cannot_use_because_of_another_link() {
        // A parking lot of 10 and 40: the long flow has half of the first link, the cross flow there the other half, the
        // cross flow on the second link the remainder of that link.
        let paths: [&[usize]; 3] = [&[0, 1], &[0], &[1]];
        assert_eq!(rates(&[10.0, 40.0], &paths, &[UNLIMITED; 3]), [5.0, 5.0, 35.0]);
    }

    #[test]
    fn a_link_without_capacity_gives_zero_and_a_flow_without_links_has_its_maximum_rate() {
        let paths: [&[usize]; 4] = [&[0, 1], &[1], &[], &[]];
        let limits = [UNLIMITED, UNLIMITED, 3.0, UNLIMITED];
        assert_eq!(rates(&[0.0, 8.0], &paths, &limits), [0.0, 8.0, 3.0, UNLIMITED]);
    }

    #[test]
    fn rates_are_in_proportion_to_weights_and_a_class_counts_as_its_flows() {
        let flow = |count, weight, max_rate| MaxMinFlow { path: &[0], count, weight, max_rate };
        let shares = max_min_shares(&[12.0], &[flow(2.0, 1.0, UNLIMITED), flow(1.0, 4.0, UNLIMITED)]);
        assert_eq!((shares.rates, shares.levels), (vec![2.0, 8.0], vec![Some(2.0)]));
        // A link that is full when a flow has its maximum rate has stopped the flow.
        assert_eq!(max_min_shares(&[12.0], &[flow(3.0, 1.0, 4.0)]).levels, [Some(4.0)]);
    }

    #[test]
    fn a_class_at_its_maximum_rate_leaves_the_capacity_less_the_rates_of_all_its_flows() {
        let flow = |count, weight, max_rate| MaxMinFlow { path: &[0], count, weight, max_rate };
        // Three flows of weight 2 with at most 1 each leave 9 of 12. Without the limit they would have 2 each.
        let shares = max_min_shares(&[12.0], &[flow(3.0, 2.0, 1.0), flow(1.0, 6.0, UNLIMITED)]);
        assert_eq!(shares.rates, [1.0, 9.0]);
    }

    #[test]
    fn flows_are_in_one_component_if_links_connect_them() {
        let paths: [&[usize]; 5] = [&[0, 1], &[1, 2], &[3], &[2], &[]];
        let of = connected_components(4, &paths);
        assert!(of[0] == of[1] && of[1] == of[3] && of[2] != of[0] && of[4] != of[0] && of[4] != of[2]);
    }

    proptest! {
        #[test]
        fn every_flow_has_its_maximum_rate_or_a_full_link_on_which_no_flow_has_more(
            capacities in prop::collection::vec(0.1..100.0_f64, 5),
            paths in prop::collection::vec(prop::collection::btree_set(0..5_usize, 1..5), 1..12),
            limits in prop::collection::vec(prop_oneof![Just(UNLIMITED), 0.1..50.0_f64], 12),
        ) {
            let paths: Vec<Vec<usize>> = paths.into_iter().map(|path| path.into_iter().collect()).collect();
            let paths: Vec<&[usize]> = paths.iter().map(Vec::as_slice).collect();
            let shares = rates(&capacities, &paths, &limits[..paths.len()]);
            let (paths, shares) = (&paths, &shares);
            let on = |link: usize| (0..paths.len()).filter(move |&f| paths[f].contains(&link)).map(|f| shares[f]);
            for (link, capacity) in capacities.iter().enumerate() {
                prop_assert!(on(link).sum::<f64>() <= capacity * (1.0 + 1e-6));
            }
            for (flow, &path) in paths.iter().enumerate() {
                let is_bottleneck = |&link: &usize| {
                    on(link).sum::<f64>() >= capacities[link] * (1.0 - 1e-6)
                        && on(link).all(|share| share <= shares[flow] * (1.0 + 1e-6))
                };
                prop_assert!(shares[flow] == limits[flow] || path.iter().any(is_bottleneck));
            }
        }
    }
}
