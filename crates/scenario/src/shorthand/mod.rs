//! Shorthands for the common networks. Each becomes plain nodes and links, and names sets of paths for flows.

mod chain;
mod dumbbell;
mod parking_lot;
mod topology;
mod tree;

use crate::fields::{self, Complaints, Fields};
use crate::model::{Direction, Hop, Link};
use crate::network::Network;
use crate::place::{At, Place};
use crate::read::Reader;
use crate::read::links::both_ways;
use crate::tree::Node;

/// Builds the network of one shorthand's table.
type Build = fn(&Reader<'_>, Fields<'_>, &mut Network) -> Option<()>;

const SHORTHANDS: &[(&str, Build)] = &[
    ("dumbbell", dumbbell::build),
    ("parking-lot", parking_lot::build),
    ("chain", chain::build),
    ("tree", tree::build),
    ("topology", topology::build),
];

/// Adds the network of the shorthand that the scenario uses, if any.
pub(crate) fn read(reader: &Reader<'_>, scenario: &mut Fields<'_>, network: &mut Network) {
    let mut used = None;
    for &(name, build) in SHORTHANDS {
        let Some(node) = scenario.get(name) else { continue };
        if let Some(other) = used.replace(name) {
            let message = format!("[{name}] beside [{other}]");
            let help = "use one shorthand and add what else there is as [[links]]";
            let _: Option<()> = reader.complaints.wrong(node.place, message, "a second shorthand", help);
        } else if let Some(fields) = Fields::new(reader.complaints, node, name) {
            let _ = build(reader, fields, network);
        }
    }
}

/// A link without its name and ends.
struct Template {
    place: Place,
    forward: Direction,
    backward: Option<Direction>,
}

impl Template {
    /// What a sub-table says about a kind of link: every key of a `[[links]]` table but name and ends.
    fn read(reader: &Reader<'_>, node: &Node) -> Option<Self> {
        let mut fields = Fields::new(reader.complaints, node, "link")?;
        let simplex = fields.read_or("simplex", false, fields::flag);
        let directions = both_ways(reader, &mut fields, simplex, None);
        fields.finish();
        let (forward, backward) = directions?;
        Some(Self { place: node.place, forward, backward })
    }

    /// Adds such a link to the network.
    fn add(&self, network: &mut Network, name: String, from: &str, to: &str) -> Hop {
        let (from, to) = (network.node(from), network.node(to));
        let (forward, backward) = (self.forward.clone(), self.backward.clone());
        network.add(Link { name: At::new(name, self.place), from, to, forward, backward });
        Hop { link: network.links.len() - 1, forward: true }
    }
}

/// A template that must be there.
fn required(reader: &Reader<'_>, fields: &mut Fields<'_>, key: &'static str) -> Option<Template> {
    let node = fields.required(key, "{ rate = \"155Mbps\", delay = \"15ms\" }")?;
    Template::read(reader, node)
}

/// How many of something a shorthand has.
fn count(complaints: &Complaints, node: &Node) -> Option<u64> {
    fields::whole(complaints, node, 1, 1000)
}
