//! An arbitrary override is refused with an error that quotes it, or gives a scenario.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_scenario::{Files, Scenario};
use std::path::Path;

const SCENARIO: &str = include_str!("../../scenarios/two-bottlenecks.toml");

/// A folder without files.
struct Nothing;

impl Files for Nothing {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

fuzz_target!(|text: &str| {
    let overrides = [text.to_owned()];
    if let Err(faults) = Scenario::parse(SCENARIO, "fuzz.toml", Path::new("/"), &overrides, &Nothing) {
        assert!(!faults.render(false).is_empty());
    }
});
