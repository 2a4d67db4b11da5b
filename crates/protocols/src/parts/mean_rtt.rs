//! The mean round-trip time that a router computes from its flows.

use millpond_law::fluid::{LinkInput, Number, greatest, least};
use millpond_units::Span;

/// The mean over packets. Flows carry their rate times their round-trip time as the first quantity. `initial` without
/// traffic.
pub(crate) fn mean_rtt<T: Number>(input: &LinkInput<'_, T>, initial: Span, low: Span, high: Span) -> T {
    match input.carried.first() {
        Some(&sum) if input.own_arriving > 0.0 && sum > 0.0 => {
            greatest(least(sum / input.own_arriving, T::from(high.secs())), T::from(low.secs()))
        }
        _ => T::from(initial.secs()),
    }
}
