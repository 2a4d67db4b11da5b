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
//! | key | meaning |
//! |---|---|
//! | `fanout` | how many children each node has (default 2) |
//! | `levels` | the links of each level, from the root down: every key of a link but name and ends |
//!
//! A link has the name of the child below it and its forward direction leads up. Paths: `up` (default): from each
//! leaf to the root; `down`: from the root to each leaf.

use super::{Template, count};
use crate::fields::{self, Fields};
use crate::model::Hop;
use crate::network::Network;
use crate::read::Reader;

/// Most leaves of a tree.
const MOST_LEAVES: u64 = 1000;
/// Most levels of a tree.
const MOST_LEVELS: usize = 10;

pub(super) fn build(reader: &Reader<'_>, mut fields: Fields<'_>, network: &mut Network) -> Option<()> {
    let fanout = fields.read_or("fanout", 2, count);
    let levels = fields.required("levels", "[{ rate = \"1Gbps\", delay = \"5ms\" }]");
    fields.finish();
    let levels = levels?;
    let items = fields::list(reader.complaints, levels, "[{ rate = \"1Gbps\" }]")?;
    let leaves = u32::try_from(items.len()).ok().and_then(|depth| fanout.checked_pow(depth));
    if !(1..=MOST_LEVELS).contains(&items.len()) || leaves.is_none_or(|leaves| leaves > MOST_LEAVES) {
        let expected = format!("1 to {MOST_LEVELS} levels that make at most {MOST_LEAVES} leaves");
        return reader.complaints.expected(levels, &expected);
    }
    let templates: Vec<_> = items.iter().map(|item| Template::read(reader, item)).collect::<Option<_>>()?;
    let mut above = vec![("T".to_owned(), Vec::new())];
    for template in &templates {
        above = level(network, template, fanout, &above);
    }
    let up: Vec<Vec<Hop>> = above.into_iter().map(|(_, path)| path).collect();
    if templates.iter().all(|template| template.backward.is_some()) {
        network.ways.insert("down", up.iter().map(|path| turned(path)).collect());
    }
    network.ways.insert("up", up);
    network.usual_way = Some("up");
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

fn turned(path: &[Hop]) -> Vec<Hop> {
    path.iter().rev().map(|hop| Hop { forward: !hop.forward, ..*hop }).collect()
}
