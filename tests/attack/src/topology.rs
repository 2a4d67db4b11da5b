//! The shapes of networks: links, the paths that flows may take, and the nodes at which they may be relayed.

use crate::choices::Choices;

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
