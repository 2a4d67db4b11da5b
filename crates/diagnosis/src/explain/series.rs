//! The series of a run in an interval.

use super::error::ExplainError;
use super::interval::StationaryInterval;
use millpond_results::{EntityKind, Run};
use millpond_stats::mean;

/// The series of a run in an interval.
pub(super) struct IntervalSeries<'r> {
    run: &'r Run,
    stationary: &'r StationaryInterval,
    /// Time between samples, in seconds.
    pub(super) interval: f64,
}

impl<'r> IntervalSeries<'r> {
    pub(super) fn new(run: &'r Run, stationary: &'r StationaryInterval, interval: f64) -> Self {
        Self { run, stationary, interval }
    }

    /// The duration of the interval, in seconds.
    pub(super) fn duration(&self) -> f64 {
        self.stationary.duration()
    }

    /// The number of samples of a series without gaps.
    pub(super) fn count(&self) -> usize {
        self.run.series.iter().map(|series| self.indices(series).count()).max().unwrap_or(0)
    }

    /// Indices of the samples in the interval.
    fn indices<'s>(&self, series: &'s millpond_results::Series) -> impl Iterator<Item = usize> + use<'s> {
        let slack = 1e-6 * self.interval;
        let (from, to) = (self.stationary.start + self.interval - slack, self.stationary.end + slack);
        let inside = move |time: f64| (from..=to).contains(&time);
        series.times.iter().enumerate().filter(move |(_, time)| inside(**time)).map(|(index, _)| index)
    }

    /// The values of a quantity of an entity; none if it was not recorded.
    pub(super) fn find(&self, kind: EntityKind, entity: &str, quantity: &str) -> Option<Vec<f64>> {
        let is_wanted =
            |s: &&millpond_results::Series| s.kind == kind && s.entity == entity && s.quantity == quantity;
        let series = self.run.series.iter().find(is_wanted)?;
        Some(self.indices(series).map(|index| series.values[index]).collect())
    }

    /// Its mean; none if it was not recorded.
    pub(super) fn mean(&self, kind: EntityKind, entity: &str, quantity: &str) -> Option<f64> {
        self.find(kind, entity, quantity).filter(|values| !values.is_empty()).map(|values| mean(&values))
    }

    /// The values of a quantity without gaps.
    ///
    /// # Errors
    /// The series is missing or has gaps.
    pub(super) fn complete(
        &self,
        kind: EntityKind,
        entity: &str,
        quantity: &str,
    ) -> Result<Vec<f64>, ExplainError> {
        let values = self.find(kind, entity, quantity).unwrap_or_default();
        if values.is_empty() || values.len() < self.count() {
            let series = format!("{quantity} of {entity}");
            return Err(ExplainError::Missing { series, found: values.len(), needed: self.count() });
        }
        Ok(values)
    }
}
