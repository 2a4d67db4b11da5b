//! How the signals of the links on a path become one value.

use millpond_law::fluid::{Number, PathAggregation, greatest, least};

/// The aggregate of an empty path: the neutral element of [`join`].
pub(crate) fn neutral(aggregate: PathAggregation) -> f64 {
    match aggregate {
        PathAggregation::Sum => 0.0,
        PathAggregation::Min => f64::INFINITY,
        PathAggregation::Max => f64::NEG_INFINITY,
        PathAggregation::Marked => 1.0,
    }
}

/// Adds the signal of one more hop to an aggregate. For marks, the aggregate is the unmarked share.
pub(crate) fn join<T: Number>(aggregate: PathAggregation, sum: T, signal: T) -> T {
    match aggregate {
        PathAggregation::Sum => sum + signal,
        PathAggregation::Min => least(sum, signal),
        PathAggregation::Max => greatest(sum, signal),
        PathAggregation::Marked => sum * (-signal + 1.0),
    }
}

/// Whether the aggregate equals the signal of one hop (minimum and maximum).
pub(crate) fn selects_hop(over_path: PathAggregation) -> bool {
    matches!(over_path, PathAggregation::Min | PathAggregation::Max)
}
