//! Arbitrary bytes are refused with an error, or give a network that is the same after writing and reading it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_scenario::{Files, Scenario};
use std::path::Path;

const SCENARIO: &str = r#"duration = "1s"
topology = { graphml = "any", link = { rate = "1Mbps", delay = "1ms" } }
flows = [{ name = "f", protocol = "acp", from = "A", to = "B" }]"#;

/// Files of which each holds the same graph.
struct OneGraph<'a>(&'a [u8]);

impl Files for OneGraph<'_> {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Ok(self.0.to_vec())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let read = |text: &str| Scenario::parse(text, "fuzz.toml", Path::new("/"), &[], &OneGraph(bytes));
    match read(SCENARIO) {
        Ok(scenario) => assert_eq!(read(&scenario.to_toml()).expect("it reads back"), scenario),
        Err(faults) => assert!(!faults.render(false).is_empty()),
    }
});
