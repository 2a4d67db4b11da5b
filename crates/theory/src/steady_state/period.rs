//! The periods of limit cycles and sawteeth.

use millpond_units::format::duration;
use std::fmt;

/// The period of one class of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPeriod {
    /// Index of the loop in the plan.
    pub l: usize,
    /// Name of the flow or of its group.
    pub flow: String,
    /// Seconds from one reduction to the next, if all flows of the link are reduced at the same time.
    pub seconds: f64,
    /// The part of its window or rate that a reduction leaves.
    pub kept: f64,
}

/// The shortest and the longest period, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodRange {
    /// The shortest.
    pub low: f64,
    /// The longest.
    pub high: f64,
}

impl PeriodRange {
    /// The range of these periods; none if there are none.
    pub(crate) fn of(periods: &[FlowPeriod]) -> Option<Self> {
        let range =
            |low: f64, high: f64, period: &FlowPeriod| (low.min(period.seconds), high.max(period.seconds));
        let (low, high) =
            periods.iter().fold((f64::INFINITY, 0.0), |(low, high), period| range(low, high, period));
        (low <= high).then_some(Self { low, high })
    }
}

impl fmt::Display for PeriodRange {
    /// `1.89 s`, or `1.89 s to 3.2 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (duration(self.low), duration(self.high));
        if low == high { f.write_str(&low) } else { write!(f, "{low} to {high}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_no_period_is_none() {
        let of = |seconds| FlowPeriod { l: 0, flow: String::new(), seconds, kept: 0.5 };
        assert_eq!(PeriodRange::of(&[]), None);
        let both = PeriodRange::of(&[of(3.0), of(2.0)]);
        assert_eq!(both, Some(PeriodRange { low: 2.0, high: 3.0 }));
    }
}
