//! An arbitrary text is refused with an error, or gives a scenario that is the same after writing and reading it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_scenario::{Files, Scenario};
use std::path::Path;

/// Files of which each holds the same trace.
struct OneTrace;

impl Files for OneTrace {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Ok(b"1\n5\n9\n".to_vec())
    }
}

fuzz_target!(|text: &str| {
    let read = |text: &str| Scenario::parse(text, "fuzz.toml", Path::new("/"), &[], &OneTrace);
    match read(text) {
        Ok(scenario) => assert_eq!(read(&scenario.to_toml()).expect("it reads back"), scenario),
        Err(faults) => assert!(!faults.render(false).is_empty()),
    }
});
