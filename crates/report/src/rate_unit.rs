//! The unit in which rates are shown.

/// A factor from bit/s to a unit, and the unit's name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateUnit {
    /// From bit/s to the unit.
    pub factor: f64,
    /// The name of the unit.
    pub label: &'static str,
}

impl RateUnit {
    /// The largest unit that is not greater than the peak rate in bit/s.
    pub fn for_peak(peak: f64) -> Self {
        let units = [(1e-9, "Gbit/s"), (1e-6, "Mbit/s"), (1e-3, "kbit/s")];
        let fitting = units.into_iter().find(|(factor, _)| peak * factor >= 1.0);
        let (factor, label) = fitting.unwrap_or((1.0, "bit/s"));
        Self { factor, label }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_shown_in_the_largest_unit_that_is_not_greater() {
        let labels = [330e6, 1.2e9, 56e3, 10.0, 0.0].map(|rate| RateUnit::for_peak(rate).label);
        assert_eq!(labels, ["Mbit/s", "Gbit/s", "kbit/s", "bit/s", "bit/s"]);
        assert_eq!(330e6 * RateUnit::for_peak(330e6).factor, 330.0);
    }
}
