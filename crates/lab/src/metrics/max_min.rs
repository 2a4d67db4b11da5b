//! Max-min fair shares of a network: what each flow would have if nobody could have more at the cost of one that has
//! no more.

/// The max-min fair shares of flows that cross these links and ask for no more than their demands, by progressive
/// filling (Bertsekas and Gallager, *Data Networks*, section 6.5.2): all shares grow together; a flow stops when it
/// has what it asks for or one of its links is full.
///
/// Each path lists indices into `capacities`. A flow without a link has what it asks for.
pub fn max_min(capacities: &[f64], paths: &[&[usize]], demands: &[f64]) -> Vec<f64> {
    let mut shares = demands.to_vec();
    let mut room = capacities.to_vec();
    let mut growing: Vec<usize> = (0..paths.len()).filter(|&flow| !paths[flow].is_empty()).collect();
    while !growing.is_empty() {
        let level = level(&room, paths, demands, &growing);
        let stops = |flow: usize| demands[flow] <= level.share || paths[flow].iter().any(|&l| level.full[l]);
        let (done, rest): (Vec<usize>, Vec<usize>) = growing.into_iter().partition(|&flow| stops(flow));
        for &flow in &done {
            shares[flow] = level.share.min(demands[flow]);
            paths[flow].iter().for_each(|&link| room[link] = (room[link] - shares[flow]).max(0.0));
        }
        growing = rest;
    }
    shares
}

/// Where the next flows stop.
struct Level {
    /// What every growing flow has then.
    share: f64,
    /// Which links are full then.
    full: Vec<bool>,
}

fn level(room: &[f64], paths: &[&[usize]], demands: &[f64], growing: &[usize]) -> Level {
    let mut crowd = vec![0_u32; room.len()];
    growing.iter().flat_map(|&flow| paths[flow]).for_each(|&link| crowd[link] += 1);
    let fair =
        |link: usize| if crowd[link] > 0 { room[link] / f64::from(crowd[link]) } else { f64::INFINITY };
    let by_links = (0..room.len()).map(fair).fold(f64::INFINITY, f64::min);
    let share = growing.iter().map(|&flow| demands[flow]).fold(by_links, f64::min);
    // The links that set the level are full, those too that only rounding keeps from it.
    let full = (0..room.len()).map(|link| fair(link) <= share * (1.0 + 1e-9)).collect();
    Level { share, full }
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
