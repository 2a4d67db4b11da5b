//! Means over the seeds of each combination of settings and protocol.

use crate::metric::Metric;
use crate::record::SweepRecord;
use crate::settings::SweepSettings;
use crate::shared::Shared;
use crate::values::Values;
use millpond_stats::confidence_interval;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// All seeds of a combination of settings and protocol.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MeanRow {
    /// The varied keys with their values.
    pub settings: Shared<SweepSettings>,
    /// The protocol of all flows that are not pinned; null: those of the scenario.
    pub protocol: Option<Shared<String>>,
    /// Number of runs, one for each seed.
    pub runs: u64,
    /// Number of runs without results.
    pub failed: u64,
    /// The message of the first of them; null if there is none.
    pub error: Option<String>,
    /// For each column of `runs.parquet` with a metric of all flows its mean over the seeds; absent if no run has it.
    #[schemars(with = "BTreeMap<String, Mean>")]
    pub means: Means,
}

/// A mean over seeds with half the width of its 95 % confidence interval (Student's t).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mean {
    /// Mean, in the unit of the column.
    pub mean: f64,
    /// Half the width of the confidence interval; null for a single seed.
    pub half_width: Option<f64>,
}

/// The means of all metrics that have one, by the names of their columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Means {
    means: Values,
    half_widths: Values,
}

impl Means {
    /// The mean of a metric.
    #[must_use]
    pub fn get(&self, metric: &str) -> Option<Mean> {
        Some(Mean { mean: self.means.get(metric)?, half_width: self.half_widths.get(metric) })
    }

    /// Whether a metric has a mean.
    #[must_use]
    pub fn contains_key(&self, metric: &str) -> bool {
        self.get(metric).is_some()
    }
}

impl<'a> FromIterator<(&'a str, Mean)> for Means {
    fn from_iter<I: IntoIterator<Item = (&'a str, Mean)>>(means: I) -> Self {
        let means: BTreeMap<&str, Mean> = means.into_iter().collect();
        Self {
            means: Values::of(|metric| means.get(metric.name).map(|mean| mean.mean)),
            half_widths: Values::of(|metric| means.get(metric.name)?.half_width),
        }
    }
}

impl Serialize for Means {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = |metric: &'static Metric| Some((metric.name, self.get(metric.name)?));
        Metric::ALL.iter().filter_map(named).collect::<BTreeMap<_, _>>().serialize(serializer)
    }
}

/// The means of sorted records.
#[must_use]
pub fn means(records: &[SweepRecord]) -> Vec<MeanRow> {
    combinations(records).filter_map(row).collect()
}

/// The number of combinations of sorted records of which all of several seeds gave the same results: no random stream influences
/// them, so that the width of their confidence intervals is no estimate of an uncertainty.
#[must_use]
pub fn number_without_randomness(records: &[SweepRecord]) -> usize {
    let is_fixed = |seeds: &&[SweepRecord]| {
        let have_results = seeds.iter().all(|record| record.error.is_none());
        seeds.len() > 1 && have_results && seeds.windows(2).all(|pair| pair[0].rows == pair[1].rows)
    };
    combinations(records).filter(is_fixed).count()
}

/// All seeds of each combination of settings and protocol, of sorted records.
fn combinations(records: &[SweepRecord]) -> impl Iterator<Item = &[SweepRecord]> {
    records.chunk_by(|one, other| one.protocol == other.protocol && one.settings == other.settings)
}

fn row(records: &[SweepRecord]) -> Option<MeanRow> {
    let first = records.first()?;
    let mean = |(index, metric): (usize, &Metric)| {
        let values = records.iter().filter_map(|record| record.rows.first()?.values().nth(index)?);
        let interval = confidence_interval(&values.collect::<Vec<_>>())?;
        Some((metric.name, Mean { mean: interval.mean, half_width: interval.half_width }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::SweepRow;

    /// A run whose flows have these goodputs in all and in its only group.
    fn record(protocol: &str, goodputs: [f64; 2]) -> SweepRecord {
        let row = |group: Option<&str>, goodput: f64| SweepRow {
            group: group.map(|name| Shared::from(name.to_owned())),
            values: Values::of(|metric| (metric.name == "total_goodput_bps").then_some(goodput)),
            ..SweepRow::default()
        };
        SweepRecord {
            protocol: Some(Shared::from(protocol.to_owned())),
            rows: vec![row(None, goodputs[0]), row(Some("a"), goodputs[1])],
            ..SweepRecord::default()
        }
    }

    /// 12 and 14: a standard error of 1, and t(1) = 12.706.
    #[test]
    fn a_mean_is_that_of_all_flows_over_the_seeds() {
        let means = means(&[record("x", [12.0, 5.0]), record("x", [14.0, 5.0])]);
        let mean = means[0].means.get("total_goodput_bps").unwrap();
        assert_eq!((means.len(), means[0].runs, mean.mean), (1, 2, 13.0));
        assert!((mean.half_width.unwrap() - 12.706).abs() < 1e-3);
    }

    #[test]
    fn a_single_seed_says_nothing_about_randomness() {
        let record = |protocol: &str| record(protocol, [12.0, 5.0]);
        assert_eq!(number_without_randomness(&[record("x"), record("y"), record("z")]), 0);
        assert_eq!(number_without_randomness(&[record("x"), record("x"), record("z")]), 1);
    }
}
