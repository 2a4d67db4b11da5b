//! The Nyquist plot of a network: its eigenloci, and where they cross the negative real axis and the unit circle.

use super::characteristic::Characteristic;
use super::loci::{Locus, loci, matched};
use super::matrix::spectral_radius;
use super::roots::time_scale_of;
use super::{RootError, System};
use nalgebra::Complex;

/// The eigenvalues of a return ratio as functions of frequency.
pub struct Nyquist<'a> {
    function: Characteristic<'a>,
    /// The eigenloci over the band in which the loop gain matters.
    pub loci: Vec<Locus>,
}

/// A crossing of an eigenlocus with the negative real axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisCrossing {
    /// Angular frequency in rad/s.
    pub frequency: f64,
    /// The eigenvalue, which is negative.
    pub value: f64,
}

impl<'a> Nyquist<'a> {
    /// Computes the eigenloci.
    ///
    /// # Errors
    /// [`RootError::NoLoop`] if the system has no loop, [`RootError::TooManyPoints`].
    pub fn new(system: &'a System) -> Result<Self, RootError> {
        let function = Characteristic::new(system);
        if function.size() == 0 {
            return Err(RootError::NoLoop);
        }
        let (low, high) = band(&function);
        let loci = loci(&function, low, high)?;
        Ok(Self { function, loci })
    }

    /// The eigenvalues at an angular frequency in rad/s, in no particular order. None at a pole of a block.
    #[must_use]
    pub fn at(&self, frequency: f64) -> Option<Vec<Complex<f64>>> {
        self.function.eigenvalues(frequency)
    }

    /// The crossings of the loci, times a factor, with the negative real axis, in ascending order of frequency. Values below 1e-6 are ignored, because rounding decides on which side of the axis they are.
    #[must_use]
    pub fn crossings(&self, factor: Complex<f64>) -> Vec<AxisCrossing> {
        const NEGLIGIBLE: f64 = 1e-6;
        let turned = |(_, value): LocusPoint| value * factor;
        let crosses = |(a, b): &(LocusPoint, LocusPoint)| {
            turned(*a).im * turned(*b).im < 0.0 && turned(*a).re < -NEGLIGIBLE && turned(*b).re < -NEGLIGIBLE
        };
        let refined =
            |(a, b): (LocusPoint, LocusPoint)| refine(&self.function, a, b, |value| (value * factor).im);
        let found = self.neighbours().filter(crosses).map(refined);
        let found = found.map(|(frequency, value)| AxisCrossing { frequency, value: (value * factor).re });
        // For small gains, neighbouring points are so far apart that the positive axis may be between them.
        let mut found: Vec<AxisCrossing> = found.filter(|crossing| crossing.value < 0.0).collect();
        found.sort_by(|a, b| a.frequency.total_cmp(&b.frequency));
        found
    }

    /// The time scale in seconds: the longest delay, or the inverse of the fastest pole.
    pub(super) fn time_scale(&self) -> f64 {
        time_scale_of(&self.function)
    }

    /// The crossings of the loci with the unit circle: frequency and value.
    pub(super) fn unit_crossings(&self) -> impl Iterator<Item = LocusPoint> {
        let beyond = |(_, value): LocusPoint| value.norm() - 1.0;
        let crosses = move |(a, b): &(LocusPoint, LocusPoint)| {
            beyond(*a) * beyond(*b) <= 0.0 && beyond(*a) != beyond(*b)
        };
        let pairs = self.neighbours().filter(crosses);
        pairs.map(|(a, b)| refine(&self.function, a, b, |value| value.norm() - 1.0))
    }

    /// Neighbouring points of each locus.
    fn neighbours(&self) -> impl Iterator<Item = (LocusPoint, LocusPoint)> {
        self.loci.iter().flat_map(|locus| locus.points.windows(2).map(|pair| (pair[0], pair[1])))
    }
}

/// Angular frequency in rad/s and eigenvalue.
type LocusPoint = (f64, Complex<f64>);

/// The frequency band: from where gains exceed 100, or delays and slow poles no longer matter, to where gains are below
/// 0.01.
fn band(function: &Characteristic<'_>) -> (f64, f64) {
    const SILENT: f64 = 0.01;
    const LOUD: f64 = 100.0;
    const RISES: f64 = 1.1;
    const DOUBLINGS: usize = 40;
    let (delay, pole) = (function.system().longest_delay(), function.fastest_pole());
    let time_scale = if pole > 0.0 { delay.max(1.0 / pole).min(1e6) } else { delay };
    let middle = if time_scale > 0.0 { 1.0 / time_scale } else { 1.0 };
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
    let mut low = middle.min(high) * 1e-4;
    for _ in 0..DOUBLINGS {
        let here = size(low);
        if here > LOUD || size(low / 2.0) < RISES * here {
            break;
        }
        low /= 2.0;
    }
    (low, high)
}

/// The sign change of a function of one eigenvalue, by the Illinois variant of the false position method (Dowell and
/// Jarratt, BIT 11, 1971).
fn refine(
    function: &Characteristic<'_>,
    (mut from, mut a): LocusPoint,
    (mut to, mut b): LocusPoint,
    of: impl Fn(Complex<f64>) -> f64,
) -> LocusPoint {
    const STEPS: usize = 60;
    const PRECISE: f64 = 1e-14;
    let (mut at_from, mut at_to) = (of(a), of(b));
    for _ in 0..STEPS {
        if at_to == 0.0 || (to - from).abs() <= PRECISE * to {
            break;
        }
        let part = (at_from / (at_from - at_to)).clamp(0.0, 1.0);
        let next = from + part * (to - from);
        let Some(values) = function.eigenvalues(next) else { break };
        let Some(&value) = matched(&[a + (b - a) * part], values).first() else { break };
        let at_next = of(value);
        if at_next * at_to < 0.0 {
            (from, a, at_from) = (to, b, at_to);
        } else {
            at_from /= 2.0;
        }
        let moved = (next - to).abs();
        (to, b, at_to) = (next, value, at_next);
        if moved <= PRECISE * to {
            break;
        }
    }
    (to, b)
}
