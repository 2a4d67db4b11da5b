//! Analyses of many flows that start one after the other: in the steady state they are equal.

use crate::common::scenario;
use millpond_protocols::Registry;
use millpond_theory::Study;
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::{VariedParameter, find_critical_values};

const STAGGERED: &str = r#"
duration = "400s"

[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "20ms"

[[flows]]
name = "f"
protocol = "cltcp"
path = ["A", "B"]
count = 1000
start = { every = "100ms" }
"#;

#[test]
fn the_equilibrium_of_a_thousand_staggered_flows_is_that_of_one_class() {
    let (registry, staggered) = (Registry::builtin(), scenario(STAGGERED, &[]));
    let plan = Study::new(&staggered, &registry).plan_steady_state().unwrap();
    assert_eq!((plan.loops.len(), plan.flows.len()), (1, 1000));
    let equilibrium = find_equilibrium(&plan).unwrap();
    let rate = equilibrium.value(millpond_fluid::Entity::Loop(0), "delivered rate").unwrap();
    // A thousand equal shares of 100 Mbit/s.
    assert!((rate / 1e5 - 1.0).abs() < 1e-6, "{rate}");
}

/// A flow that has stopped before the last start is not active; a later stop does not matter.
#[test]
fn flows_that_stop_before_the_last_start_are_no_part_of_the_steady_state() {
    let early = r#"
[[flows]]
name = "early"
protocol = "cltcp"
path = ["A", "B"]
count = 3
stop = "50s"
"#;
    let (registry, text) = (Registry::builtin(), format!("{STAGGERED}stop = \"300s\"\n{early}"));
    let staggered = scenario(&text, &[]);
    let plan = Study::new(&staggered, &registry).plan_steady_state().unwrap();
    assert_eq!(plan.loops.len(), 2);
    let equilibrium = find_equilibrium(&plan).unwrap();
    let rates = [0, 1].map(|l| equilibrium.value(millpond_fluid::Entity::Loop(l), "sending rate").unwrap());
    assert!((rates[0] / 1e5 - 1.0).abs() < 1e-6 && rates[1] == 0.0, "{rates:?}");
}

#[test]
fn critical_values_of_staggered_flows_are_those_of_simultaneous_ones() {
    let registry = Registry::builtin();
    let critical = |sets: &[&str]| {
        let scenario = scenario(STAGGERED, &[sets, &["flows.f.count=60"]].concat());
        let found = find_critical_values(Study::new(&scenario, &registry), &VariedParameter::Rtt).unwrap();
        found.found.iter().map(|found| found.value).collect::<Vec<_>>()
    };
    let staggered = critical(&[]);
    assert!(!staggered.is_empty());
    assert_eq!(staggered, critical(&["flows.f.start=0s"]));
}
