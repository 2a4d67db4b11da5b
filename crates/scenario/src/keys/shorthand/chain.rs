//! `[chain]`: a row of links between one sender and one receiver.
//!
//! ```text
//! R1 ---- hop1 ---- R2 ---- hop2 ---- R3
//! ```
//!
//! Paths: `through` (default): over all links.

use super::{COUNT, REQUIRED_LINK, TEMPLATE, Template};
use crate::network::Network;
use crate::table::{KeyTable, Rule, ScenarioKey, Written};

/// What `[chain]` describes.
#[derive(Default)]
pub(crate) struct ChainShorthand {
    hops: u64,
    link: Option<Template>,
    last: Option<Template>,
}

/// The keys of `[chain]`.
pub(crate) static CHAIN: KeyTable<ChainShorthand> = KeyTable {
    name: "chain",
    blank: ChainShorthand::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "hops",
            form: COUNT,
            rule: Rule::Default("2"),
            meaning: "the number of links",
            read: |chain, written| written.store(&mut chain.hops),
            write: |_| None,
        },
        ScenarioKey {
            name: "link",
            form: TEMPLATE,
            rule: REQUIRED_LINK,
            meaning: "the links `hop1`, ...",
            read: |chain, written| written.store(&mut chain.link),
            write: |_| None,
        },
        ScenarioKey {
            name: "last",
            form: TEMPLATE,
            rule: Rule::Absent("as `link`"),
            meaning: "the last link",
            read: |chain, written| written.store(&mut chain.last),
            write: |_| None,
        },
    ],
};

pub(crate) fn build(written: &Written<'_>, network: &mut Network) -> Option<()> {
    let ChainShorthand { hops, link, last } = CHAIN.read(written)?;
    let link = link?;
    let hop = |i: u64| {
        let link = if i == hops { last.as_ref().unwrap_or(&link) } else { &link };
        link.add_to_row(network, i)
    };
    let through = (1..=hops).map(hop).collect();
    network.name_paths("through", vec![through]);
    network.default_path_set = Some("through");
    Some(())
}
