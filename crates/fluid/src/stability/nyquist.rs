//! The Nyquist plot of a network: its eigenloci, read at frequencies and where they cross the negative real axis.

use super::characteristic::Characteristic;
use super::loci::{Locus, loci, matched};
use super::matrix::spectral_radius;
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
        self.function.eigenvalues(frequency)
    }

    /// Where the loci, times a factor, cross the negative real axis: frequency and value, in the order of frequency. What is
    /// smaller than a millionth is nothing: which side of the axis it is on, rounding decides.
    #[must_use]
    pub fn crossings(&self, factor: Complex<f64>) -> Vec<(f64, f64)> {
        const NEGLIGIBLE: f64 = 1e-6;
        let turned = |(_, value): Point| value * factor;
        let crosses = |(a, b): &(Point, Point)| {
            turned(*a).im * turned(*b).im < 0.0 && turned(*a).re < -NEGLIGIBLE && turned(*b).re < -NEGLIGIBLE
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

/// From where the loops are far above one, or where delays and slower modes matter no more, to where they have fallen below a
/// hundredth.
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

/// The place of a sign change along one eigenvalue, by the Illinois variant of the false position (Dowell and Jarratt, BIT 11,
/// 1971): the end that stays counts half.
fn refine(
    function: &Characteristic<'_>,
    (mut from, mut a): Point,
    (mut to, mut b): Point,
    of: impl Fn(Complex<f64>) -> f64,
) -> Point {
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
