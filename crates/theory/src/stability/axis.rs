//! One axis of a map: the values of a parameter.

use super::parameter::Knob;

/// One side of a map: values from low to high, in equal ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is varied.
    pub knob: Knob,
    /// Its values.
    pub values: Vec<f64>,
}

impl Axis {
    /// `rtt=10ms..2s`: so many values in equal ratios.
    #[must_use]
    pub fn new(knob: Knob, low: f64, high: f64, points: usize) -> Self {
        // At most some hundred points.
        #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
        let part = |point: usize| point as f64 / (points.max(2) - 1) as f64;
        let values = (0..points).map(|point| low * (high / low).powf(part(point))).collect();
        Self { knob, values }
    }
}
