//! `[dumbbell]`: senders on the left, receivers on the right, one link between.
//!
//! ```text
//! S1 --access1--\                       /--exit1-- D1
//!                R1 ---- bottleneck ---- R2
//! S2 --access2--/                       \--exit2-- D2
//! ```
//!
//! Paths: `pairs` (default): from each sender to its receiver.

use super::{COUNT, REQUIRED_LINK, TEMPLATE, Template};
use crate::network::Network;
use crate::table::{KeyTable, Rule, ScenarioKey, Written};

/// What `[dumbbell]` describes.
#[derive(Default)]
pub(crate) struct Dumbbell {
    pairs: u64,
    bottleneck: Option<Template>,
    access: Option<Template>,
    exit: Option<Template>,
}

/// The keys of `[dumbbell]`.
pub(crate) static DUMBBELL: KeyTable<Dumbbell> = KeyTable {
    name: "dumbbell",
    blank: Dumbbell::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "pairs",
            form: COUNT,
            rule: Rule::Default("1"),
            meaning: "the number of senders, and of receivers",
            read: |dumbbell, written| written.store(&mut dumbbell.pairs),
            write: |_| None,
        },
        ScenarioKey {
            name: "bottleneck",
            form: TEMPLATE,
            rule: REQUIRED_LINK,
            meaning: "the link `bottleneck`",
            read: |dumbbell, written| written.store(&mut dumbbell.bottleneck),
            write: |_| None,
        },
        ScenarioKey {
            name: "access",
            form: TEMPLATE,
            rule: Rule::Absent("none: flows begin at `R1`"),
            meaning: "the links `access1`, ...",
            read: |dumbbell, written| written.store(&mut dumbbell.access),
            write: |_| None,
        },
        ScenarioKey {
            name: "exit",
            form: TEMPLATE,
            rule: Rule::Absent("as `access`"),
            meaning: "the links `exit1`, ...",
            read: |dumbbell, written| written.store(&mut dumbbell.exit),
            write: |_| None,
        },
    ],
};

pub(crate) fn build(written: &Written<'_>, network: &mut Network) -> Option<()> {
    let Dumbbell { pairs, bottleneck, access, exit } = DUMBBELL.read(written)?;
    let middle = bottleneck?.add(network, "bottleneck".into(), "R1", "R2");
    let exit = exit.as_ref().or(access.as_ref());
    let path = |i: u64| {
        let first =
            access.as_ref().map(|link| link.add(network, format!("access{i}"), &format!("S{i}"), "R1"));
        let last = exit.map(|link| link.add(network, format!("exit{i}"), "R2", &format!("D{i}")));
        [first, Some(middle), last].into_iter().flatten().collect()
    };
    let paths = (1..=pairs).map(path).collect();
    network.name_paths("pairs", paths);
    network.default_path_set = Some("pairs");
    Some(())
}
