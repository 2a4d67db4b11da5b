//! What identifies a scenario: hashes that are equal on every machine and for every way of writing it.

use crate::model::{Capacity, ConfiguredRate, Direction, Link, Scenario};
use crate::trace::{Trace, TraceSource};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Hashes of a scenario. Runs with equal keys, seeds, worlds and versions of Millpond have equal results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioHashes {
    /// The SHA-256 of the resolved scenario without its seed and without the directories of its traces, in hexadecimal
    /// digits.
    pub sha256: String,
    /// Its traces, each once, in the order in which links first use them.
    pub traces: Vec<TraceHash>,
}

/// A trace of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHash {
    /// The name of its file without directories.
    pub name: String,
    /// The SHA-256 of its rates over time in hexadecimal digits, whatever the format of the file.
    pub sha256: String,
}

impl Scenario {
    /// The key of this scenario.
    pub fn key(&self) -> ScenarioHashes {
        let mut plain = self.clone().with_seed(Self::default().seed);
        let mut key = ScenarioHashes::default();
        for source in plain.links.iter_mut().flat_map(directions).flat_map(traces) {
            if let Some(name) = source.file.value.file_name().map(PathBuf::from) {
                source.file.value = name;
            }
            let trace =
                TraceHash { name: source.file.value.display().to_string(), sha256: source.trace.sha256() };
            if !key.traces.contains(&trace) {
                key.traces.push(trace);
            }
        }
        key.sha256 = hexadecimal(&Sha256::digest(plain.to_toml()));
        key
    }
}

fn directions(link: &mut Link) -> impl Iterator<Item = &mut Direction> {
    std::iter::once(&mut link.forward).chain(&mut link.backward)
}

fn traces(direction: &mut Direction) -> impl Iterator<Item = &mut TraceSource> {
    let configured = match &mut direction.configured.rate {
        ConfiguredRate::Percent(_) => None,
        ConfiguredRate::Other(capacity) => Some(capacity),
    };
    let capacities = std::iter::once(&mut direction.rate).chain(configured);
    capacities.filter_map(|capacity| match capacity {
        Capacity::Trace(source) => Some(source),
        Capacity::Constant(_) | Capacity::Steps(_) => None,
    })
}

impl Trace {
    /// Over the times in picoseconds, the rates in bit/s and the length, each as 8 bytes, the least significant first.
    fn sha256(&self) -> String {
        let mut digest = Sha256::new();
        for (time, rate) in &self.steps {
            digest.update(time.picos().to_le_bytes());
            digest.update(rate.bps().to_le_bytes());
        }
        digest.update(self.length.picos().to_le_bytes());
        hexadecimal(&digest.finalize())
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use std::path::Path;

    /// A trace with this rate at its end, in any directory.
    struct Memory(&'static str);

    impl Files for Memory {
        fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
            Ok(format!("time_s,mbps\n0,5\n1,{}\n", self.0).into_bytes())
        }
    }

    fn key(text: &str, folder: &str, overrides: &[&str], last: &'static str) -> ScenarioHashes {
        let overrides: Vec<String> = overrides.iter().map(|one| (*one).to_owned()).collect();
        Scenario::parse(text, "s.toml", Path::new(folder), &overrides, &Memory(last)).unwrap().key()
    }

    const TEXT: &str = r#"
duration = "10s"
[[links]]
name = "L"
between = ["A", "B"]
rate = { trace = { file = "t.csv" } }
delay = "5ms"
[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B"]
"#;

    #[test]
    fn a_scenario_has_one_key_however_it_is_written() {
        let own = key(TEXT, "/here", &[], "7");
        assert_eq!(own, key(TEXT, "/there", &[], "7"));
        assert_eq!(own, key(TEXT, "/here", &["seed=9"], "7"));
        assert_eq!(own, key(&TEXT.replace("5ms", "5000us"), "/here", &[], "7.0"));
        let faster = key(TEXT, "/here", &["links.L.delay=6ms"], "7");
        assert_eq!(faster, key(&TEXT.replace("5ms", "6ms"), "/here", &[], "7"));
        assert_eq!(own.sha256.len(), 64);
        assert_eq!(own.traces.iter().map(|trace| trace.name.as_str()).collect::<Vec<_>>(), ["t.csv"]);
        assert_ne!(own.sha256, faster.sha256);
        assert_eq!(own.traces, faster.traces);
        let other = key(TEXT, "/here", &[], "8");
        assert_eq!(own.sha256, other.sha256);
        assert_ne!(own.traces, other.traces);
    }
}
