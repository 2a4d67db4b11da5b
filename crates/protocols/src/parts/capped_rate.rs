//! Differential equation of a router's rate that is at most the capacity C, or a multiple of it, also after a change of C.

use millpond_law::fluid::Number;

/// The rate exceeds C if it is above it by this share: at rest it is C up to rounding, and must count as below.
const ABOVE: f64 = 1e-9;

/// Switching functions: where [`derivative`] changes its form, and where [`after_change`] applies.
pub(crate) const GUARDS: [&str; 2] = ["rate less C", "rate less C, after a change of C"];

/// The values of [`GUARDS`], in bit/s.
pub(crate) fn guards<T: Number>(rate: T, capacity: f64) -> [T; 2] {
    [rate - capacity, rate - capacity * (1.0 + ABOVE)]
}

/// The derivative of the rate; `moves`: without the bound.
pub(crate) fn derivative<T: Number>(rate: T, capacity: f64, moves: T) -> T {
    if rate >= capacity && moves > 0.0 { T::zero() } else { moves }
}

/// The rate when the second of [`GUARDS`] becomes positive.
pub(crate) fn after_change(rate: f64, capacity: f64) -> f64 {
    rate.min(capacity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_at_rest_becomes_the_capacity_when_that_falls() {
        let c = 10e6;
        // At rest, with the rounding of a step.
        let rate = c * (1.0 + f64::EPSILON);
        assert!(
            guards(rate, c)[1] < 0.0 && derivative(rate, c, 1.0) == 0.0 && derivative(rate, c, -1.0) == -1.0
        );
        assert!(guards(rate, 0.6 * c)[1] > 0.0);
        assert_eq!(after_change(rate, 0.6 * c), 0.6 * c);
        assert!(guards(0.6 * c, 0.6 * c)[1] < 0.0);
    }
}
