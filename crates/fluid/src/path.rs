//! How the signals of the links on a path become one value.

use millpond_law::fluid::{Aggregate, Number, greatest, least};

/// What an aggregate of no hop is.
pub(crate) fn neutral(aggregate: Aggregate) -> f64 {
    match aggregate {
        Aggregate::Sum => 0.0,
        Aggregate::Min => f64::INFINITY,
        Aggregate::Max => f64::NEG_INFINITY,
        Aggregate::Marked => 1.0,
    }
}

/// One more hop; of marks it is the unmarked share that is carried along.
pub(crate) fn join<T: Number>(aggregate: Aggregate, sum: T, signal: T) -> T {
    match aggregate {
        Aggregate::Sum => sum + signal,
        Aggregate::Min => least(sum, signal),
        Aggregate::Max => greatest(sum, signal),
        Aggregate::Marked => sum * (-signal + 1.0),
    }
}

/// A sum has no hop that counts alone.
pub(crate) fn chooses(over_path: Aggregate) -> bool {
    matches!(over_path, Aggregate::Min | Aggregate::Max)
}
