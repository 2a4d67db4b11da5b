//! Max-min fair shares of a network: what each flow would have if nobody could have more at the cost of one that has
//! no more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The max-min fair shares of flows that cross these links and ask for no more than their demands, by progressive
/// filling (Bertsekas and Gallager, *Data Networks*, section 6.5.2): all shares grow together; a flow stops when it
/// has what it asks for or one of its links is full.
///
/// Each path lists indices into `capacities`. A flow without a link has what it asks for.
pub fn max_min(capacities: &[f64], paths: &[&[usize]], demands: &[f64]) -> Vec<f64> {
    let mut filling = Filling::new(capacities, paths, demands);
    while let Some(Reverse((share, stop))) = filling.stops.pop() {
        match stop.checked_sub(capacities.len()) {
            Some(flow) => filling.fix(flow, demands[flow]),
            None => filling.fill(stop, share),
        }
    }
    filling.shares
}

/// Progressive filling under way: the next to stop growing is at the top of a heap.
struct Filling<'a> {
    paths: &'a [&'a [usize]],
    shares: Vec<f64>,
    is_fixed: Vec<bool>,
    /// Of each link: what those who have stopped leave.
    room: Vec<f64>,
    /// Of each link: who still grows there.
    crowd: Vec<u32>,
    /// Of each link: who crosses it.
    crossing: Vec<Vec<usize>>,
    /// At which share (its bits, which are in order for numbers from zero up) a link is full or, numbered after the
    /// links, a flow has what it asks for. A link whose share has changed since stands there again.
    stops: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<'a> Filling<'a> {
    fn new(capacities: &[f64], paths: &'a [&'a [usize]], demands: &[f64]) -> Self {
        let mut filling = Self {
            paths,
            shares: demands.to_vec(),
            is_fixed: paths.iter().map(|path| path.is_empty()).collect(),
            room: capacities.to_vec(),
            crowd: vec![0; capacities.len()],
            crossing: vec![Vec::new(); capacities.len()],
            stops: BinaryHeap::new(),
        };
        for (flow, path) in paths.iter().enumerate() {
            for &link in *path {
                filling.crossing[link].push(flow);
                filling.crowd[link] += 1;
            }
            if demands[flow].is_finite() && !path.is_empty() {
                filling.stops.push(Reverse((demands[flow].max(0.0).to_bits(), capacities.len() + flow)));
            }
        }
        (0..capacities.len()).for_each(|link| filling.push(link));
        filling
    }

    /// What each flow that still grows would have of a link.
    fn fair(&self, link: usize) -> f64 {
        self.room[link] / f64::from(self.crowd[link])
    }

    fn push(&mut self, link: usize) {
        if self.crowd[link] > 0 {
            self.stops.push(Reverse((self.fair(link).max(0.0).to_bits(), link)));
        }
    }

    /// A link is full, if nothing has changed since it was said to be at this share: all that still grow there stop.
    fn fill(&mut self, link: usize, at: u64) {
        let share = self.fair(link);
        if share.to_bits() != at {
            return;
        }
        for flow in std::mem::take(&mut self.crossing[link]) {
            self.fix(flow, share);
        }
    }

    fn fix(&mut self, flow: usize, share: f64) {
        if std::mem::replace(&mut self.is_fixed[flow], true) {
            return;
        }
        self.shares[flow] = share.min(self.shares[flow]);
        for &link in self.paths[flow] {
            self.room[link] = (self.room[link] - self.shares[flow]).max(0.0);
            self.crowd[link] -= 1;
            self.push(link);
        }
    }
}

/// For each flow the number of its company: flows that share links with each other, directly or through others, have
/// the same.
pub fn companies(links: usize, paths: &[&[usize]]) -> Vec<usize> {
    let mut leader: Vec<usize> = (0..links).collect();
    for pair in paths.iter().flat_map(|path| path.windows(2)) {
        let (a, b) = (top(&leader, pair[0]), top(&leader, pair[1]));
        leader[a.max(b)] = a.min(b);
    }
    let alone = |flow: usize| links + flow;
    paths
        .iter()
        .enumerate()
        .map(|(flow, path)| path.first().map_or(alone(flow), |&l| top(&leader, l)))
        .collect()
}

fn top(leader: &[usize], mut link: usize) -> usize {
    while leader[link] != link {
        link = leader[link];
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANY: f64 = f64::INFINITY;

    #[test]
    fn one_link_is_shared_equally_and_what_one_leaves_goes_to_the_others() {
        let paths: [&[usize]; 3] = [&[0]; 3];
        assert_eq!(max_min(&[9.0], &paths, &[ANY; 3]), [3.0; 3]);
        assert_eq!(max_min(&[9.0], &paths, &[1.0, ANY, ANY]), [1.0, 4.0, 4.0]);
        assert_eq!(max_min(&[9.0], &paths, &[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn what_a_flow_cannot_use_on_one_link_is_free_on_the_other() {
        // A parking lot of 10 and 40: the long flow has half of the first, the cross flow there the other half, the
        // cross flow on the second link the rest of that.
        let paths: [&[usize]; 3] = [&[0, 1], &[0], &[1]];
        assert_eq!(max_min(&[10.0, 40.0], &paths, &[ANY; 3]), [5.0, 5.0, 35.0]);
    }

    #[test]
    fn a_link_that_is_down_gives_nothing_and_a_flow_without_links_all_it_asks_for() {
        assert_eq!(max_min(&[0.0, 8.0], &[&[0, 1], &[1], &[]], &[ANY, ANY, 3.0]), [0.0, 8.0, 3.0]);
    }

    #[test]
    fn flows_are_in_one_company_if_links_connect_them() {
        let paths: [&[usize]; 5] = [&[0, 1], &[1, 2], &[3], &[2], &[]];
        let of = companies(4, &paths);
        assert!(of[0] == of[1] && of[1] == of[3] && of[2] != of[0] && of[4] != of[0] && of[4] != of[2]);
    }

    proptest! {
        #[test]
        fn every_flow_has_what_it_asks_for_or_a_full_link_on_which_none_has_more(
            capacities in prop::collection::vec(0.1..100.0_f64, 5),
            paths in prop::collection::vec(prop::collection::btree_set(0..5_usize, 1..5), 1..12),
            demands in prop::collection::vec(prop_oneof![Just(ANY), 0.1..50.0_f64], 12),
        ) {
            let paths: Vec<Vec<usize>> = paths.into_iter().map(|path| path.into_iter().collect()).collect();
            let paths: Vec<&[usize]> = paths.iter().map(Vec::as_slice).collect();
            let shares = max_min(&capacities, &paths, &demands[..paths.len()]);
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
                prop_assert!(shares[flow] == demands[flow] || path.iter().any(is_bottleneck));
            }
        }
    }
}
