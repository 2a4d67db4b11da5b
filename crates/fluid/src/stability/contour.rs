//! The number of zeros in a rectangle, by the argument principle.

use super::characteristic::{Characteristic, MOST_WORK};
use nalgebra::Complex;
use std::cell::Cell;
use std::f64::consts::PI;

/// A rectangle of the complex plane with sides parallel to the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rectangle {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) top: f64,
}

impl Rectangle {
    pub(super) fn middle(&self) -> Complex<f64> {
        Complex::new(f64::midpoint(self.left, self.right), f64::midpoint(self.bottom, self.top))
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.top - self.bottom
    }

    pub(super) fn contains(&self, s: Complex<f64>, slack: f64) -> bool {
        let (x, y) = (slack * self.width(), slack * self.height());
        (self.left - x..=self.right + x).contains(&s.re) && (self.bottom - y..=self.top + y).contains(&s.im)
    }

    /// The largest distance of a corner from zero.
    pub(super) fn largest_norm(&self) -> f64 {
        self.corners().iter().map(|corner| corner.norm()).fold(0.0, f64::max)
    }

    fn corners(&self) -> [Complex<f64>; 4] {
        let corner = Complex::new;
        [
            corner(self.left, self.bottom),
            corner(self.right, self.bottom),
            corner(self.right, self.top),
            corner(self.left, self.top),
        ]
    }
}

/// The phase of the characteristic function along paths, in two factors. The phase of the blocks' polynomials is a sum
/// of angles seen from their zeros; with a hundred flows it changes too fast to be sampled. The phase of det(I + L),
/// which tends to zero for large s, is followed in steps.
pub(super) struct Contour<'a> {
    pub(super) function: &'a Characteristic<'a>,
    poles: Vec<Complex<f64>>,
    /// Time scale of the system, in seconds.
    time_scale: f64,
    /// The number of samples so far.
    samples: Cell<u64>,
    /// The most samples.
    limit: u64,
}

/// Why the zeros in a rectangle could not be counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Uncounted {
    /// A point of the boundary at which the phase could not be followed.
    Near(Complex<f64>),
    /// The limit on the number of samples was reached.
    TooManySamples,
}

/// The samples of one search that a network of any size may take.
const LEAST_SAMPLES: u64 = 10_000;

/// det(I + L) at a point.
#[derive(Clone, Copy)]
struct ContourSample {
    s: Complex<f64>,
    ln: Complex<f64>,
    /// The logarithmic derivative.
    slope: Complex<f64>,
}

impl<'a> Contour<'a> {
    /// None if the poles of a block cannot be computed.
    pub(super) fn new(function: &'a Characteristic<'a>, time_scale: f64) -> Option<Self> {
        // The function and its derivative.
        let limit = (MOST_WORK / (2 * function.multiplications())).max(LEAST_SAMPLES);
        Some(Self { function, poles: function.poles()?, time_scale, samples: Cell::new(0), limit })
    }

    /// The most samples of one search.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// The samples so far over the most samples.
    pub(super) fn effort(&self) -> f64 {
        (self.samples.get() as f64 / self.limit as f64).min(1.0)
    }

    /// The number of zeros in a rectangle.
    pub(super) fn zeros_inside(&self, rectangle: &Rectangle) -> Result<usize, Uncounted> {
        let corners = rectangle.corners();
        let mut turned = 0.0;
        for side in 0..4 {
            let (from, to) = (corners[side], corners[(side + 1) % 4]);
            let polynomials: f64 = self.poles.iter().map(|pole| ((to - pole) / (from - pole)).arg()).sum();
            turned += polynomials + self.turn(from, to)?;
        }
        let count = turned / (2.0 * PI);
        if !((count - count.round()).abs() <= 0.1 && count.round() >= 0.0) {
            return Err(Uncounted::Near(rectangle.middle()));
        }
        // Rounded, not negative, and as small as the number of roots.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(count.round() as usize)
    }

    /// The change of the phase of det(I + L) along a straight line.
    fn turn(&self, from: Complex<f64>, to: Complex<f64>) -> Result<f64, Uncounted> {
        const SHORTEST: f64 = 1e-10;
        let along = (to - from) / (to - from).norm();
        let mut total = 0.0;
        let mut here = self.sample(from, along)?;
        let mut ends = vec![self.sample(to, along)?];
        while let Some(&end) = ends.last() {
            if self.is_close(here.s, end.s)
                && let Some(turned) = step(&here, &end)
            {
                total += turned;
                here = end;
                ends.pop();
            } else if (end.s - here.s).norm() < SHORTEST * (to - from).norm() {
                return Err(Uncounted::Near(here.s));
            } else {
                ends.push(self.sample((here.s + end.s) / 2.0, along)?);
            }
        }
        Ok(total)
    }

    /// Whether two points are so close that the phase between them is determined by their values and derivatives.
    ///
    /// A factor e^(-s tau) must change by at most one radian. Right of the imaginary axis, delays longer than a
    /// multiple of 1 / Re s do not matter. And no pole may be closer than the distance of the points, because a zero
    /// close to that pole would not be visible at either point.
    fn is_close(&self, a: Complex<f64>, b: Complex<f64>) -> bool {
        const RADIAN: f64 = 1.0;
        const DEAD: f64 = 20.0;
        let (length, middle) = ((b - a).norm(), (a + b) / 2.0);
        let longest = self.function.system().longest_delay();
        let delay = if a.re.min(b.re) > 0.0 { longest.min(DEAD / a.re.min(b.re)) } else { longest };
        length * delay < RADIAN && !self.poles.iter().any(|pole| (pole - middle).norm() < length)
    }

    fn sample(&self, s: Complex<f64>, along: Complex<f64>) -> Result<ContourSample, Uncounted> {
        const NEAR: f64 = 1e-6;
        self.samples.set(self.samples.get() + 1);
        if self.samples.get() > self.limit {
            return Err(Uncounted::TooManySamples);
        }
        let h = NEAR * s.norm().max(1.0 / self.time_scale);
        let ln = self.function.ln_loops(s).ok_or(Uncounted::Near(s))?;
        let ahead = self.function.ln_loops(s + along * h).ok_or(Uncounted::Near(s))?;
        let change = Complex::new(ahead.re - ln.re, wrap(ahead.im - ln.im));
        Ok(ContourSample { s, ln, slope: change / (along * h) })
    }
}

/// The change of the phase between two samples; none if they are too far apart. The derivatives at both ends must be
/// small and agree with the difference of the values, because values alone do not show a full turn.
fn step(a: &ContourSample, b: &ContourSample) -> Option<f64> {
    const MAX_CHANGE: f64 = 1.5;
    const MAX_DIFFERENCE: f64 = 0.5;
    let way = b.s - a.s;
    let (first, last) = (a.slope * way, b.slope * way);
    let observed = Complex::new(b.ln.re - a.ln.re, wrap(b.ln.im - a.ln.im));
    let predicted = (first + last) / 2.0;
    let is_certain = first.norm() < MAX_CHANGE
        && last.norm() < MAX_CHANGE
        && (observed - predicted).norm() < MAX_DIFFERENCE;
    is_certain.then_some(observed.im)
}

/// The equivalent angle between -pi and pi.
fn wrap(angle: f64) -> f64 {
    angle - (angle / (2.0 * PI)).round() * 2.0 * PI
}
