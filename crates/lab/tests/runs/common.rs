//! What the tests of whole runs share.

use millpond_lab::results::{Flow, Link, Run};
use millpond_lab::{About, Unwatched, run};
use millpond_protocols::Registry;
use millpond_scenario::{Disk, Scenario};
use std::path::Path;

/// Reads a scenario, with overrides.
pub(crate) fn scenario(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(text, "test.toml", Path::new(""), &sets, &Disk)
        .unwrap_or_else(|faults| panic!("{faults}"))
}

/// Runs it with the protocols that Millpond ships.
pub(crate) fn results(text: &str, sets: &[&str]) -> Run {
    let scenario = scenario(text, sets);
    let finished = run(&scenario, &Registry::builtin(), About::default(), &Unwatched);
    finished.unwrap_or_else(|error| panic!("{error}")).run
}

/// The flow of this name.
pub(crate) fn flow<'a>(run: &'a Run, name: &str) -> &'a Flow {
    run.summary.flows.iter().find(|flow| flow.name == name).expect("a flow of this name")
}

/// The first direction of the link of this name.
pub(crate) fn link<'a>(run: &'a Run, name: &str) -> &'a Link {
    run.summary.links.iter().find(|link| link.name == name).expect("a link of this name")
}
