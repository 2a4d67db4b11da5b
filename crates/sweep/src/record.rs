//! What a run of a sweep gives: one line of `runs.jsonl`.

use millpond_results::{Comparison, ComparisonRow, DelayEstimates, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of `runs.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRecord {
    /// The key of the run: SHA-256 of the scenario, its traces, settings, world, protocol, seed and version.
    pub run: String,
    /// The varied keys with their values.
    pub settings: BTreeMap<String, String>,
    /// The protocol of all flows that are not pinned; null: those of the scenario.
    pub protocol: Option<String>,
    /// World of the run: `packets` or `fluid`.
    pub world: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Version of Millpond, with the commit that it was built from if that is known.
    pub version: String,
    /// The hash of the resolved scenario without its seed: SHA-256 in hexadecimal digits; empty if it is invalid.
    pub scenario_sha256: String,
    /// Why the run has no results; null if it has.
    pub error: Option<String>,
    /// The row of all flows, then one for each group; empty if the run has no results.
    pub rows: Vec<SweepRow>,
}

/// Results of all flows of a run, or of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRow {
    /// Name of the group; null for all flows.
    pub group: Option<String>,
    /// Protocols of the flows, with commas between them.
    pub protocols: String,
    /// Number of flows.
    pub flows: u64,
    /// Values by the names of their columns. A value that does not exist is absent.
    pub(crate) values: Values,
}

/// The values of all metrics, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "BTreeMap<String, f64>", from = "BTreeMap<String, f64>")]
pub(crate) struct Values([Option<f64>; Metric::ALL.len()]);

impl From<Values> for BTreeMap<String, f64> {
    fn from(values: Values) -> Self {
        let named = Metric::ALL.iter().zip(values.0);
        named.filter_map(|(metric, value)| Some((metric.name.to_owned(), value?))).collect()
    }
}

impl From<BTreeMap<String, f64>> for Values {
    fn from(named: BTreeMap<String, f64>) -> Self {
        Self(Metric::ALL.map(|metric| named.get(metric.name).copied()))
    }
}

/// A number that each row has.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its column.
    pub name: &'static str,
    value: fn(&ComparisonRow) -> Option<f64>,
}

/// The 95th percentile and others of the end-to-end queueing delay, or of completion times.
macro_rules! delay {
    ($times:ident, $statistic:ident) => {
        |row| row.$times.map(|times: DelayEstimates| times.$statistic.mean)
    };
}

impl Metric {
    /// All metrics, in the order of their columns.
    pub const ALL: [Self; 17] = [
        Self::new("starving", |row| Some(row.starving.mean)),
        Self::new("utilization", |row| row.utilization.map(|share| share.mean)),
        Self::new("total_goodput_bps", |row| Some(row.total_goodput_bps.mean)),
        Self::new("flow_goodput_bps", |row| Some(row.flow_goodput_bps.mean)),
        Self::new("least_goodput_bps", |row| Some(row.least_goodput_bps.mean)),
        Self::new("jain", |row| Some(row.jain.mean)),
        Self::new("loss", |row| Some(row.loss.mean)),
        Self::new("queueing_mean_ms", delay!(queueing_ms, mean)),
        Self::new("queueing_p50_ms", delay!(queueing_ms, p50)),
        Self::new("queueing_p95_ms", delay!(queueing_ms, p95)),
        Self::new("queueing_p99_ms", delay!(queueing_ms, p99)),
        Self::new("queueing_p999_ms", delay!(queueing_ms, p999)),
        Self::new("completion_mean_ms", delay!(completion_ms, mean)),
        Self::new("completion_p50_ms", delay!(completion_ms, p50)),
        Self::new("completion_p95_ms", delay!(completion_ms, p95)),
        Self::new("completion_p99_ms", delay!(completion_ms, p99)),
        Self::new("completion_p999_ms", delay!(completion_ms, p999)),
    ];

    const fn new(name: &'static str, value: fn(&ComparisonRow) -> Option<f64>) -> Self {
        Self { name, value }
    }
}

impl SweepRow {
    fn of(row: &ComparisonRow) -> Self {
        Self {
            group: row.group.clone(),
            protocols: row.protocols.join(","),
            flows: row.flows,
            values: Values(Metric::ALL.map(|metric| (metric.value)(row).filter(|value| value.is_finite()))),
        }
    }

    /// The value of each metric, in the order of [`Metric::ALL`].
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<f64>> {
        self.values.0.into_iter()
    }

    /// The rows of a run: of all flows, and of each group.
    pub(crate) fn of_run(run: Run) -> Vec<Self> {
        let only = match run.summary.groups.as_slice() {
            [only] => Some(only.name.clone()),
            _ => None,
        };
        let mut rows: Vec<Self> = Comparison::of(&[run]).rows.iter().map(Self::of).collect();
        // A comparison has no row for the only group: it would repeat that of all flows.
        let repeated = only.zip(rows.first()).map(|(name, all)| Self { group: Some(name), ..all.clone() });
        rows.extend(repeated);
        rows
    }
}
