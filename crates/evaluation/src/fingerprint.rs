//! What the verdicts of a suite depend on, as far as it can be detected in seconds: its files, the names of its subjects, and
//! what each of them does in a short run.

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

/// The fingerprint of a suite as hexadecimal digits. It changes with the files of the suite, with the list of protocols or
/// queues, and with the summary of a run of ten seconds of any of them.
///
/// # Errors
/// A run that was stopped, or a fault of the scenario of these runs.
pub fn fingerprint(suite: &Suite, registry: &Registry) -> Result<String, Error> {
    let mut digest = Sha256::new();
    for (path, text) in &suite.files {
        digest.update(path);
        digest.update(text);
    }
    let kind = suite.description.evaluates;
    for subject in kind.all(registry) {
        digest.update(&subject.name);
        digest.update(conduct(&subject, registry)?);
    }
    Ok(digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
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
