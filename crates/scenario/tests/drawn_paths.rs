//! Paths between random hosts, and the networks of data centres.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

mod common;

use common::parse_with;
use millpond_scenario::{Hop, Scenario};
use std::collections::{BTreeMap, BTreeSet};

const LEAF_SPINE: &str =
    "[leaf-spine]\nleaves = 3\nspines = 4\nhosts = 2\naccess = { rate = \"10Gbps\", delay = \"1us\" }";
const FAT_TREE: &str = "[fat-tree]\nports = 4\nlink = { rate = \"10Gbps\", delay = \"1us\" }";

fn text(network: &str, flow: &str) -> String {
    format!("duration = \"1s\"\n{network}\n[[flows]]\nname = \"f\"\nprotocol = \"dctcp\"\n{flow}")
}

fn parse(network: &str, flow: &str) -> Scenario {
    parse_with(&text(network, flow), &[]).unwrap_or_else(|faults| panic!("{faults}"))
}

fn node(scenario: &Scenario, index: usize) -> &str {
    &scenario.nodes[index]
}

/// The names of sender and receiver of each flow.
fn pairs(scenario: &Scenario) -> Vec<(String, String)> {
    let ends = |path: &Vec<Hop>| {
        let (first, last) = (path[0], path[path.len() - 1]);
        (node(scenario, scenario.tail(first)).to_owned(), node(scenario, scenario.head(last)).to_owned())
    };
    scenario.flows[0].paths.iter().map(ends).collect()
}

fn is_connected(scenario: &Scenario, path: &[Hop]) -> bool {
    path.windows(2).all(|hops| scenario.head(hops[0]) == scenario.tail(hops[1]))
}

#[test]
fn in_a_permutation_each_host_sends_to_one_other_and_receives_from_one() {
    let scenario = parse(FAT_TREE, "");
    let pairs = pairs(&scenario);
    assert_eq!((scenario.flows[0].count, pairs.len()), (16, 16));
    let senders: BTreeSet<_> = pairs.iter().map(|(from, _)| from).collect();
    let receivers: BTreeSet<_> = pairs.iter().map(|(_, to)| to).collect();
    assert_eq!((senders.len(), receivers.len()), (16, 16));
    assert!(pairs.iter().all(|(from, to)| from != to));
}

#[test]
fn with_more_flows_than_hosts_each_sends_as_often_as_the_others() {
    let mut sent = BTreeMap::new();
    pairs(&parse(FAT_TREE, "count = 48"))
        .into_iter()
        .for_each(|(from, _)| *sent.entry(from).or_insert(0) += 1);
    assert!(sent.len() == 16 && sent.values().all(|count| *count == 3), "{sent:?}");
}

#[test]
fn an_incast_has_one_flow_from_each_other_host_to_the_first() {
    let pairs = pairs(&parse(LEAF_SPINE, "path = \"incast\""));
    let senders: BTreeSet<_> = pairs.iter().map(|(from, _)| from.as_str()).collect();
    assert_eq!(senders, BTreeSet::from(["H2", "H3", "H4", "H5", "H6"]));
    assert!(pairs.len() == 5 && pairs.iter().all(|(_, to)| to == "H1"));
}

#[test]
fn random_pairs_and_their_next_hops_have_equal_probabilities() {
    let scenario = parse(LEAF_SPINE, "path = \"random\"\ncount = 12000");
    let (mut of_pairs, mut over) = (BTreeMap::new(), BTreeMap::new());
    for path in &scenario.flows[0].paths {
        assert!(is_connected(&scenario, path));
        let (from, to) = (scenario.tail(path[0]), scenario.head(path[path.len() - 1]));
        *of_pairs.entry((from, to)).or_insert(0.0) += 1.0;
        // Between two leaf switches it crosses a spine switch; at one leaf switch it has two hops.
        match path.as_slice() {
            [_, up, _, _] => *over.entry(scenario.head(*up)).or_insert(0.0) += 1.0,
            [_, _] => {}
            longer => panic!("{} hops", longer.len()),
        }
    }
    // Five standard errors of a binomial distribution: 30 pairs, and 4 spine switches for 4 of 5 pairs.
    let near = |count: f64, n: f64, p: f64| (count - n * p).abs() < 5.0 * (n * p * (1.0 - p)).sqrt();
    assert!(of_pairs.len() == 30 && of_pairs.values().all(|count| near(*count, 12000.0, 1.0 / 30.0)));
    assert!(over.len() == 4 && over.values().all(|count| near(*count, 12000.0, 0.2)), "{over:?}");
}

#[test]
fn a_fat_tree_has_the_switches_and_links_of_the_paper() {
    for (ports, hosts) in [(2, 2), (4, 16), (8, 128)] {
        let network = FAT_TREE.replace("ports = 4", &format!("ports = {ports}"));
        let scenario = parse(&network, "path = \"random\"\ncount = 400");
        let mut degrees = BTreeMap::new();
        for end in scenario.links.iter().flat_map(|link| [link.from, link.to]) {
            *degrees.entry(node(&scenario, end)).or_insert(0) += 1;
        }
        let of_kind = |kind: char| degrees.iter().filter(move |(name, _)| name.starts_with(kind));
        assert_eq!(of_kind('H').count(), hosts);
        assert!(of_kind('H').all(|(_, degree)| *degree == 1));
        for (kind, count) in [('E', ports * ports / 2), ('A', ports * ports / 2), ('C', ports * ports / 4)] {
            assert_eq!(of_kind(kind).count(), count, "{kind}");
            assert!(of_kind(kind).all(|(_, degree)| *degree == ports), "{kind}");
        }
        // Two hops at one edge switch, four within a pod, six between pods; no path is longer than its level needs.
        for path in &scenario.flows[0].paths {
            assert!(is_connected(&scenario, path));
            let edge = |hop: Hop, at_head: bool| {
                node(&scenario, if at_head { scenario.head(hop) } else { scenario.tail(hop) })
            };
            let (first, last) = (edge(path[0], true), edge(path[path.len() - 1], false));
            let pod = |edge: &str| edge.split('-').next().unwrap_or_default().to_owned();
            let hops = if first == last {
                2
            } else if pod(first) == pod(last) {
                4
            } else {
                6
            };
            assert_eq!(path.len(), hops);
        }
    }
}

#[test]
fn paths_depend_on_seed_and_group_alone_and_the_key_of_a_scenario_not_on_the_seed() {
    let scenario = parse(LEAF_SPINE, "path = \"random\"\ncount = 20");
    let with_seed = |seed| parse_with(&text(LEAF_SPINE, "path = \"random\"\ncount = 20"), &[seed]).unwrap();
    let other = with_seed("seed=2");
    assert_ne!(scenario.flows[0].paths, other.flows[0].paths);
    assert_eq!(scenario.clone().with_seed(2).flows, other.flows);
    assert_eq!(other.clone().with_seed(1).flows, scenario.flows);
    assert_eq!(scenario.key(), other.key());
    let cubic = with_seed("flows.f.protocol=cubic");
    assert_eq!(scenario.flows[0].paths, cubic.flows[0].paths);
    let fixed = scenario.clone().with_fixed_paths();
    assert_eq!(fixed.clone().with_seed(2).flows, fixed.flows);
}

#[test]
fn the_resolved_scenario_draws_the_same_paths() {
    for flow in ["path = \"random\"\ncount = 20", "", "path = { incast = [\"H3\", \"H1\", \"H6\"] }"] {
        let scenario = parse(LEAF_SPINE, flow);
        let again = parse_with(&scenario.to_toml(), &[]).unwrap();
        assert_eq!(scenario.flows[0].paths, again.flows[0].paths);
        assert_eq!(scenario.clone().with_seed(9).flows[0].paths, again.with_seed(9).flows[0].paths);
        assert_eq!(scenario.key(), parse_with(&scenario.to_toml(), &[]).unwrap().key());
    }
}

#[test]
fn nodes_of_a_topology_are_hosts_of_random_paths() {
    let network =
        "[topology]\ngraphml = \"six-lakes.graphml\"\nlink = { rate = \"622Mbps\", delay = \"5ms\" }";
    let scenario = parse(network, "path = \"permutation\"");
    assert_eq!(pairs(&scenario).len(), scenario.nodes.len());
}

/// What is written, and parts of the message.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    ("[fat-tree]\nports = 5\nlink = LINK", "", &["an even number of ports", "test.toml:2"]),
    ("[fat-tree]\nports = 18\nlink = LINK", "", &["from 2 to 16", "test.toml:3"]),
    ("[fat-tree]\nports = 4", "", &["link", "test.toml:2"]),
    ("[leaf-spine]\nleaves = 100\nhosts = 11\naccess = LINK", "", &["at most 1024 hosts"]),
    ("[leaf-spine]\nleaves = 100\nspines = 41\naccess = LINK", "", &["4096 links"]),
    ("[leaf-spine]\naccess = LINK", "path = \"randm\"", &["randm", "random"]),
    ("[leaf-spine]\naccess = LINK", "path = { random = [\"H1\", \"H99\"] }", &["H99"]),
    (
        "[leaf-spine]\naccess = LINK",
        "path = { random = [\"H1\", \"H2\", \"H1\"] }",
        &["a host that is listed twice"],
    ),
    ("[leaf-spine]\naccess = LINK", "path = { random = [\"H1\"] }", &["two hosts at least"]),
    (
        "[leaf-spine]\naccess = LINK",
        "path = { random = [\"H1\", \"H2\"], incast = [\"H1\", \"H2\"] }",
        &["incast"],
    ),
    ("[leaf-spine]\naccess = LINK", "path = { rndom = [\"H1\", \"H2\"] }", &["rndom", "random"]),
    (
        "[leaf-spine]\naccess = { rate = \"1Gbps\", delay = \"1us\", simplex = true }",
        "",
        &["no path leads from \"H1\" to \"H2\" and back"],
    ),
    (
        "[leaf-spine]\naccess = { rate = \"1Gbps\", delay = \"1us\", simplex = true }",
        "wieght = 2",
        &["and back", "wieght"],
    ),
];

#[test]
fn mistakes_are_reported_with_what_was_expected() {
    for (network, flow, parts) in MISTAKES {
        let network = network.replace("LINK", "{ rate = \"1Gbps\", delay = \"1us\" }");
        let message = parse_with(&text(&network, flow), &[]).map(|_| ()).unwrap_err().to_string();
        for part in *parts {
            assert!(message.contains(part), "{network} {flow}: {message}");
        }
    }
}
