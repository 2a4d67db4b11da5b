//! `[fat-tree]`: a fat tree of switches with the same number k of ports (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008).
//!
//! ```text
//!   C1    C2    C3    C4            (k/2)^2 core switches; the n-th aggregation switch of a pod has links to k/2 of them
//!
//!   A1-1  A1-2  |  A2-1  A2-2  ...  k pods of k/2 aggregation switches
//!    |  \/  |   |   |  \/  |        and k/2 edge switches, all joined,
//!   E1-1  E1-2  |  E2-1  E2-2  ...
//!   /  \  /  \
//!  H1 H2  H3 H4                     with k/2 hosts at each edge switch: k^3 / 4 hosts
//! ```
//!
//! Paths between the hosts, each over random aggregation and core switches: `permutation` (default), `random`, `incast`.

use super::{MOST_HOSTS, REQUIRED_LINK, TEMPLATE, Template};
use crate::model::Pattern;
use crate::network::Network;
use crate::table::{Form, KeyTable, Rule, ScenarioKey, Written};

/// What `[fat-tree]` describes.
#[derive(Default)]
pub(crate) struct FatTree {
    ports: u64,
    link: Option<Template>,
    access: Option<Template>,
}

/// The keys of `[fat-tree]`.
pub(crate) static FAT_TREE: KeyTable<FatTree> = KeyTable {
    name: "fat-tree",
    blank: FatTree::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "ports",
            form: Form::Whole { least: 2, most: 16 },
            rule: Rule::Default("4"),
            meaning: "the number of ports of each switch, an even number: 4 ports make 16 hosts, 8 make 128, 16 make 1024",
            read: |tree, written| written.store(&mut tree.ports),
            write: |_| None,
        },
        ScenarioKey {
            name: "link",
            form: TEMPLATE,
            rule: REQUIRED_LINK,
            meaning: "the links between switches, `E1-1--A1-1`, ... and `A1-1--C1`, ...",
            read: |tree, written| written.store(&mut tree.link),
            write: |_| None,
        },
        ScenarioKey {
            name: "access",
            form: TEMPLATE,
            rule: Rule::Absent("as `link`"),
            meaning: "the links of hosts, `H1--E1-1`, ...",
            read: |tree, written| written.store(&mut tree.access),
            write: |_| None,
        },
    ],
};

pub(crate) fn build(written: &Written<'_>, network: &mut Network) -> Option<()> {
    let FatTree { ports, link, access } = FAT_TREE.read(written)?;
    let half = ports / 2;
    if ports % 2 != 0 || ports * half * half > MOST_HOSTS {
        return written.expected("an even number of ports");
    }
    let link = link?;
    let access = access.as_ref().unwrap_or(&link);
    let mut hosts = Vec::new();
    for pod in 1..=ports {
        for edge in 1..=half {
            let first = ((pod - 1) * half + edge - 1) * half;
            let name = format!("E{pod}-{edge}");
            for host in first + 1..=first + half {
                hosts.push(access.join(network, &format!("H{host}"), &name));
            }
            (1..=half).for_each(|aggregation| {
                link.join(network, &name, &format!("A{pod}-{aggregation}"));
            });
        }
        for aggregation in 1..=half {
            let name = format!("A{pod}-{aggregation}");
            let first = (aggregation - 1) * half;
            (first + 1..=first + half).for_each(|core| {
                link.join(network, &name, &format!("C{core}"));
            });
        }
    }
    network.name_hosts(&hosts);
    network.default_path_set = Some(Pattern::Permutation.name());
    Some(())
}
