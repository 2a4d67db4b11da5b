//! The answer to a step: rise time, overshoot and settling time, and what the rightmost root alone would make of them.

use crate::stability::Root;
use std::f64::consts::PI;

/// Settled is what stays within this share of the step about the final value.
pub const BAND: f64 = 0.02;

/// A quantity's answer, which begins with the first of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepResponse {
    /// It goes from one value to another.
    Step {
        /// From 10 % to 90 % of the way, in seconds; none if it never gets there.
        rise: Option<f64>,
        /// How far it goes beyond, as a share of the way.
        overshoot: f64,
        /// Until it stays within 2 % of the way, in seconds; none if it does not.
        settling: Option<f64>,
    },
    /// It ends where it began.
    Excursion {
        /// How far it goes, with its sign.
        peak: f64,
        /// When, in seconds.
        at: f64,
        /// Until it stays within 2 % of the peak, in seconds; none if it does not.
        settling: Option<f64>,
    },
}

impl StepResponse {
    /// The answer of `values` over `times`, which should end at `to`. A way shorter than `least` is none.
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

/// When values first reach a level from below.
fn crossing(times: &[f64], values: &[f64], level: f64) -> Option<f64> {
    let i = values.iter().position(|value| *value >= level)?;
    let Some(before) = i.checked_sub(1) else { return times.first().copied() };
    let part = (level - values[before]) / (values[i] - values[before]);
    Some(times[before] + part * (times[i] - times[before]))
}

/// After how long values stay within a band; none if they have not before the last tenth of the time.
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

/// What a system would do that had this pair of roots and no other, x'' + 2 z w x' + w^2 x = w^2 u.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// z: 1 for a real root.
    pub damping: f64,
    /// Of the oscillation, in seconds; none for a real root.
    pub period: Option<f64>,
    /// exp(-pi z / sqrt(1 - z^2)), a share of the step.
    pub overshoot: f64,
    /// -ln(2 %) / |Re s|, in seconds: when the envelope of what is left falls below 2 %; none if it grows.
    pub settling: Option<f64>,
}

impl Predicted {
    /// From the rightmost root.
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

/// -ln(share) / |Re s|: how long until so much of a disturbance is left; none if it does not die out.
pub fn time_to(root: &Root, share: f64) -> Option<f64> {
    (root.s.re < 0.0).then(|| share.ln() / root.s.re)
}
