//! Several protocols in one network.

use crate::common::{fluid, results, scenario};
use millpond_results::Run;
use std::collections::BTreeSet;

/// XCP, VCP and ACP each have a router at the link, with quantities of equal names.
const ONE_LINK: &str = r#"
duration = "2s"

[[links]]
name = "L"
between = ["A", "B"]
rate = "10Mbps"
delay = "20ms"
queue = "droptail"

[[flows]]
name = "x"
protocol = "xcp"
path = ["A", "B"]

[[flows]]
name = "v"
protocol = "vcp"
path = ["A", "B"]

[[flows]]
name = "a"
protocol = "acp"
path = ["A", "B"]
"#;

/// Fails if two series have the same name, or a series has two values at a time.
fn check_names(run: &Run) {
    let mut names = BTreeSet::new();
    for series in &run.series {
        let name = (series.entity.clone(), series.quantity.clone());
        assert!(names.insert(name.clone()), "{name:?} twice");
        assert!(series.times.windows(2).all(|pair| pair[0] < pair[1]), "{name:?}: {:?}", series.times);
    }
}

fn quantities<'a>(run: &'a Run, entity: &str, prefix: &str) -> BTreeSet<&'a str> {
    let of_link = run.series.iter().filter(|series| series.entity == entity);
    of_link.map(|series| series.quantity.as_str()).filter(|name| name.starts_with(prefix)).collect()
}

#[test]
fn routers_of_one_link_have_quantities_of_different_names_in_both_worlds() {
    let packets = results(ONE_LINK, &[]);
    check_names(&packets);
    let expected = ["persistent queue", "persistent queue of vcp", "persistent queue of acp"];
    assert_eq!(quantities(&packets, "L ->", "persistent"), expected.into());
    check_names(&fluid(ONE_LINK, &[]));
}

/// MCP and VCP, whose routers have quantities of equal names, at one link; VCP also has a link of its own.
const TWO_LINKS: &str = r#"
    duration = "1s"
    links = [
        { name = "L", between = ["A", "B"], rate = "10Mbps", delay = "10ms", queue = "droptail" },
        { name = "M", between = ["B", "C"], rate = "20Mbps", delay = "10ms", queue = "droptail" },
    ]
    flows = [
        { name = "m", protocol = "mcp", path = ["A", "B"] },
        { name = "v", protocol = "vcp", path = ["A", "B", "C"] },
    ]
"#;

#[test]
fn the_names_of_quantities_do_not_depend_on_the_order_in_which_links_are_written() {
    let links: Vec<&str> = TWO_LINKS.lines().filter(|line| line.contains("between")).collect();
    let other_order = TWO_LINKS.replace(&links.join("\n"), &format!("{}\n{}", links[1], links[0]));
    assert_ne!(TWO_LINKS, other_order);
    for text in [TWO_LINKS, &other_order] {
        let run = fluid(text, &[]);
        let expected = ["signalled load", "signalled load of vcp"];
        assert_eq!(quantities(&run, "L ->", "signalled"), expected.into());
        assert_eq!(quantities(&run, "M ->", "signalled"), ["signalled load"].into());
    }
}

#[test]
fn protocols_with_routers_may_have_links_of_their_own_in_the_fluid_world() {
    let text = r#"
        duration = "10s"
        measure.from = "8s"
        links = [
            { name = "a", between = ["A", "B"], rate = "10Mbps", delay = "10ms", queue = "droptail" },
            { name = "b", between = ["B", "C"], rate = "20Mbps", delay = "10ms", queue = "droptail" },
        ]
        flows = [
            { name = "one", protocol = "rcp", path = ["A", "B"] },
            { name = "two", protocol = "xcp", path = ["B", "C"] },
        ]
    "#;
    let run = fluid(text, &[]);
    assert_eq!(scenario(text, &[]).flows.len(), 2);
    for (flow, mbps) in run.summary.flows.iter().zip([10.0, 20.0]) {
        assert!((flow.goodput_bps / 1e6 / mbps - 1.0).abs() < 0.05, "{}: {}", flow.name, flow.goodput_bps);
    }
}
