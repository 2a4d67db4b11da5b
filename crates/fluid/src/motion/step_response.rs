//! The step response: rise time, overshoot and settling time, and their prediction from the rightmost root alone.

use crate::stability::Root;
use std::f64::consts::PI;

/// The settling band, as a share of the step about the final value.
pub const BAND: f64 = 0.02;

/// The response of one quantity, beginning with its first value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepResponse {
    /// The final value differs from the initial value.
    Step {
        /// Rise time from 10 % to 90 % of the step, in seconds; none if 90 % is not reached.
        rise: Option<f64>,
        /// Overshoot, as a share of the step.
        overshoot: f64,
        /// Settling time to within 2 % of the step, in seconds; none if it does not settle.
        settling: Option<f64>,
    },
    /// The final value equals the initial value.
    Excursion {
        /// Largest deviation, with its sign.
        peak: f64,
        /// Time of the largest deviation, in seconds.
        at: f64,
        /// Settling time to within 2 % of the peak, in seconds; none if it does not settle.
        settling: Option<f64>,
    },
}

impl StepResponse {
    /// The response of `values` at `times` with the final value `to`. A step shorter than `least` counts as none.
    pub fn of(times: &[f64], values: &[f64], to: f64, least: f64) -> Self {
        let from = values.first().copied().unwrap_or(to);
        let way = to - from;
        if way.abs() < least {
            return Self::excursion(times, values, from);
        }
        let share: Vec<f64> = values.iter().map(|value| (value - from) / way).collect();
        let reaches = |level: f64| crossing(times, &share, level);
        let beyond = share.iter().copied().fold(0.0, f64::max);
        Self::Step {
            rise: reaches(0.1).zip(reaches(0.9)).map(|(begin, end)| end - begin),
            overshoot: (beyond - 1.0).max(0.0),
            settling: settles(times, &share, 1.0, BAND),
        }
    }

    fn excursion(times: &[f64], values: &[f64], rest: f64) -> Self {
        let away = |i: &usize| (values[*i] - rest).abs();
        let top = (0..values.len()).max_by(|a, b| away(a).total_cmp(&away(b)));
        let (peak, at) = top.map_or((0.0, 0.0), |i| (values[i] - rest, times[i]));
        Self::Excursion { peak, at, settling: settles(times, values, rest, BAND * peak.abs()) }
    }
}

/// The time at which values first reach a level from below.
fn crossing(times: &[f64], values: &[f64], level: f64) -> Option<f64> {
    let i = values.iter().position(|value| *value >= level)?;
    let Some(before) = i.checked_sub(1) else { return times.first().copied() };
    let part = (level - values[before]) / (values[i] - values[before]);
    Some(times[before] + part * (times[i] - times[before]))
}

/// The time from which values stay within a band; none if they leave it in the last tenth of the time.
fn settles(times: &[f64], values: &[f64], rest: f64, band: f64) -> Option<f64> {
    let end = *times.last()?;
    let away = |i: &usize| (values[*i] - rest).abs() > band;
    match (0..values.len()).rev().find(away) {
        None => Some(0.0),
        Some(i) if times[i] >= 0.9 * end => None,
        Some(i) => {
            let (outside, inside) = ((values[i] - rest).abs(), (values[i + 1] - rest).abs());
            let part = if outside > inside { (outside - band) / (outside - inside) } else { 1.0 };
            Some(times[i] + part * (times[i + 1] - times[i]))
        }
    }
}

/// The step response of x'' + 2 z w x' + w^2 x = w^2 u, which has this pair of roots and no other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Damping ratio z; 1 for a real root.
    pub damping: f64,
    /// Period of the oscillation in seconds; none for a real root.
    pub period: Option<f64>,
    /// Overshoot exp(-pi z / sqrt(1 - z^2)), as a share of the step.
    pub overshoot: f64,
    /// Settling time -ln(2 %) / |Re s| in seconds, when the envelope falls below 2 %; none if it grows.
    pub settling: Option<f64>,
}

impl Predicted {
    /// The prediction for a rightmost root.
    pub fn of(root: &Root) -> Self {
        let damping = -root.s.re / root.s.norm();
        let oscillates = root.s.im > 0.0;
        Self {
            damping,
            period: oscillates.then(|| 2.0 * PI / root.s.im),
            overshoot: if oscillates { (PI * root.s.re / root.s.im).exp() } else { 0.0 },
            settling: time_to(root, BAND),
        }
    }
}

/// The time -ln(share) / |Re s| after which this share of a disturbance remains, in seconds; none if it does not decay.
pub fn time_to(root: &Root, share: f64) -> Option<f64> {
    (root.s.re < 0.0).then(|| share.ln() / root.s.re)
}
