//! The shapes of networks: links, the paths that flows may take, and the nodes at which they may be relayed.

use crate::choices::Choices;
use crate::kind::Kind;

/// A network without capacities.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    /// Name and ends of each link, and by what its capacity exceeds that of a bottleneck.
    pub(crate) links: Vec<Edge>,
    /// The nodes of each path.
    pub(crate) paths: Vec<Vec<String>>,
    /// Whether flows share a loop from their first relay on.
    pub(crate) shares_loops: bool,
    /// Whether paths are cut into loops.
    pub(crate) has_relays: bool,
    /// Whether loops have protocols and relays of several kinds.
    pub(crate) mixes_loops: bool,
    /// The hosts between which paths are random; none where paths are those of `paths`.
    pub(crate) hosts: Vec<String>,
    /// The table that describes these links; none where each has a table of its own.
    pub(crate) shorthand: Option<Shorthand>,
}

/// A table such as `[leaf-spine]` without its links.
#[derive(Clone, Debug)]
pub(crate) struct Shorthand {
    pub(crate) name: String,
    pub(crate) keys: Vec<String>,
}

/// A link without its capacity.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) name: String,
    pub(crate) ends: [String; 2],
    /// Its capacity as a multiple of that of a bottleneck.
    pub(crate) speed: u64,
}

impl Topology {
    /// Any of the shapes of a kind.
    pub(crate) fn of(kind: Kind, choices: &mut Choices<'_>) -> Self {
        match kind {
            Kind::General => Self::any(choices),
            Kind::DataCentres => Self::data_centre(choices),
            Kind::Loops => Self::in_loops(choices),
        }
    }

    /// Hosts at leaf switches, each link with a table of its own or all in the table of a shorthand, or a fat tree.
    fn data_centre(choices: &mut Choices<'_>) -> Self {
        match choices.below(3) {
            0 => Self { shorthand: None, ..Self::leaf_spine(choices) },
            1 => {
                let mut network = Self::leaf_spine(choices);
                network.shorthand_links(choices, ["access", "fabric"]);
                network
            }
            _ => Self::fat_tree(choices),
        }
    }

    fn leaf_spine(choices: &mut Choices<'_>) -> Self {
        let (leaves, spines) = (choices.between(1, 3), choices.between(1, 3));
        let hosts = choices.between(if leaves == 1 { 2 } else { 1 }, 3);
        let mut network = Self::default();
        for leaf in 1..=leaves {
            let switch = format!("L{leaf}");
            for host in (1..=hosts).map(|host| format!("H{}", (leaf - 1) * hosts + host)) {
                network.link(format!("{host}--{switch}"), &host, &switch, 1);
                network.hosts.push(host);
            }
            for spine in (1..=spines).map(|spine| format!("S{spine}")) {
                network.link(format!("{switch}--{spine}"), &switch, &spine, choices.between(1, 2));
            }
        }
        let keys = [("leaves", leaves), ("spines", spines), ("hosts", hosts)];
        let keys = keys.map(|(key, value)| format!("{key} = {value}")).to_vec();
        network.shorthand = Some(Shorthand { name: "leaf-spine".to_owned(), keys });
        network
    }

    fn fat_tree(choices: &mut Choices<'_>) -> Self {
        let ports = *choices.pick(&[2, 4]);
        let mut network = Self::default();
        network.shorthand_links(choices, ["link", "access"]);
        network.hosts = (1..=ports * ports * ports / 4).map(|host| format!("H{host}")).collect();
        let keys = vec![format!("ports = {ports}")];
        network.shorthand = Some(Shorthand { name: "fat-tree".to_owned(), keys });
        network
    }

    /// The links of a shorthand: one that it requires, and one that it may have.
    fn shorthand_links(&mut self, choices: &mut Choices<'_>, [required, optional]: [&str; 2]) {
        self.links.clear();
        self.link(required.to_owned(), "", "", choices.between(1, 2));
        if choices.chance(60) {
            self.link(optional.to_owned(), "", "", choices.between(1, 2));
        }
    }

    /// Long paths, or paths with common parts, in loops of several kinds.
    fn in_loops(choices: &mut Choices<'_>) -> Self {
        let network = match choices.below(4) {
            0 => {
                let (network, nodes) = Self::row(choices, 3);
                Self { paths: vec![nodes], ..network }
            }
            1 => Self::parking_lot(choices),
            2 => Self::tree(choices),
            _ => Self::dumbbell(choices),
        };
        Self { has_relays: true, mixes_loops: true, shares_loops: choices.chance(60), ..network }
    }

    /// Any of the shapes.
    pub(crate) fn any(choices: &mut Choices<'_>) -> Self {
        match choices.below(7) {
            0 => Self::dumbbell(choices),
            1 => Self::parking_lot(choices),
            2 => Self::tree(choices),
            3 => Self::two_way(choices),
            4 => Self { has_relays: true, ..Self::chain(choices) },
            5 => Self { has_relays: true, shares_loops: true, ..Self::dumbbell(choices) },
            _ => Self::chain(choices),
        }
    }

    fn link(&mut self, name: String, from: &str, to: &str, speed: u64) {
        self.links.push(Edge { name, ends: [from.to_owned(), to.to_owned()], speed });
    }

    fn dumbbell(choices: &mut Choices<'_>) -> Self {
        let mut network = Self::default();
        network.link("bottleneck".to_owned(), "R1", "R2", 1);
        for pair in 1..=choices.between(1, 4) {
            let (sender, receiver) = (format!("S{pair}"), format!("D{pair}"));
            network.link(format!("access{pair}"), &sender, "R1", choices.between(1, 8));
            network.link(format!("exit{pair}"), "R2", &receiver, choices.between(1, 8));
            network.paths.push(vec![sender, "R1".to_owned(), "R2".to_owned(), receiver]);
        }
        network
    }

    /// A row of links.
    fn row(choices: &mut Choices<'_>, least: u64) -> (Self, Vec<String>) {
        let mut network = Self::default();
        let nodes: Vec<String> = (0..=choices.between(least, 4)).map(|node| format!("R{node}")).collect();
        for (index, ends) in nodes.windows(2).enumerate() {
            let speed = choices.between(1, 3);
            network.link(format!("hop{}", index + 1), &ends[0], &ends[1], speed);
        }
        (network, nodes)
    }

    fn parking_lot(choices: &mut Choices<'_>) -> Self {
        let (mut network, nodes) = Self::row(choices, 2);
        network.paths = nodes.windows(2).map(<[String]>::to_vec).collect();
        network.paths.insert(0, nodes);
        network
    }

    fn chain(choices: &mut Choices<'_>) -> Self {
        let (mut network, nodes) = Self::row(choices, 1);
        network.paths = vec![nodes];
        network
    }

    fn two_way(choices: &mut Choices<'_>) -> Self {
        let (mut network, nodes) = Self::row(choices, 1);
        let back = nodes.iter().rev().cloned().collect();
        network.paths = vec![nodes, back];
        network
    }

    /// A tree of two levels with two or three children for each node; paths go up, down, or over the root.
    fn tree(choices: &mut Choices<'_>) -> Self {
        let mut network = Self::default();
        let fanout = choices.between(2, 3);
        let mut leaves = Vec::new();
        for child in (1..=fanout).map(|child| format!("T{child}")) {
            network.link(child.clone(), "T", &child, choices.between(1, 4));
            for leaf in (1..=fanout).map(|leaf| format!("{child}-{leaf}")) {
                network.link(leaf.clone(), &child, &leaf, choices.between(1, 2));
                leaves.push(vec!["T".to_owned(), child.clone(), leaf]);
            }
        }
        let over =
            [leaves[0].iter().rev(), leaves[leaves.len() - 1][1..].iter().rev()].map(|path| path.cloned());
        let [up, down] = over;
        let mut over_the_root: Vec<String> = up.collect();
        over_the_root.extend(down.collect::<Vec<_>>().into_iter().rev());
        let mut paths: Vec<Vec<String>> =
            leaves.iter().map(|path| path.iter().rev().cloned().collect()).collect();
        paths.extend(leaves);
        paths.push(over_the_root);
        network.paths = paths;
        network
    }
}
