//! What a run of a sweep gives: one line of `runs.jsonl`.

use crate::shared::{Pool, Shared};
use millpond_results::{Comparison, ComparisonRow, DelayEstimates, Run};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A line of `runs.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRecord {
    /// The key of the run: SHA-256 of the scenario, its traces, settings, world, protocol, seed and version.
    pub run: String,
    /// The varied keys with their values.
    pub settings: Shared<BTreeMap<String, String>>,
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

/// The values of all metrics, in their order; not a number where there is none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(into = "BTreeMap<String, f64>", from = "BTreeMap<String, f64>")]
pub(crate) struct Values([f64; Metric::ALL.len()]);

impl Values {
    pub(crate) const NONE: Self = Self([f64::NAN; Metric::ALL.len()]);

    /// The values of these metrics. Values that are not finite are left out.
    pub(crate) fn of(value: impl Fn(&Metric) -> Option<f64>) -> Self {
        Self(Metric::ALL.map(|metric| value(&metric).filter(|value| value.is_finite()).unwrap_or(f64::NAN)))
    }

    /// The value of each metric, in the order of [`Metric::ALL`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<f64>> {
        self.0.into_iter().map(|value| Some(value).filter(|value| !value.is_nan()))
    }

    /// The value of the metric with this name.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.iter().nth(Metric::ALL.iter().position(|metric| metric.name == name)?)?
    }
}

impl Default for Values {
    fn default() -> Self {
        Self::NONE
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl JsonSchema for Values {
    fn schema_name() -> Cow<'static, str> {
        "Values".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let property = |metric: &Metric| {
            (metric.name.to_owned(), json!({ "type": "number", "description": metric.meaning }))
        };
        let properties: serde_json::Map<_, _> = Metric::ALL.iter().map(property).collect();
        json_schema!({ "type": "object", "properties": properties })
    }
}

impl From<Values> for BTreeMap<String, f64> {
    fn from(values: Values) -> Self {
        let named = Metric::ALL.iter().zip(values.iter());
        named.filter_map(|(metric, value)| Some((metric.name.to_owned(), value?))).collect()
    }
}

impl From<BTreeMap<String, f64>> for Values {
    fn from(named: BTreeMap<String, f64>) -> Self {
        Self::of(|metric| named.get(metric.name).copied())
    }
}

/// What the records of a dataset have in common, so that each value is held once.
#[derive(Debug, Default)]
pub(crate) struct Common {
    settings: Pool<BTreeMap<String, String>>,
    texts: Pool<String>,
}

impl Common {
    /// Replaces what another record has as well.
    pub(crate) fn share(&mut self, record: &mut SweepRecord) {
        self.settings.share(&mut record.settings);
        let own = [&mut record.world, &mut record.version, &mut record.scenario_sha256];
        let of_rows = record.rows.iter_mut().flat_map(|row| row.group.iter_mut().chain([&mut row.protocols]));
        for text in own.into_iter().chain(&mut record.protocol).chain(of_rows) {
            self.texts.share(text);
        }
        record.rows.shrink_to_fit();
    }
}

/// A number that each row has.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its column.
    pub name: &'static str,
    /// What it is, with its unit.
    pub meaning: &'static str,
    value: fn(&ComparisonRow) -> Option<f64>,
}

/// The only metric of a link.
const UTILIZATION: &str = "utilization";

/// A statistic of times, if there are any.
macro_rules! times {
    ($times:ident, $statistic:ident) => {
        |row| row.$times.map(|times: DelayEstimates| times.$statistic.mean)
    };
}

impl Metric {
    /// All metrics, in the order of their columns.
    #[rustfmt::skip]
    pub const ALL: [Self; 17] = [
        Self::new("starving", "Number of flows whose goodput is below a tenth of their fair share.", |row| Some(row.starving.mean)),
        Self::new(UTILIZATION, "Utilization of the bottleneck, from 0 to 1; absent for a group.", |row| row.utilization.map(|share| share.mean)),
        Self::new("total_goodput_bps", "Sum of the goodputs of the flows, averaged over the measured time, in bit/s.", |row| Some(row.total_goodput_bps.mean)),
        Self::new("flow_goodput_bps", "Mean of the goodputs of the flows, each over the time in which it ran, in bit/s.", |row| Some(row.flow_goodput_bps.mean)),
        Self::new("least_goodput_bps", "Least of these goodputs, in bit/s.", |row| Some(row.least_goodput_bps.mean)),
        Self::new("jain", "Jain's fairness index of the goodputs, from 1/n to 1.", |row| Some(row.jain.mean)),
        Self::new("loss", "Packets declared lost divided by packets sent, from 0 to 1.", |row| Some(row.loss.mean)),
        Self::new("queueing_mean_ms", "Mean of the end-to-end queueing delay, relays included, in milliseconds.", times!(queueing_ms, mean)),
        Self::new("queueing_p50_ms", "Its median, in milliseconds.", times!(queueing_ms, p50)),
        Self::new("queueing_p95_ms", "Its 95th percentile, in milliseconds.", times!(queueing_ms, p95)),
        Self::new("queueing_p99_ms", "Its 99th percentile, in milliseconds.", times!(queueing_ms, p99)),
        Self::new("queueing_p999_ms", "Its 99.9th percentile, in milliseconds.", times!(queueing_ms, p999)),
        Self::new("completion_mean_ms", "Mean of the completion times of transfers, in milliseconds.", times!(completion_ms, mean)),
        Self::new("completion_p50_ms", "Their median, in milliseconds.", times!(completion_ms, p50)),
        Self::new("completion_p95_ms", "Their 95th percentile, in milliseconds.", times!(completion_ms, p95)),
        Self::new("completion_p99_ms", "Their 99th percentile, in milliseconds.", times!(completion_ms, p99)),
        Self::new("completion_p999_ms", "Their 99.9th percentile, in milliseconds.", times!(completion_ms, p999)),
    ];

    const fn new(
        name: &'static str,
        meaning: &'static str,
        value: fn(&ComparisonRow) -> Option<f64>,
    ) -> Self {
        Self { name, meaning, value }
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
