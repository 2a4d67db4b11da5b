//! Gain, phase and delay margins, from the eigenloci.

use super::function::{Characteristic, spectral_radius};
use super::loci::{Locus, eigenvalues, loci, matched};
use super::{System, Unknown};
use nalgebra::Complex;
use std::f64::consts::PI;

/// How much the loop tolerates before it oscillates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Margins {
    /// The gains of all loops may be multiplied by this together. None: by anything.
    pub gain: Option<Crossing>,
    /// All loops may lag by this angle more, in radians.
    pub phase: Option<Crossing>,
    /// All loops may be this much longer, in seconds: the same time added to each.
    pub delay: Option<Crossing>,
}

/// A margin, and the frequency at which it is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The margin.
    pub margin: f64,
    /// Angular frequency of the oscillation there, in rad/s.
    pub frequency: f64,
}

/// The margins of a stable system, in the sense of its return ratio L: det(I + g e^(-i phi) e^(-i w theta) L(i w)) = 0.
///
/// # Errors
/// [`Unknown::NoLoop`] where there is nothing to be unstable.
pub fn margins(system: &System) -> Result<Margins, Unknown> {
    let function = Characteristic::new(system);
    if function.size() == 0 {
        return Err(Unknown::NoLoop);
    }
    let (low, high) = band(&function);
    let mut margins = Margins::default();
    for locus in loci(&function, low, high) {
        consider(&function, &locus, &mut margins);
    }
    Ok(margins)
}

/// From where the loops are far above one to where they have fallen below a hundredth.
pub(super) fn band(function: &Characteristic<'_>) -> (f64, f64) {
    const SILENT: f64 = 0.01;
    const DOUBLINGS: usize = 40;
    let slow = function.system().longest_delay().max(1.0 / function.fastest_pole().max(1e-12)).min(1e6);
    let middle = 1.0 / slow;
    let size = |frequency: f64| {
        let ratio = function.return_ratio(Complex::new(0.0, frequency));
        ratio.map_or(f64::INFINITY, |ratio| spectral_radius(&ratio.map(|entry| entry.norm())))
    };
    let mut high = middle;
    for _ in 0..DOUBLINGS {
        if size(high) < SILENT && size(1.7 * high) < SILENT {
            break;
        }
        high *= 2.0;
    }
    (middle.min(high) * 1e-4, high)
}

/// Looks for the places where a locus crosses the unit circle and the negative real axis.
fn consider(function: &Characteristic<'_>, locus: &Locus, margins: &mut Margins) {
    for pair in locus.points.windows(2) {
        let [(from, a), (to, b)] = [pair[0], pair[1]];
        if (a.norm() - 1.0) * (b.norm() - 1.0) <= 0.0 && a.norm() != b.norm() {
            let (frequency, value) = refine(function, (from, a), (to, b), |value| value.norm() - 1.0);
            let lag = (value.arg() + PI).rem_euclid(2.0 * PI);
            keep_least(&mut margins.phase, Crossing { margin: lag.min(2.0 * PI - lag), frequency });
            keep_least(&mut margins.delay, Crossing { margin: lag / frequency, frequency });
        }
        if a.im * b.im < 0.0 && a.re < 0.0 && b.re < 0.0 {
            let (frequency, value) = refine(function, (from, a), (to, b), |value| value.im);
            let factor = 1.0 / value.norm();
            if factor > 1.0 {
                keep_least(&mut margins.gain, Crossing { margin: factor, frequency });
            }
        }
    }
}

fn keep_least(least: &mut Option<Crossing>, new: Crossing) {
    if least.is_none_or(|known| new.margin < known.margin) {
        *least = Some(new);
    }
}

/// Bisects for a sign change along one eigenvalue.
pub(super) fn refine(
    function: &Characteristic<'_>,
    (mut from, mut a): (f64, Complex<f64>),
    (mut to, mut b): (f64, Complex<f64>),
    of: impl Fn(Complex<f64>) -> f64,
) -> (f64, Complex<f64>) {
    const HALVINGS: usize = 60;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(from, to);
        let Some(values) = eigenvalues(function, middle) else { break };
        let Some(&value) = matched(&[a + (b - a) / 2.0], values).first() else { break };
        if of(a) * of(value) <= 0.0 { (to, b) = (middle, value) } else { (from, a) = (middle, value) }
    }
    (to, b)
}
