//! How the signals of the links on a path become one value.

use millpond_law::fluid::{Number, PathAggregation, greatest, least};

/// What an aggregate of no hop is.
pub(crate) fn neutral(aggregate: PathAggregation) -> f64 {
    match aggregate {
        PathAggregation::Sum => 0.0,
        PathAggregation::Min => f64::INFINITY,
        PathAggregation::Max => f64::NEG_INFINITY,
        PathAggregation::Marked => 1.0,
    }
}

/// One more hop; of marks it is the unmarked share that is carried along.
pub(crate) fn join<T: Number>(aggregate: PathAggregation, sum: T, signal: T) -> T {
    match aggregate {
        PathAggregation::Sum => sum + signal,
        PathAggregation::Min => least(sum, signal),
        PathAggregation::Max => greatest(sum, signal),
        PathAggregation::Marked => sum * (-signal + 1.0),
    }
}

/// A sum has no hop that counts alone.
pub(crate) fn selects_hop(over_path: PathAggregation) -> bool {
    matches!(over_path, PathAggregation::Min | PathAggregation::Max)
}
