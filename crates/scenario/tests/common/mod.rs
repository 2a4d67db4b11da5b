//! Scenarios from memory.

use millpond_scenario::{Faults, Files, Scenario};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Files called by their last name, whatever folder they are looked for in.
pub(crate) struct Memory(pub(crate) &'static [(&'static str, &'static str)]);

impl Files for Memory {
    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let found = self.0.iter().find(|(file, _)| *file == name);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| Error::from(ErrorKind::NotFound))
    }
}

pub(crate) const TRACES: Memory = Memory(&[
    ("cell.down", "1\n1\n4\n10\n"),
    ("cell.csv", "time_s,mbps\n0,10\n1,20\n"),
    ("text-in-line-7.down", "1\n2\n3\n4\n5\n6\nseven\n8\n"),
    ("decreasing.down", "1\n5\n3\n"),
    ("no-length.down", "0\n0\n"),
    ("empty.down", ""),
    ("comments.down", "# nothing\n\n"),
    ("huge.down", "1\n99999999999999999999\n"),
    ("far.down", "1\n9999999999999\n"),
    ("back-in-time.csv", "time_s,mbps\n0,1\n2,1\n1,1\n"),
    ("negative.csv", "time_s,mbps\n0,1\n1,-1\n"),
    ("nan.csv", "time_s,mbps\n0,1\n1,NaN\n"),
    ("header.csv", "seconds,rate\n0,1\n"),
    ("dead.csv", "time_s,mbps\n0,0\n1,0\n"),
    ("web-search.cdf", "# bytes, per cent\n0 0\n10000 15\n30000000 100\n"),
    ("falling.cdf", "10000 0.5\n1000 1\n"),
    ("columns.csv", "0,1\n1,2,3\n"),
    ("six-lakes.graphml", include_str!("../../../../scenarios/topologies/six-lakes.graphml")),
]);

/// Reads a scenario with these overrides.
pub(crate) fn parse_with(text: &str, overrides: &[&str]) -> std::result::Result<Scenario, Faults> {
    let overrides: Vec<_> = overrides.iter().map(|&o| o.to_owned()).collect();
    Scenario::parse(text, "test.toml", Path::new("folder"), &overrides, &TRACES)
}
