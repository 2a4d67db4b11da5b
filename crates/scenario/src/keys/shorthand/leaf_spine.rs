//! `[leaf-spine]`: hosts at leaf switches, each of which has a link to every spine switch.
//!
//! ```text
//!       S1      S2          spine switches
//!      /  \    /  \
//!     |    \  /    |        links L1--S1, L1--S2, L2--S1, L2--S2: fabric
//!     |    /  \    |
//!      L1          L2       leaf switches
//!     /  \        /  \      links H1--L1, ...: access
//!   H1    H2    H3    H4    hosts
//! ```
//!
//! Paths between the hosts, each over a random spine switch: `permutation` (default), `random`, `incast`.

use super::{COUNT, MOST_HOSTS, REQUIRED_LINK, TEMPLATE, Template};
use crate::model::Pattern;
use crate::network::Network;
use crate::table::{KeyTable, Rule, ScenarioKey, Written};

/// The most links between leaf and spine switches.
const MOST_FABRIC: u64 = 4096;

/// What `[leaf-spine]` describes.
#[derive(Default)]
pub(crate) struct LeafSpine {
    leaves: u64,
    spines: u64,
    hosts: u64,
    access: Option<Template>,
    fabric: Option<Template>,
}

/// The keys of `[leaf-spine]`.
pub(crate) static LEAF_SPINE: KeyTable<LeafSpine> = KeyTable {
    name: "leaf-spine",
    blank: LeafSpine::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "leaves",
            form: COUNT,
            rule: Rule::Default("4"),
            meaning: "the number of leaf switches",
            read: |network, written| written.store(&mut network.leaves),
            write: |_| None,
        },
        ScenarioKey {
            name: "spines",
            form: COUNT,
            rule: Rule::Default("2"),
            meaning: "the number of spine switches: at most 4096 links between leaf and spine switches",
            read: |network, written| written.store(&mut network.spines),
            write: |_| None,
        },
        ScenarioKey {
            name: "hosts",
            form: COUNT,
            rule: Rule::Default("4"),
            meaning: "the number of hosts at each leaf switch: at most 1024 in all",
            read: |network, written| written.store(&mut network.hosts),
            write: |_| None,
        },
        ScenarioKey {
            name: "access",
            form: TEMPLATE,
            rule: REQUIRED_LINK,
            meaning: "the links of hosts, `H1--L1`, ...",
            read: |network, written| written.store(&mut network.access),
            write: |_| None,
        },
        ScenarioKey {
            name: "fabric",
            form: TEMPLATE,
            rule: Rule::Absent("as `access`"),
            meaning: "the links between leaf and spine switches, `L1--S1`, ...",
            read: |network, written| written.store(&mut network.fabric),
            write: |_| None,
        },
    ],
};

pub(crate) fn build(written: &Written<'_>, network: &mut Network) -> Option<()> {
    let LeafSpine { leaves, spines, hosts: at_each, access, fabric } = LEAF_SPINE.read(written)?;
    if leaves * at_each > MOST_HOSTS || leaves * spines > MOST_FABRIC {
        return written.expected(&format!(
            "at most {MOST_HOSTS} hosts in all, and {MOST_FABRIC} links between leaf and spine switches"
        ));
    }
    let access = access?;
    let fabric = fabric.as_ref().unwrap_or(&access);
    let mut hosts = Vec::new();
    for leaf in 1..=leaves {
        for host in (leaf - 1) * at_each + 1..=leaf * at_each {
            hosts.push(access.join(network, &format!("H{host}"), &format!("L{leaf}")));
        }
        (1..=spines).for_each(|spine| {
            fabric.join(network, &format!("L{leaf}"), &format!("S{spine}"));
        });
    }
    network.name_hosts(&hosts);
    network.default_path_set = Some(Pattern::Permutation.name());
    Some(())
}
