//! In which unit a quantity is drawn.

use super::super::rate_unit::RateUnit;
use millpond_theory::transients::Observable;

/// A unit with the factor from the quantity's own unit.
pub(super) struct AxisUnit {
    /// Empty for a pure number.
    pub(super) name: String,
    pub(super) factor: f64,
}

impl AxisUnit {
    /// A readable unit for rates up to `peak`; else the unit in which the quantity is printed.
    pub(super) fn new(observable: &Observable, peak: f64) -> Self {
        match observable.unit {
            "bit/s" => {
                let unit = RateUnit::for_peak(peak);
                Self { name: unit.label.to_owned(), factor: unit.factor }
            }
            "1" => Self { name: String::new(), factor: observable.scale },
            unit => Self { name: unit.to_owned(), factor: observable.scale },
        }
    }
}
