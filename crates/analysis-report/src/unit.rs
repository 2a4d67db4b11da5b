//! In which unit a quantity is drawn.

use millpond_report::rate_unit::RateUnit;
use millpond_theory::transients::Observable;

/// A unit with the factor from the quantity's own unit.
pub(crate) struct AxisUnit {
    /// Empty for a pure number.
    pub(crate) name: String,
    pub(crate) factor: f64,
}

impl AxisUnit {
    /// A readable unit for rates up to `peak`; else the unit in which the quantity is printed.
    pub(crate) fn new(observable: &Observable, peak: f64) -> Self {
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
