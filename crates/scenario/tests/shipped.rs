//! Every shipped scenario is right, and means the same when it is written out and read again.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

use millpond_scenario::{Disk, Scenario};
use std::path::{Path, PathBuf};

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect()
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
