//! `[chain]`: a row of links between one sender and one receiver.
//!
//! ```text
//! R1 ---- hop1 ---- R2 ---- hop2 ---- R3
//! ```
//!
//! | key | meaning |
//! |---|---|
//! | `hops` | how many links (default 2) |
//! | `link` | the links `hop1`, ...: every key of a link but name and ends |
//! | `last` | the last link, if it differs |
//!
//! Paths: `through` (default): over all links.

use super::{Template, count, required};
use crate::fields::Fields;
use crate::network::Network;
use crate::read::Reader;

pub(super) fn build(reader: &Reader<'_>, mut fields: Fields<'_>, network: &mut Network) -> Option<()> {
    let hops = fields.read_or("hops", 2, count);
    let link = required(reader, &mut fields, "link");
    let last = fields.read("last", |_, node| Template::read(reader, node));
    fields.finish();
    let link = link?;
    let hop = |i: u64| {
        let link = if i == hops { last.as_ref().unwrap_or(&link) } else { &link };
        link.add(network, format!("hop{i}"), &format!("R{i}"), &format!("R{}", i + 1))
    };
    let through = (1..=hops).map(hop).collect();
    network.ways.insert("through", vec![through]);
    network.usual_way = Some("through");
    Some(())
}
