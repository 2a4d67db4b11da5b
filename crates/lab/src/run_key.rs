//! What identifies the scenario of a run in its summary.

use millpond_results::{Summary, TraceKey};
use millpond_scenario::Scenario;

/// Whether a summary is that of this scenario with its seed: equal keys, traces included.
pub fn is_run_of(summary: &Summary, scenario: &Scenario) -> bool {
    let RunKey { scenario_sha256, traces } = RunKey::of(scenario);
    (summary.seed, &summary.scenario_sha256, &summary.traces) == (scenario.seed, &scenario_sha256, &traces)
}

/// The keys of the summary.
pub(crate) struct RunKey {
    pub(crate) scenario_sha256: String,
    pub(crate) traces: Vec<TraceKey>,
}

impl RunKey {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let key = scenario.key();
        let trace = |trace: millpond_scenario::TraceHash| TraceKey { name: trace.name, sha256: trace.sha256 };
        Self { scenario_sha256: key.sha256, traces: key.traces.into_iter().map(trace).collect() }
    }
}
