//! `[dumbbell]`: senders on the left, receivers on the right, one link between.
//!
//! ```text
//! S1 --access1--\                       /--exit1-- D1
//!                R1 ---- bottleneck ---- R2
//! S2 --access2--/                       \--exit2-- D2
//! ```
//!
//! | key | meaning |
//! |---|---|
//! | `pairs` | how many senders, and receivers (default 1) |
//! | `bottleneck` | the link `bottleneck`: every key of a link but name and ends |
//! | `access` | the links `access1`, ... if written; else flows begin at `R1` |
//! | `exit` | the links `exit1`, ... (default: as `access`) |
//!
//! Paths: `pairs` (default): from each sender to its receiver.

use super::{Template, count, required};
use crate::fields::Fields;
use crate::network::Network;
use crate::read::Reader;

pub(super) fn build(reader: &Reader<'_>, mut fields: Fields<'_>, network: &mut Network) -> Option<()> {
    let pairs = fields.read_or("pairs", 1, count);
    let bottleneck = required(reader, &mut fields, "bottleneck");
    let access = fields.read("access", |_, node| Template::read(reader, node));
    let exit = fields.read("exit", |_, node| Template::read(reader, node));
    fields.finish();
    let middle = bottleneck?.add(network, "bottleneck".into(), "R1", "R2");
    let exit = exit.as_ref().or(access.as_ref());
    let path = |i: u64| {
        let first =
            access.as_ref().map(|link| link.add(network, format!("access{i}"), &format!("S{i}"), "R1"));
        let last = exit.map(|link| link.add(network, format!("exit{i}"), "R2", &format!("D{i}")));
        [first, Some(middle), last].into_iter().flatten().collect()
    };
    let paths = (1..=pairs).map(path).collect();
    network.ways.insert("pairs", paths);
    network.usual_way = Some("pairs");
    Some(())
}
