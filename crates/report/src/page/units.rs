//! Rates in the unit that keeps their numbers short.

/// What a rate in bit/s is multiplied by, and what the product is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateUnit {
    pub factor: f64,
    pub label: &'static str,
}

impl RateUnit {
    /// The largest unit of which the peak holds at least one.
    pub(super) fn for_peak(bits_per_second: f64) -> Self {
        let units = [(1e-9, "Gbit/s"), (1e-6, "Mbit/s"), (1e-3, "kbit/s")];
        let fitting = units.into_iter().find(|(factor, _)| bits_per_second * factor >= 1.0);
        let (factor, label) = fitting.unwrap_or((1.0, "bit/s"));
        Self { factor, label }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_shown_in_the_largest_unit_it_fills() {
        let labels = [330e6, 1.2e9, 56e3, 10.0, 0.0].map(|rate| RateUnit::for_peak(rate).label);
        assert_eq!(labels, ["Mbit/s", "Gbit/s", "kbit/s", "bit/s", "bit/s"]);
        assert_eq!(330e6 * RateUnit::for_peak(330e6).factor, 330.0);
    }
}
