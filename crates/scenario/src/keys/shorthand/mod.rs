//! Shorthands for the common networks. Each becomes plain nodes and links, and names sets of paths for flows.

pub(crate) mod chain;
pub(crate) mod dumbbell;
pub(crate) mod fat_tree;
pub(crate) mod leaf_spine;
pub(crate) mod parking_lot;
pub(crate) mod topology;
pub(crate) mod tree;

use super::links::{Directions, LINK_TEMPLATE, read_directions};
use crate::model::{Direction, Hop, Link};
use crate::network::Network;
use crate::place::{At, Place};
use crate::table::{Field, Fields, Form, Rule, Written};

/// Builds the network of one shorthand's table.
pub(crate) type Build = fn(&Written<'_>, &mut Network) -> Option<()>;

/// How many of something a shorthand has.
const COUNT: Form = Form::Whole { least: 1, most: 1000 };
/// The most hosts of a data centre.
const MOST_HOSTS: u64 = 1024;
/// A link of a shorthand.
const TEMPLATE: Form = Form::Table(&LINK_TEMPLATE);
/// A link that must be there.
const REQUIRED_LINK: Rule = Rule::Required("{ rate = \"155Mbps\", delay = \"15ms\" }");

/// A link without its name and ends.
struct Template {
    place: Place,
    forward: Direction,
    backward: Option<Direction>,
}

impl Field for Template {
    /// Reads every key of a `[[links]]` table but name and ends.
    fn read(written: &Written<'_>) -> Option<Self> {
        let mut fields = Fields::new(written, "link")?;
        let Directions { forward, backward } = read_directions(&mut fields);
        fields.finish();
        Some(Self { place: written.place(), forward, backward })
    }
    /// Shorthands are written out as plain links.
    fn to_toml(&self) -> String {
        String::new()
    }
}

impl Template {
    /// Adds such a link to the network.
    fn add(&self, network: &mut Network, name: String, from: &str, to: &str) -> Hop {
        let (from, to) = (network.node(from), network.node(to));
        let (forward, backward) = (self.forward.clone(), self.backward.clone());
        network.add(Link { name: At::new(name, self.place), from, to, forward, backward });
        Hop { link: network.links.len() - 1, forward: true }
    }

    /// Adds a link called after its ends. Returns the index of the lower one.
    fn join(&self, network: &mut Network, low: &str, high: &str) -> usize {
        self.add(network, format!("{low}--{high}"), low, high);
        network.node(low)
    }

    /// Adds link `number` of a row of links between the routers `R1`, `R2`, ...
    fn add_to_row(&self, network: &mut Network, number: u64) -> Hop {
        self.add(network, format!("hop{number}"), &format!("R{number}"), &format!("R{}", number + 1))
    }
}
