//! What a run of a sweep gives: one line of `runs.jsonl`.

use crate::metric::UTILIZATION;
use crate::settings::SweepSettings;
use crate::shared::{Shared, SharedValues};
use crate::values::Values;
use millpond_results::{Comparison, ComparisonRow, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line of `runs.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRecord {
    /// The key of the run: SHA-256 of the scenario, its traces, settings, world, protocol, seed and version.
    pub run: String,
    /// The varied keys with their values.
    pub settings: Shared<SweepSettings>,
    /// The protocol of all flows that are not pinned; null: those of the scenario.
    pub protocol: Option<Shared<String>>,
    /// World of the run: `packets` or `fluid`.
    pub world: Shared<String>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Version of Millpond, with the commit that it was built from if that is known.
    pub version: Shared<String>,
    /// The hash of the resolved scenario without its seed: SHA-256 in hexadecimal digits; empty if it is invalid.
    pub scenario_sha256: Shared<String>,
    /// Why the run has no results; null if it has.
    pub error: Option<String>,
    /// The row of all flows, then one for each group; empty if the run has no results.
    pub rows: Vec<SweepRow>,
}

/// Results of all flows of a run, or of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRow {
    /// Name of the group; null for all flows.
    pub group: Option<Shared<String>>,
    /// Protocols of the flows, with commas between them.
    pub protocols: Shared<String>,
    /// Number of flows.
    pub flows: u64,
    /// Values by the names of their columns. A value that does not exist is absent.
    pub(crate) values: Values,
}

/// What the records of a dataset have in common, so that each value is held once.
#[derive(Debug, Default)]
pub(crate) struct CommonValues {
    settings: SharedValues<SweepSettings>,
    texts: SharedValues<String>,
}

impl CommonValues {
    /// Replaces what another record has as well.
    pub(crate) fn share(&mut self, record: &mut SweepRecord) {
        if let Some(settings) = record.settings.get_mut() {
            settings.share_keys(&mut self.texts);
        }
        self.settings.share(&mut record.settings);
        let own = [&mut record.world, &mut record.version, &mut record.scenario_sha256];
        let of_rows = record.rows.iter_mut().flat_map(|row| row.group.iter_mut().chain([&mut row.protocols]));
        for text in own.into_iter().chain(&mut record.protocol).chain(of_rows) {
            self.texts.share(text);
        }
        record.rows.shrink_to_fit();
    }
}

impl SweepRow {
    fn of(row: &ComparisonRow) -> Self {
        Self {
            group: row.group.clone().map(Shared::from),
            protocols: row.protocols.join(",").into(),
            flows: row.flows,
            values: Values::of(|metric| (metric.value)(row)),
        }
    }

    /// The value of each metric, in the order of [`Metric::ALL`].
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<f64>> {
        self.values.iter()
    }

    /// The rows of a run: of all flows, and of each group.
    pub(crate) fn of_run(run: Run) -> Vec<Self> {
        let only = match run.summary.groups.as_slice() {
            [only] => Some(Shared::from(only.name.clone())),
            _ => None,
        };
        let mut rows: Vec<Self> = Comparison::of(&[run]).rows.iter().map(Self::of).collect();
        // A comparison has no row for the only group: it would repeat that of all flows, but for the utilization.
        let values = |all: &Self| {
            Values::of(|metric| all.values.get(metric.name).filter(|_| metric.name != UTILIZATION))
        };
        let group = |(name, all): (Shared<String>, &Self)| Self {
            group: Some(name),
            values: values(all),
            ..all.clone()
        };
        let repeated = only.zip(rows.first()).map(group);
        rows.extend(repeated);
        rows
    }
}
