//! Every shipped scenario is right, and is equal when it is written out and read again.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

mod common;

use millpond_scenario::{Disk, Scenario};
use std::path::{Path, PathBuf};

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let folders = [folder.join("links"), folder];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect()
}

#[test]
fn every_shipped_scenario_is_right_and_reads_back_the_same() {
    assert!(scenarios().len() >= 6);
    for path in scenarios() {
        let scenario = Scenario::load(&path, &[]).unwrap_or_else(|faults| panic!("{faults}"));
        let text = scenario.to_toml();
        let again = Scenario::parse(&text, "again", Path::new("/"), &[], &Disk);
        assert_eq!(again.unwrap_or_else(|faults| panic!("{faults}\n{text}")), scenario, "{}", path.display());
        assert!(!scenario.title.is_empty(), "{}", path.display());
    }
}

#[test]
fn every_shipped_scenario_names_the_schema_that_editors_use() {
    for path in scenarios() {
        let text = std::fs::read_to_string(&path).unwrap();
        let named = text.lines().next().and_then(|line| line.strip_prefix("#:schema "));
        let schema = path.parent().unwrap().join(named.unwrap_or_else(|| panic!("{}", path.display())));
        assert!(schema.is_file(), "{}: {}", path.display(), schema.display());
    }
}

/// The TOML blocks of the reference page.
fn examples(page: &str) -> impl Iterator<Item = &str> {
    page.split("```toml\n").skip(1).filter_map(|block| block.split("```").next())
}

#[test]
fn every_example_of_the_reference_page_is_right() {
    let page = include_str!("../../../docs/scenario.md");
    assert_eq!(examples(page).count(), 11);
    for example in examples(page) {
        let parsed = common::parse_with(example, &[]);
        parsed.unwrap_or_else(|faults| panic!("{faults}"));
    }
}

#[test]
fn every_override_of_the_reference_page_is_right() {
    let page = include_str!("../../../docs/scenario.md");
    let commands: Vec<_> =
        page.lines().filter_map(|line| line.strip_prefix("millpond run scenarios/")).collect();
    assert_eq!(commands.len(), 2);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for command in commands {
        let mut parts = command.split(" --set ");
        let text = std::fs::read_to_string(folder.join(parts.next().unwrap())).unwrap();
        // The user's own trace is the one thing that is not there.
        let sets: Vec<_> = parts.map(|set| set.replace("my.csv", "cell.csv")).collect();
        let parsed = Scenario::parse(&text, command, &folder, &sets, &common::TRACES);
        parsed.unwrap_or_else(|faults| panic!("{faults}"));
    }
}
