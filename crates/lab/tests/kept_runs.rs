//! Runs that are kept in a folder, and loaded when they are wanted again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use millpond_lab::WantedRun;
use millpond_protocols::Registry;
use millpond_results::{About, Run, RunOrigin, Unwatched, World};
use millpond_scenario::{Disk, Scenario};
use std::path::Path;

const SCENARIO: &str = "duration = '1s'\n[dumbbell]\nbottleneck = { rate = '10Mbps', delay = '5ms' }\n\
                        [[flows]]\nname = 'f'\nprotocol = 'cubic'\n";

fn load_or_make(folder: &Path, name: &str, overrides: &[&str]) -> Run {
    let overrides: Vec<String> = overrides.iter().map(|one| (*one).to_owned()).collect();
    let scenario = Scenario::parse(SCENARIO, "x.toml", Path::new("."), &overrides, &Disk).unwrap();
    let origin = RunOrigin::default();
    let about = About { label: name.to_owned(), origin, index: 0, world: World::Packets };
    let registry = Registry::builtin();
    let wanted = WantedRun { name: name.to_owned(), scenario: &scenario, registry: &registry, about };
    wanted.load_or_make(Some(folder), &Unwatched).unwrap()
}

fn kept(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_run_is_loaded_if_scenario_seed_and_name_are_those_of_a_kept_one_and_made_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let first = load_or_make(folder.path(), "a, seed 1", &[]);
    let again = load_or_make(folder.path(), "a: seed-1", &[]);
    assert_eq!((kept(folder.path()), &again.summary), (1, &first.summary));
    assert!(
        again.label.starts_with("a-seed-1-"),
        "a loaded run has the name of its directory: {}",
        again.label
    );
    for change in ["seed=2", "duration=2s", "flows.f.protocol=newreno"] {
        let before = kept(folder.path());
        load_or_make(folder.path(), "a, seed 1", &[change]);
        assert_eq!(kept(folder.path()), before + 1, "{change}");
    }
}
