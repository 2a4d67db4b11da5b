//! `[tree]`: each node has the same number of children, down to the leaves.
//!
//! ```text
//!              T
//!        /           \
//!       T-1          T-2          links T-1, T-2: levels[0]
//!      /   \        /   \
//!  T-1-1  T-1-2  T-2-1  T-2-2     links T-1-1, ...: levels[1]
//! ```
//!
//! A link has the name of the child below it and its forward direction leads up. Paths: `up` (default): from each
//! leaf to the root; `down`: from the root to each leaf.

use super::{COUNT, TEMPLATE, Template};
use crate::model::Hop;
use crate::network::Network;
use crate::table::{Field, Form, KeyTable, Rule, ScenarioKey, Written};

/// Most leaves of a tree.
const MAX_LEAVES: u64 = 1000;
/// Most levels of a tree.
const MAX_LEVELS: usize = 10;

/// What `[tree]` describes.
#[derive(Default)]
pub(crate) struct Tree {
    fanout: u64,
    levels: Vec<Template>,
}

/// The keys of `[tree]`.
pub(crate) static TREE: KeyTable<Tree> = KeyTable {
    name: "tree",
    blank: Tree::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "fanout",
            form: COUNT,
            rule: Rule::Default("2"),
            meaning: "the number of children of each node",
            read: |tree, written| written.store(&mut tree.fanout),
            write: |_| None,
        },
        ScenarioKey {
            name: "levels",
            form: Form::List { item: &TEMPLATE, least: 1 },
            rule: Rule::Required("[{ rate = \"1Gbps\", delay = \"5ms\" }]"),
            meaning: "the links of each level, from the root down: at most 10 levels with 1000 leaves",
            read: levels,
            write: |_| None,
        },
    ],
};

fn levels(tree: &mut Tree, written: &Written<'_>) -> Option<()> {
    let items = written.list("[{ rate = \"1Gbps\" }]")?;
    let leaves = u32::try_from(items.len()).ok().and_then(|depth| tree.fanout.checked_pow(depth));
    if !(1..=MAX_LEVELS).contains(&items.len()) || leaves.is_none_or(|leaves| leaves > MAX_LEAVES) {
        let expected = format!("1 to {MAX_LEVELS} levels that make at most {MAX_LEAVES} leaves");
        return written.expected(&expected);
    }
    let level = |item| Template::read(&written.part(item, &TEMPLATE));
    tree.levels = items.iter().map(level).collect::<Option<_>>()?;
    Some(())
}

pub(crate) fn build(written: &Written<'_>, network: &mut Network) -> Option<()> {
    let Tree { fanout, levels: templates } = TREE.read(written)?;
    let mut above = vec![("T".to_owned(), Vec::new())];
    for template in &templates {
        above = level(network, template, fanout, &above);
    }
    let up: Vec<Vec<Hop>> = above.into_iter().map(|(_, path)| path).collect();
    if templates.iter().all(|template| template.backward.is_some()) {
        network.name_paths("down", up.iter().map(|path| reversed(path)).collect());
    }
    network.name_paths("up", up);
    network.default_path_set = Some("up");
    Some(())
}

/// The next level: every node's children, each with its path up to the root.
fn level(
    network: &mut Network,
    template: &Template,
    fanout: u64,
    above: &[(String, Vec<Hop>)],
) -> Vec<(String, Vec<Hop>)> {
    let mut below = Vec::new();
    for (parent, path) in above {
        for number in 1..=fanout {
            let child = format!("{parent}-{number}");
            let hop = template.add(network, child.clone(), &child, parent);
            below.push((child, [&[hop], path.as_slice()].concat()));
        }
    }
    below
}

fn reversed(path: &[Hop]) -> Vec<Hop> {
    path.iter().rev().map(|hop| Hop { forward: !hop.forward, ..*hop }).collect()
}
