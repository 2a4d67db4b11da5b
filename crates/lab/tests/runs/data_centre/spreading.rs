//! Flows that a network with several shortest paths spreads over them.

use crate::common::{results, scenario};
use millpond_lab::fair_shares;
use millpond_protocols::Registry;
use std::collections::BTreeSet;

/// A fat tree with 16 hosts in which every host sends to another one.
const TREE: &str = r#"
duration = "3s"
measure = { from = "2s" }

[fat-tree]
link = { rate = "100Mbps", delay = "1ms", buffer = "1bdp" }

[[flows]]
name = "f"
protocol = "rcp"
"#;

/// RCP's rates are max-min fair. With one flow from and to each host only paths that share a link between switches lower
/// a rate. The queue that random processing times leave keeps up to 4 % of the capacity free.
#[test]
fn flows_of_a_permutation_have_the_max_min_shares_of_their_random_paths() {
    let mut allocations = BTreeSet::new();
    for seed in 1..=3 {
        let sets = [format!("seed={seed}")];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let run = results(TREE, &sets);
        let shares = fair_shares(&scenario(TREE, &sets), &Registry::builtin(), &run);
        let shares: Vec<f64> = shares.iter().map(|series| series.values[series.values.len() - 1]).collect();
        for (flow, share) in run.summary.flows.iter().zip(&shares) {
            let ratio = flow.goodput_bps / share;
            assert!((0.95..1.03).contains(&ratio), "seed {seed}, {}: {ratio} of {share}", flow.name);
        }
        // Some flows collide in the fabric, and some do not.
        let alone = shares.iter().filter(|share| **share == 100e6).count();
        assert!((1..16).contains(&alone), "{shares:?}");
        allocations.insert(shares.iter().map(|share| share.round() as u64).collect::<Vec<_>>());
    }
    assert_eq!(allocations.len(), 3, "seeds differ in their paths: {allocations:?}");
}

/// Fifteen answers arrive at one host no sooner than its link can carry them; the queue keeps it busy meanwhile.
#[test]
fn an_incast_takes_as_long_as_the_link_of_its_receiver_needs() {
    const ANSWERS: &str = r#"
duration = "20ms"

[leaf-spine]
access = { rate = "10Gbps", delay = "1us", buffer = "4MB" }

[[flows]]
name = "answer"
protocol = "dctcp"
path = "incast"
workload = { size = "1MB" }
"#;
    let run = results(ANSWERS, &[]);
    let completed = run.summary.flows.iter().map(|flow| flow.completed_s.expect("a complete answer"));
    let (count, last) = completed.fold((0, 0.0_f64), |(count, last), time| (count + 1, last.max(time)));
    let needed = 15.0 * 1e6 * 8.0 / 10e9;
    assert_eq!(count, 15);
    // One round trip of 8 us to begin, and at the end a flow may be alone after others with less.
    assert!((needed..1.05 * needed).contains(&last), "{last} of {needed}");
}

#[test]
fn a_comparison_gives_all_protocols_the_same_paths() {
    let own = scenario(TREE, &[]);
    let other = scenario(TREE, &["flows.f.protocol=xcp"]);
    assert_eq!(own.flows[0].paths, other.flows[0].paths);
}
