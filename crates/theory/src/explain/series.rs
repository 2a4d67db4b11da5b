//! The series of a run over a stretch.

use super::Inexplicable;
use super::interval::Stretch;
use millpond_results::{Kind, Run};
use millpond_stats::mean;

/// A run's series between two times.
pub(super) struct Sampled<'r> {
    run: &'r Run,
    stretch: &'r Stretch,
    /// Seconds from sample to sample.
    pub(super) interval: f64,
}

impl<'r> Sampled<'r> {
    pub(super) fn new(run: &'r Run, stretch: &'r Stretch, interval: f64) -> Self {
        Self { run, stretch, interval }
    }

    /// How many samples a series without gaps has.
    pub(super) fn count(&self) -> usize {
        self.run.series.iter().map(|series| self.places(series).count()).max().unwrap_or(0)
    }

    fn places<'s>(&self, series: &'s millpond_results::Series) -> impl Iterator<Item = usize> + use<'s> {
        let slack = 1e-6 * self.interval;
        let (from, to) = (self.stretch.from + self.interval - slack, self.stretch.to + slack);
        let inside = move |time: f64| (from..=to).contains(&time);
        series.times.iter().enumerate().filter(move |(_, time)| inside(**time)).map(|(place, _)| place)
    }

    /// A quantity of an entity, if it was recorded.
    pub(super) fn find(&self, kind: Kind, entity: &str, quantity: &str) -> Option<Vec<f64>> {
        let is_it =
            |s: &&millpond_results::Series| s.kind == kind && s.entity == entity && s.quantity == quantity;
        let series = self.run.series.iter().find(is_it)?;
        Some(self.places(series).map(|place| series.values[place]).collect())
    }

    /// Its mean, if it was recorded.
    pub(super) fn mean(&self, kind: Kind, entity: &str, quantity: &str) -> Option<f64> {
        self.find(kind, entity, quantity).filter(|values| !values.is_empty()).map(|values| mean(&values))
    }

    /// The same without gaps.
    pub(super) fn whole(&self, kind: Kind, entity: &str, quantity: &str) -> Result<Vec<f64>, Inexplicable> {
        let values = self.find(kind, entity, quantity).unwrap_or_default();
        if values.is_empty() || values.len() < self.count() {
            let series = format!("{quantity} of {entity}");
            return Err(Inexplicable::Missing { series, found: values.len(), needed: self.count() });
        }
        Ok(values)
    }
}
