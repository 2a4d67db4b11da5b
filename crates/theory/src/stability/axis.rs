//! The values of a varied parameter.

use super::parameter::VariedParameter;

/// Values of a varied parameter from low to high, in equal ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterAxis {
    /// The parameter.
    pub parameter: VariedParameter,
    /// Its values, in the unit of [`VariedParameter::current_value`].
    pub values: Vec<f64>,
}

impl ParameterAxis {
    /// `points` values from `low` to `high` in equal ratios.
    #[must_use]
    pub fn logarithmic(parameter: VariedParameter, low: f64, high: f64, points: usize) -> Self {
        // At most some hundred points.
        #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
        let part = |point: usize| point as f64 / (points.max(2) - 1) as f64;
        let values = (0..points).map(|point| low * (high / low).powf(part(point))).collect();
        Self { parameter, values }
    }
}
