//! Protocols of single loops.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

mod common;

use common::parse_with;
use millpond_scenario::{At, Place, Scenario};

fn parse(text: &str) -> Scenario {
    parse_with(text, &[]).unwrap_or_else(|faults| panic!("{faults}"))
}

/// A chain from R1 to R6 with relays at R2, R3 and R5.
fn chain_with_loops(flows: &str, loops: &str) -> Scenario {
    parse(&format!(
        "duration = \"1s\"\n[chain]\nhops = 5\nlink = {{ rate = \"1Mbps\" }}\n[[flows]]\nname = \"f\"\nprotocol = \
         \"lgcc\"\n{flows}\n[protocols.lgcc]\nrelays = [\"R2\", \"R3\", \"R5\"]\nloops = {loops}\n"
    ))
}

fn protocols_at_hops(scenario: &Scenario) -> Vec<&str> {
    let group = &scenario.flows[0];
    scenario.protocols_along(group, group.path(0)).map(|name| name.as_str()).collect()
}

#[test]
fn a_loop_runs_the_protocol_of_its_relay_or_of_the_last_one_named_before_it() {
    for (loops, expected) in [
        ("{}", ["lgcc"; 5]),
        ("{ R2 = \"lgcc\" }", ["lgcc"; 5]),
        ("{ R2 = \"acp\" }", ["lgcc", "acp", "acp", "acp", "acp"]),
        (
            "{ R5 = \"acp\", R3 = \"cubic:beta=0.5\" }",
            ["lgcc", "lgcc", "cubic:beta=0.5", "cubic:beta=0.5", "acp"],
        ),
        ("{ R2 = \"acp\", R3 = \"lgcc\" }", ["lgcc", "acp", "lgcc", "lgcc", "lgcc"]),
    ] {
        let scenario = chain_with_loops("", loops);
        assert_eq!(protocols_at_hops(&scenario), expected, "{loops}");
        assert_eq!(parse(&scenario.to_toml()), scenario, "{}", scenario.to_toml());
        assert_eq!(scenario.to_toml().contains("loops"), loops != "{}", "the key is left out if it is empty");
    }
    let with_variant = chain_with_loops("", "{ R3 = \"cubic:beta=0.5\" }");
    assert_eq!(with_variant.protocols["cubic:beta=0.5"].params.len(), 1);
}

#[test]
fn a_flow_without_relays_or_that_begins_at_one_runs_its_own_protocol() {
    let all = "[[flows]]\nname = \"long\"\nprotocol = \"lgcc\"";
    let flows = format!("path = [\"R3\", \"R4\", \"R5\", \"R6\"]\n{all}");
    let at_relay = chain_with_loops(&flows, "{ R3 = \"acp\", R5 = \"xcp\" }");
    assert_eq!(protocols_at_hops(&at_relay), ["lgcc", "lgcc", "xcp"]);
    for without in ["sender = \"unresponsive\"", "workload = { ping = \"100ms\" }"] {
        let scenario = chain_with_loops(without, "{ R2 = \"acp\" }");
        assert_eq!(protocols_at_hops(&scenario), ["lgcc"; 5], "{without}");
    }
}

#[test]
fn a_variant_of_an_entry_with_loops_runs_itself_where_the_entry_does() {
    let mut scenario = chain_with_loops("", "{ R2 = \"acp\", R3 = \"lgcc\" }");
    let variant = At::new("lgcc:drain=4".to_owned(), Place::default());
    scenario.add_variant(&variant).unwrap();
    scenario.flows[0].protocol = variant;
    assert_eq!(
        protocols_at_hops(&scenario),
        ["lgcc:drain=4", "acp", "lgcc:drain=4", "lgcc:drain=4", "lgcc:drain=4"]
    );
}

#[test]
fn relays_that_are_wrong_leave_what_depends_on_them_alone() {
    let text = "duration = \"1s\"\n[chain]\nhops = 2\nlink = { rate = \"1Mbps\" }\n[[flows]]\nname = \"f\"\nprotocol = \"lgcc\"\n\
                [protocols.lgcc]\nrelays = [\"R9\"]\naggregate = [\"R2\"]\nloops = { R2 = \"acp\" }\n";
    let faults = parse_with(text, &[]).unwrap_err();
    assert_eq!(faults.0.len(), 1, "{faults}");
}

#[test]
fn an_entry_with_a_loop_of_a_faulty_one_adds_no_fault() {
    let text = "duration = \"1s\"\n[chain]\nhops = 2\nlink = { rate = \"1Mbps\" }\n[[flows]]\nname = \"f\"\nprotocol = \"split\"\n\
                [protocols.split]\nprotocol = \"cubic\"\nrelays = [\"R2\"]\nloops = { R2 = \"own\" }\n\
                [protocols.own]\nprotocol = \"pledge\"\nrelys = [\"R2\"]\n";
    let faults = parse_with(text, &[]).unwrap_err();
    assert_eq!(faults.0.len(), 1, "{faults}");
}
