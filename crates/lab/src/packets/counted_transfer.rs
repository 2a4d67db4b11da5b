//! The transfers that count in the results of a run, and their statistics.

use crate::distributions::milliseconds_of_list;
use millpond_results::{Milliseconds, Slowdown};
use millpond_stats::{mean, quantile_of_sorted};
use millpond_units::Span;

/// A transfer that counts in the results of its group.
pub(super) struct CountedTransfer {
    /// Its completion time, if it is complete.
    pub(super) took: Option<Span>,
    /// The shortest one, if that is known.
    pub(super) shortest: Option<Span>,
}

impl From<millpond_sim::Transfer> for CountedTransfer {
    fn from(one: millpond_sim::Transfer) -> Self {
        Self { took: one.completed.map(|end| end.since(one.arrived)), shortest: None }
    }
}

/// The completion times of those of them that are complete; none if no transfer is.
pub(super) fn completion(transfers: &[CountedTransfer]) -> Option<Milliseconds> {
    milliseconds_of_list(transfers.iter().filter_map(|one| one.took).map(Span::millis).collect())
}

/// The slowdown of those of them that are complete, and whose shortest completion time is known; none without any.
pub(super) fn slowdown<'a>(transfers: impl IntoIterator<Item = &'a CountedTransfer>) -> Option<Slowdown> {
    let ratio = |one: &CountedTransfer| Some(one.took?.secs() / one.shortest?.secs());
    let mut ratios: Vec<f64> = transfers.into_iter().filter_map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |level| quantile_of_sorted(&ratios, level);
    Some(Slowdown { mean: mean(&ratios), p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)?, max: at(1.0)? })
}
