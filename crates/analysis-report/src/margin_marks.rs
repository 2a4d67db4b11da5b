//! The margins as points of the loci, for the Nyquist and the Bode plot.

use millpond_fluid::stability::{Characteristic, Complex, Crossing, loci};
use millpond_theory::stability::Stability;
use millpond_units::format::number;
use std::f64::consts::PI;

/// A point of a locus that bounds a margin.
pub(crate) struct MarginMark {
    /// Angular frequency in rad/s.
    pub(crate) frequency: f64,
    /// The return ratio.
    pub(crate) value: Complex<f64>,
    /// The margin with its unit, such as `x2.1` or `35.7°`.
    pub(crate) label: String,
}

/// The marks of a network. An unstable one has the gain by which it becomes stable, and no phase margin.
pub(crate) struct MarginMarks {
    /// The locus crosses the negative real axis.
    pub(crate) gain: Option<MarginMark>,
    /// The locus crosses the unit circle.
    pub(crate) phase: Option<MarginMark>,
    /// The delay margin in seconds, at the frequency of its crossing.
    pub(crate) delay: Option<Crossing>,
}

impl MarginMarks {
    /// The margins of the linear network.
    pub(crate) fn of(stability: &Stability) -> Self {
        let function = Characteristic::new(&stability.linear.system);
        if stability.spectrum.rightmost_nonzero() >= 0.0 {
            return Self { gain: required_gain(&function, stability), phase: None, delay: None };
        }
        let margins = &stability.margins;
        let gain = margins.gain.map(|gain| MarginMark {
            frequency: gain.frequency,
            value: Complex::new(-gain.margin.recip(), 0.0),
            label: format!("x{}", number(gain.margin)),
        });
        let phase = margins.phase.and_then(|phase| {
            let distance = |value: &Complex<f64>| (value.norm() - 1.0).abs();
            let label = format!("{}°", number(phase.margin.to_degrees()));
            let value =
                values(&function, phase.frequency).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
            Some(MarginMark { frequency: phase.frequency, value, label })
        });
        Self { gain, phase, delay: margins.delay }
    }

    /// The name of the distance of the gain from one.
    pub(crate) fn gain_name(&self) -> &'static str {
        let is_above = self.gain.as_ref().is_some_and(|mark| mark.value.norm() > 1.0);
        if is_above { "gain above one" } else { "gain margin" }
    }

    /// The frequencies of all marks.
    pub(crate) fn frequencies(&self) -> impl Iterator<Item = f64> {
        let marks = self.gain.iter().chain(&self.phase).map(|mark| mark.frequency);
        marks.chain(self.delay.map(|delay| delay.frequency))
    }
}

/// The crossing of the negative real axis that a lower gain of all loops moves to -1.
fn required_gain(function: &Characteristic<'_>, stability: &Stability) -> Option<MarginMark> {
    let factor = stability.stabilizing_gain?;
    let value = Complex::new(-factor.recip(), 0.0);
    let root = stability.spectrum.first_nonzero()?.s.im;
    if root <= 0.0 {
        return None;
    }
    const DECADE: f64 = 10.0;
    let points = loci(function, root / DECADE, root * DECADE)
        .unwrap_or_default()
        .into_iter()
        .flat_map(|locus| locus.points);
    let nearest = points.min_by(|a, b| (a.1 - value).norm().total_cmp(&(b.1 - value).norm()))?;
    Some(MarginMark { frequency: nearest.0, value, label: format!("must fall to x{}", number(factor)) })
}

/// The eigenvalues of the return ratio at one angular frequency.
fn values(function: &Characteristic<'_>, frequency: f64) -> impl Iterator<Item = Complex<f64>> {
    loci(function, frequency, frequency)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|locus| Some(locus.points.first()?.1))
}

/// The angles of the arc from -1 to a point of the unit circle, in radians: at most half a turn.
pub(crate) fn arc_from_minus_one(value: Complex<f64>) -> (f64, f64) {
    let angle = value.arg();
    if angle <= 0.0 { (-PI, angle) } else { (PI, angle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arc_of_the_phase_margin_is_its_angle_on_the_side_of_the_locus() {
        for (angle, margin) in [(-2.5, PI - 2.5), (2.5, PI - 2.5), (-0.1, PI - 0.1)] {
            let (from, to) = arc_from_minus_one(Complex::from_polar(1.0, angle));
            assert!(((to - from).abs() - margin).abs() < 1e-12, "{angle}");
            assert!((to - angle).abs() < 1e-12);
        }
    }
}
