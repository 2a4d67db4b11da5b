//! Means over the seeds of each combination of settings and protocol.

use crate::record::{Metric, SweepRecord};
use crate::table::compare_settings;
use millpond_stats::{ConfidenceInterval, confidence_interval};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// All seeds of a combination of settings and protocol.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MeanRow {
    /// The varied keys with their values.
    pub settings: BTreeMap<String, String>,
    /// The protocol of all flows that are not pinned; null: those of the scenario.
    pub protocol: Option<String>,
    /// Number of runs, one for each seed.
    pub runs: u64,
    /// Number of runs without results.
    pub failed: u64,
    /// The message of the first of them; null if there is none.
    pub error: Option<String>,
    /// For each column of `runs.parquet` with a metric of all flows its mean over the seeds; absent if no run has it.
    pub means: BTreeMap<String, Mean>,
}

/// A mean over seeds with half the width of its 95 % confidence interval (Student's t).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mean {
    /// Mean, in the unit of the column.
    pub mean: f64,
    /// Half the width of the confidence interval; null for a single seed.
    pub half_width: Option<f64>,
}

/// The means of sorted records.
#[must_use]
pub fn means(records: &[SweepRecord]) -> Vec<MeanRow> {
    let same = |one: &SweepRecord, other: &SweepRecord| {
        one.protocol == other.protocol && compare_settings(one, other) == Ordering::Equal
    };
    records.chunk_by(same).filter_map(row).collect()
}

fn row(records: &[SweepRecord]) -> Option<MeanRow> {
    let first = records.first()?;
    let mean = |(index, metric): (usize, &Metric)| {
        let values = records.iter().filter_map(|record| record.rows.first()?.values().nth(index)?);
        let ConfidenceInterval { mean, half_width } = confidence_interval(&values.collect::<Vec<_>>())?;
        Some((metric.name.to_owned(), Mean { mean, half_width }))
    };
    Some(MeanRow {
        settings: first.settings.clone(),
        protocol: first.protocol.clone(),
        runs: records.len() as u64,
        failed: records.iter().filter(|record| record.error.is_some()).count() as u64,
        error: records.iter().find_map(|record| record.error.clone()),
        means: Metric::ALL.iter().enumerate().filter_map(mean).collect(),
    })
}
