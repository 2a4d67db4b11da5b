//! How a law reports its internal quantities.

use alloc::vec::Vec;

/// Records named quantities. It is called only every `measure.every`, so a law may compute them on demand.
pub trait Gauge {
    /// Records a value: `name` as in `"marking probability"`, `unit` as printed (`"bit/s"`, `"packets"`, `"1"`).
    fn quantity(&mut self, name: &'static str, unit: &'static str, value: f64);
}

impl Gauge for Vec<(&'static str, &'static str, f64)> {
    fn quantity(&mut self, name: &'static str, unit: &'static str, value: f64) {
        self.push((name, unit, value));
    }
}
