//! `[parking-lot]`: a row of links; one set of flows takes them all, others take one each.
//!
//! ```text
//! S0 -- R1 ---- hop1 ---- R2 ---- hop2 ---- R3 -- D0      long
//!   S1 -/                  \- D1                          cross
//!                    S2 -/                   \- D2        cross
//! ```
//!
//! | key | meaning |
//! |---|---|
//! | `hops` | how many links in the row (default 2) |
//! | `link` | the links `hop1`, ...: every key of a link but name and ends |
//! | `access` | the links `access0`, ... and `exit0`, ... if written; else flows begin and end at routers |
//!
//! Paths: `long` (default): over all links; `cross`: one over each link; `all`: both.

use super::{Template, count, required};
use crate::fields::Fields;
use crate::model::Hop;
use crate::network::Network;
use crate::read::Reader;

pub(super) fn build(reader: &Reader<'_>, mut fields: Fields<'_>, network: &mut Network) -> Option<()> {
    let hops = fields.read_or("hops", 2, count);
    let link = required(reader, &mut fields, "link");
    let access = fields.read("access", |_, node| Template::read(reader, node));
    fields.finish();
    let link = link?;
    let row: Vec<Hop> = (1..=hops)
        .map(|i| link.add(network, format!("hop{i}"), &format!("R{i}"), &format!("R{}", i + 1)))
        .collect();
    let mut flow = |number: u64, first: u64, last: u64, middle: &[Hop]| -> Vec<Hop> {
        let Some(access) = &access else { return middle.to_vec() };
        let first =
            access.add(network, format!("access{number}"), &format!("S{number}"), &format!("R{first}"));
        let last = access.add(network, format!("exit{number}"), &format!("R{last}"), &format!("D{number}"));
        [&[first], middle, &[last]].concat()
    };
    let long = vec![flow(0, 1, hops + 1, &row)];
    let cross: Vec<_> = (1..).zip(&row).map(|(i, &hop)| flow(i, i, i + 1, &[hop])).collect();
    network.ways.insert("all", [long.clone(), cross.clone()].concat());
    network.ways.insert("long", long);
    network.ways.insert("cross", cross);
    network.usual_way = Some("long");
    Some(())
}
