//! `[parking-lot]`: a row of links; one set of flows takes them all, others take one each.
//!
//! ```text
//! S0 -- R1 ---- hop1 ---- R2 ---- hop2 ---- R3 -- D0      long
//!   S1 -/                  \- D1                          cross
//!                    S2 -/                   \- D2        cross
//! ```
//!
//! Paths: `long` (default): over all links; `cross`: one over each link; `all`: both.

use super::{COUNT, REQUIRED_LINK, TEMPLATE, Template};
use crate::model::Hop;
use crate::network::Network;
use crate::table::{KeyTable, Rule, ScenarioKey, Written};

/// What `[parking-lot]` describes.
#[derive(Default)]
pub(crate) struct ParkingLot {
    hops: u64,
    link: Option<Template>,
    access: Option<Template>,
}

/// The keys of `[parking-lot]`.
pub(crate) static PARKING_LOT: KeyTable<ParkingLot> = KeyTable {
    name: "parking-lot",
    blank: ParkingLot::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "hops",
            form: COUNT,
            rule: Rule::Default("2"),
            meaning: "the number of links in the row",
            read: |lot, written| written.store(&mut lot.hops),
            write: |_| None,
        },
        ScenarioKey {
            name: "link",
            form: TEMPLATE,
            rule: REQUIRED_LINK,
            meaning: "the links `hop1`, ...",
            read: |lot, written| written.store(&mut lot.link),
            write: |_| None,
        },
        ScenarioKey {
            name: "access",
            form: TEMPLATE,
            rule: Rule::Absent("none: flows begin and end at routers"),
            meaning: "the links `access0`, ... and `exit0`, ...",
            read: |lot, written| written.store(&mut lot.access),
            write: |_| None,
        },
    ],
};

pub(crate) fn build(written: &Written<'_>, network: &mut Network) -> Option<()> {
    let ParkingLot { hops, link, access } = PARKING_LOT.read(written)?;
    let link = link?;
    let row: Vec<Hop> = (1..=hops).map(|i| link.add_to_row(network, i)).collect();
    let mut flow = |number: u64, first: u64, last: u64, middle: &[Hop]| -> Vec<Hop> {
        let Some(access) = &access else { return middle.to_vec() };
        let first =
            access.add(network, format!("access{number}"), &format!("S{number}"), &format!("R{first}"));
        let last = access.add(network, format!("exit{number}"), &format!("R{last}"), &format!("D{number}"));
        [&[first], middle, &[last]].concat()
    };
    let long = vec![flow(0, 1, hops + 1, &row)];
    let cross: Vec<_> = (1..).zip(&row).map(|(i, &hop)| flow(i, i, i + 1, &[hop])).collect();
    network.name_paths("all", [long.clone(), cross.clone()].concat());
    network.name_paths("long", long);
    network.name_paths("cross", cross);
    network.default_path_set = Some("long");
    Some(())
}
