//! The Nyquist plot of a network: its eigenloci, read at frequencies and where they cross the negative real axis.

use super::function::{Characteristic, spectral_radius};
use super::loci::{Locus, eigenvalues, loci, matched};
use super::{System, Unknown};
use nalgebra::Complex;

/// The eigenvalues of a return ratio over frequency.
pub struct Nyquist<'a> {
    function: Characteristic<'a>,
    /// From where the longest delay does not matter to where the loops have fallen silent.
    pub loci: Vec<Locus>,
}

impl<'a> Nyquist<'a> {
    /// Follows all eigenvalues.
    ///
    /// # Errors
    /// [`Unknown::NoLoop`] where there is no return ratio.
    pub fn new(system: &'a System) -> Result<Self, Unknown> {
        let function = Characteristic::new(system);
        if function.size() == 0 {
            return Err(Unknown::NoLoop);
        }
        let (low, high) = band(&function);
        let loci = loci(&function, low, high);
        Ok(Self { function, loci })
    }

    /// The eigenvalues at an angular frequency in rad/s, in no order. None where it is that of a mode of a piece.
    #[must_use]
    pub fn at(&self, frequency: f64) -> Option<Vec<Complex<f64>>> {
        eigenvalues(&self.function, frequency)
    }

    /// Where the loci, times a factor, cross the negative real axis: frequency and value, in the order of frequency.
    #[must_use]
    pub fn crossings(&self, factor: Complex<f64>) -> Vec<(f64, f64)> {
        let turned = |(_, value): Point| value * factor;
        let crosses = |(a, b): &(Point, Point)| {
            turned(*a).im * turned(*b).im < 0.0 && turned(*a).re < 0.0 && turned(*b).re < 0.0
        };
        let refined = |(a, b): (Point, Point)| refine(&self.function, a, b, |value| (value * factor).im);
        let found = self.neighbours().filter(crosses).map(refined);
        let found = found.map(|(frequency, value)| (frequency, (value * factor).re));
        // Where loops are next to silent, neighbours are so far apart that the positive axis may lie between them.
        let mut found: Vec<(f64, f64)> = found.filter(|(_, value)| *value < 0.0).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found
    }

    /// Where the loci cross the unit circle: frequency and value.
    pub(super) fn unit_crossings(&self) -> impl Iterator<Item = Point> {
        let beyond = |(_, value): Point| value.norm() - 1.0;
        let crosses =
            move |(a, b): &(Point, Point)| beyond(*a) * beyond(*b) <= 0.0 && beyond(*a) != beyond(*b);
        let pairs = self.neighbours().filter(crosses);
        pairs.map(|(a, b)| refine(&self.function, a, b, |value| value.norm() - 1.0))
    }

    /// Points next to each other on a locus.
    fn neighbours(&self) -> impl Iterator<Item = (Point, Point)> {
        self.loci.iter().flat_map(|locus| locus.points.windows(2).map(|pair| (pair[0], pair[1])))
    }
}

/// Angular frequency in rad/s and eigenvalue.
type Point = (f64, Complex<f64>);

/// From where the loops are far above one to where they have fallen below a hundredth.
fn band(function: &Characteristic<'_>) -> (f64, f64) {
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

/// Bisects for a sign change along one eigenvalue.
fn refine(
    function: &Characteristic<'_>,
    (mut from, mut a): Point,
    (mut to, mut b): Point,
    of: impl Fn(Complex<f64>) -> f64,
) -> Point {
    const HALVINGS: usize = 60;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(from, to);
        let Some(values) = eigenvalues(function, middle) else { break };
        let Some(&value) = matched(&[a + (b - a) / 2.0], values).first() else { break };
        if of(a) * of(value) <= 0.0 { (to, b) = (middle, value) } else { (from, a) = (middle, value) }
    }
    (to, b)
}
