//! What verdicts depend on, as far as it can be detected in seconds: the files of the suite, and what the protocol or the queue
//! does in a short run.

use super::evaluate::messages;
use super::subject::{Subject, SubjectKind};
use super::suite::Suite;
use millpond_lab::{Error, run};
use millpond_protocols::Registry;
use millpond_results::{About, RunOrigin, Summary, Unwatched, World};
use millpond_scenario::{Disk, Faults, Scenario};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Two flows of a protocol beside one of CUBIC.
const PROTOCOL_PROBE: &str = r#"
duration = "10s"

[[links]]
name    = "L"
between = ["A", "B"]
rate    = "20Mbps"
delay   = "20ms"
queue   = "droptail"

[[flows]]
name     = "new"
protocol = "tested"
path     = ["A", "B"]
count    = 2
start    = { uniform = ["0s", "1s"] }

[[flows]]
name     = "present"
protocol = "cubic"
path     = ["A", "B"]

[protocols.tested]
protocol = "cubic"
"#;

/// A flow without and two with ECN, one of them of L4S, over a queue.
const QUEUE_PROBE: &str = r#"
duration = "10s"
flows    = [
  { name = "newreno", protocol = "newreno", path = ["A", "B"] },
  { name = "cubic", protocol = "cubic", path = ["A", "B"] },
  { name = "prague", protocol = "prague", path = ["A", "B"] },
]

[[links]]
name    = "L"
between = ["A", "B"]
rate    = "20Mbps"
delay   = "20ms"
queue   = { tested = {} }
"#;

impl Suite {
    /// The fingerprint of the suite as hexadecimal digits. It changes with its files.
    pub fn fingerprint(&self) -> String {
        let mut digest = Sha256::new();
        for (path, text) in &self.files {
            digest.update(path);
            digest.update(text);
        }
        digits(digest)
    }
}

impl Subject {
    /// The fingerprint of the protocol or the queue as hexadecimal digits. It changes with the summary of a run of ten seconds.
    ///
    /// # Errors
    /// A run that was stopped, or a fault of the scenario of this run.
    pub fn fingerprint(&self, registry: &Registry) -> Result<String, Error> {
        Ok(digits(Sha256::new_with_prefix(conduct(self, registry)?)))
    }
}

fn digits(digest: Sha256) -> String {
    digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The summary of the subject's short run, or why there is none; without the version of this program, and without the digest of
/// the scenario, which changes with every key that scenarios get.
fn conduct(subject: &Subject, registry: &Registry) -> Result<String, Error> {
    let scenario = subject.placed_in(probe(subject.kind)?);
    let about = About { label: String::new(), origin: RunOrigin::default(), index: 0, world: World::Packets };
    match run(&scenario, registry, about, &Unwatched) {
        Ok(finished) => {
            let (version, scenario_sha256) = (String::new(), String::new());
            let summary = Summary { version, scenario_sha256, ..finished.run.summary };
            Ok(serde_json::to_string(&summary).unwrap_or_default())
        }
        Err(Error::Scenario(faults)) => Ok(messages(&faults)),
        Err(fault) => Err(fault),
    }
}

fn probe(kind: SubjectKind) -> Result<Scenario, Faults> {
    let text = match kind {
        SubjectKind::Protocol => PROTOCOL_PROBE,
        SubjectKind::Queue => QUEUE_PROBE,
    };
    Scenario::parse(text, "fingerprint", Path::new("."), &[], &Disk)
}
