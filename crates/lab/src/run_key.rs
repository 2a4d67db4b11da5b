//! What identifies the scenario of a run in its summary.

use millpond_results::TraceKey;
use millpond_scenario::Scenario;

/// The keys of the summary.
pub(crate) struct RunKey {
    pub(crate) scenario_sha256: String,
    pub(crate) traces: Vec<TraceKey>,
}

impl RunKey {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let key = scenario.key();
        let trace = |trace: millpond_scenario::TraceKey| TraceKey { name: trace.name, sha256: trace.sha256 };
        Self { scenario_sha256: key.sha256, traces: key.traces.into_iter().map(trace).collect() }
    }
}
