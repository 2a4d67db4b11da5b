//! The rightmost characteristic roots.

use super::characteristic::Characteristic;
use super::contour::{Contour, Rectangle, Uncounted};
use super::{RootError, System};
use nalgebra::Complex;

/// A characteristic root; for a conjugate pair the one with positive imaginary part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// Growth rate and angular frequency, in 1/s.
    pub s: Complex<f64>,
    /// Multiplicity of the root.
    pub multiplicity: usize,
}

impl Root {
    /// The growth of an oscillation from one peak to the next, as a factor; none for a real root.
    #[must_use]
    pub fn growth_per_cycle(&self) -> Option<f64> {
        (self.s.im > 0.0).then(|| (2.0 * std::f64::consts::PI * self.s.re / self.s.im).exp())
    }
}

/// All roots right of a vertical line.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// In descending order of real part.
    pub roots: Vec<Root>,
    /// No other root has a real part above this value: certified by the argument principle.
    pub complete_to: f64,
    /// Time scale in seconds: the longest delay, or the inverse of the fastest pole.
    pub time_scale: f64,
    /// The part of the work that one search may take, from 0 to 1.
    pub effort: f64,
}

impl Spectrum {
    /// Largest real part; minus infinity if no root was found in the searched area.
    #[must_use]
    pub fn rightmost(&self) -> f64 {
        self.roots.first().map_or(f64::NEG_INFINITY, |root| root.s.re)
    }

    /// Whether a root is zero within the accuracy of the computation: such a disturbance neither grows nor decays.
    #[must_use]
    pub fn is_zero(&self, root: &Root) -> bool {
        self.is_zero_rate(root.s.norm())
    }

    /// Whether a growth rate or a frequency, in 1/s, is zero within the accuracy of the computation.
    #[must_use]
    pub fn is_zero_rate(&self, rate: f64) -> bool {
        rate.abs() * self.time_scale < NEGLIGIBLE
    }

    /// The rightmost root that is not zero.
    #[must_use]
    pub fn first_nonzero(&self) -> Option<&Root> {
        self.roots.iter().find(|root| !self.is_zero(root))
    }

    /// The real part of [`Self::first_nonzero`], or an upper bound if there is no such root.
    #[must_use]
    pub fn rightmost_nonzero(&self) -> f64 {
        self.first_nonzero().map_or(self.complete_to.min(0.0), |root| root.s.re)
    }

    /// The same roots with a root at zero of this multiplicity, at least: those that are zero within the accuracy of the computation
    /// are one root that is exactly zero. Roots of differences between equal flows are not among them
    /// ([`super::roots_of_differences`]).
    #[must_use]
    pub fn with_zero_root(mut self, multiplicity: usize) -> Self {
        let at_zero = self.roots.iter().filter(|root| self.is_zero(root)).map(|root| root.multiplicity).sum();
        let zero = Root { s: Complex::new(0.0, 0.0), multiplicity: multiplicity.max(at_zero) };
        if zero.multiplicity == 0 {
            return self;
        }
        let others: Vec<Root> = self.roots.iter().filter(|root| !self.is_zero(root)).copied().collect();
        let before = others.iter().take_while(|root| root.s.re > 0.0).count();
        self.roots = others;
        self.roots.insert(before, zero);
        self
    }

    /// Whether every disturbance decays.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.rightmost() < 0.0
    }
}

/// A root is zero if its absolute value is below this value divided by the time scale.
const NEGLIGIBLE: f64 = 1e-6;

/// The distance of the nearest lines from the imaginary axis, multiplied by the time scale.
const BESIDE_AXIS: f64 = 1e-4;

/// Finds all roots right of a vertical line, which is moved left until there are some.
///
/// # Errors
/// [`RootError`] gives the reason.
pub fn rightmost(system: &System) -> Result<Spectrum, RootError> {
    let function = Characteristic::new(system);
    if function.size() == 0 { Err(RootError::NoLoop) } else { rightmost_of(&function) }
}

/// Finds the rightmost roots of a characteristic function, which may have no link.
pub(super) fn rightmost_of(function: &Characteristic<'_>) -> Result<Spectrum, RootError> {
    const LINES: i32 = 9;
    let time_scale = time_scale_of(function);
    let contour =
        Contour::new(function, time_scale).ok_or(RootError::Uncounted { near: Complex::new(0.0, 0.0) })?;
    // The first line is slightly left of the axis, so that roots on the axis are inside.
    let lines = std::iter::once(-BESIDE_AXIS).chain((0..LINES).map(|line| -0.2371 * 2f64.powi(line)));
    let mut known = Spectrum { roots: Vec::new(), complete_to: 0.0, time_scale, effort: 0.0 };
    for line in lines {
        match right_of(&contour, line / time_scale, time_scale) {
            Ok((roots, complete_to)) => known = Spectrum { roots, complete_to, ..known },
            Err(RootError::Uncounted { .. } | RootError::TooManySamples { .. })
                if known.complete_to < 0.0 =>
            {
                break;
            }
            Err(reason) => return Err(reason),
        }
        if known.roots.iter().any(|root| !known.is_zero(root)) {
            break;
        }
    }
    Ok(Spectrum { effort: contour.effort(), ..known })
}

/// Whether every disturbance decays, but for those that a root at zero keeps: the sign of [`Spectrum::rightmost_nonzero`].
/// Roots are counted, and located only where some are near the imaginary axis, so it takes a part of the work.
///
/// # Errors
/// [`RootError`] gives the reason.
pub fn decays(system: &System) -> Result<bool, RootError> {
    let function = Characteristic::new(system);
    let time_scale = time_scale_of(&function);
    if function.size() > 0
        && let Some(contour) = Contour::new(&function, time_scale)
    {
        let search = RootSearch { contour: &contour, time_scale, found: Vec::new() };
        if search.count_right_of(-BESIDE_AXIS / time_scale) == Some(0) {
            return Ok(true);
        }
        if search.count_right_of(BESIDE_AXIS / time_scale).is_some_and(|count| count > 0) {
            return Ok(false);
        }
    }
    Ok(rightmost(system)?.rightmost_nonzero() < 0.0)
}

/// All roots right of this line, or of a line nearby if a root is on it; and the line.
fn right_of(contour: &Contour<'_>, line: f64, time_scale: f64) -> Result<(Vec<Root>, f64), RootError> {
    let mut blocked = Complex::new(line, 0.0);
    for shift in [1.0, 1.131, 0.871, 1.377, 0.739] {
        let left = line * shift;
        let radius = radius(contour.function, left)?;
        match (RootSearch { contour, time_scale, found: Vec::new() }).right_of(left, radius) {
            Ok(found) => return Ok(found),
            Err(Uncounted::Near(near)) => blocked = near,
            Err(Uncounted::TooManySamples) => {
                return Err(RootError::TooManySamples { samples: contour.limit() });
            }
        }
    }
    Err(RootError::Uncounted { near: blocked })
}

/// The time scale: the longest delay; without delays, the inverse of the fastest pole.
pub(super) fn time_scale_of(function: &Characteristic<'_>) -> f64 {
    let delay = function.system().longest_delay();
    if delay > 0.0 {
        return delay;
    }
    let pole = function.fastest_pole();
    if pole > 0.0 { 1.0 / pole } else { 1.0 }
}

/// A radius beyond which there is no root right of the line, because the loop gain is below one there.
fn radius(function: &Characteristic<'_>, left: f64) -> Result<f64, RootError> {
    const DOUBLINGS: usize = 60;
    const BELOW_ONE: f64 = 0.9;
    let mut radius = (2.0 * function.fastest_pole()).max(1.0 / time_scale_of(function)).max(2.0 * left.abs());
    let mut gain = f64::INFINITY;
    let mut quiet = 0;
    for _ in 0..DOUBLINGS {
        gain = function.gain_bound(radius, left).unwrap_or(f64::INFINITY);
        quiet = if gain < BELOW_ONE { quiet + 1 } else { 0 };
        if quiet == 2 {
            return Ok(radius);
        }
        radius *= 2.0;
    }
    Err(RootError::Neutral { gain })
}

struct RootSearch<'a> {
    contour: &'a Contour<'a>,
    /// Time scale, in seconds.
    time_scale: f64,
    found: Vec<Root>,
}

impl RootSearch<'_> {
    /// The roots right of a line and within a radius, and the line. If there are many nonzero roots, only the rightmost
    /// ones with a line further right.
    fn right_of(mut self, left: f64, radius: f64) -> Result<(Vec<Root>, f64), Uncounted> {
        const MANY: usize = 12;
        let mut area = area_right_of(left, radius);
        let mut count = self.contour.zeros_inside(&area)?;
        let at_zero = if count > MANY { self.at_zero()? } else { 0 };
        let mut empty_from = area.right;
        while count > MANY + at_zero {
            let line = area.left + 0.487 * (empty_from - area.left);
            let beyond = Rectangle { left: line, ..area };
            let inside = self.contour.zeros_inside(&beyond)?;
            let has_others = inside > if line < 0.0 { at_zero } else { 0 };
            if has_others {
                (area, count) = (beyond, inside);
            } else if empty_from - area.left < 1e-6 * radius {
                break;
            } else {
                empty_from = line;
            }
        }
        self.split(area, count)?;
        let mut roots = self.found;
        roots.retain(|root| root.s.im >= -1e-9 * radius);
        roots.sort_by(|a, b| b.s.re.total_cmp(&a.s.re));
        Ok((roots, area.left))
    }

    /// The number of roots right of a line without those at zero; none if they cannot be counted.
    fn count_right_of(&self, left: f64) -> Option<usize> {
        let area = area_right_of(left, radius(self.contour.function, left).ok()?);
        let count = self.contour.zeros_inside(&area).ok()?;
        if count == 0 || left > 0.0 {
            return Some(count);
        }
        Some(count.saturating_sub(self.at_zero().ok()?))
    }

    /// The number of roots at zero.
    fn at_zero(&self) -> Result<usize, Uncounted> {
        let (near, far) = (0.5 * NEGLIGIBLE / self.time_scale, 0.53 * NEGLIGIBLE / self.time_scale);
        self.contour.zeros_inside(&Rectangle { left: -far, right: near, bottom: -near, top: far })
    }

    /// Splits a rectangle with `count` roots until Newton's method finds the root of each part.
    fn split(&mut self, rectangle: Rectangle, count: usize) -> Result<(), Uncounted> {
        const SMALL: f64 = 1e-7;
        const MOST_TOGETHER: usize = 16;
        if count == 0 {
            return Ok(());
        }
        if count > 1 && rectangle.largest_norm() * self.time_scale < NEGLIGIBLE {
            self.remember(Complex::new(0.0, 0.0), count);
            return Ok(());
        }
        let small = rectangle.width().max(rectangle.height()) < SMALL / self.time_scale;
        let found = (count <= MOST_TOGETHER).then(|| self.newton(rectangle.middle(), count)).flatten();
        let found = found.filter(|s| small || rectangle.contains(*s, 1e-6));
        if let Some(s) = found.filter(|s| small || count == 1 || self.are_together(&rectangle, *s, count)) {
            self.remember(s, count);
            return Ok(());
        }
        if small {
            self.remember(rectangle.middle(), count);
            return Ok(());
        }
        let mut blocked = Uncounted::Near(rectangle.middle());
        for cut in [0.487, 0.541, 0.433, 0.379] {
            let (one, other) = halves(rectangle, cut);
            match self.contour.zeros_inside(&one) {
                Ok(inside) if inside <= count => {
                    self.split(one, inside)?;
                    return self.split(other, count - inside);
                }
                Ok(_) => {}
                Err(Uncounted::TooManySamples) => return Err(Uncounted::TooManySamples),
                Err(near) => blocked = near,
            }
        }
        Err(blocked)
    }

    fn remember(&mut self, s: Complex<f64>, multiplicity: usize) {
        let same = |root: &&mut Root| (root.s - s).norm() < 1e-8 * s.norm().max(1.0 / self.time_scale);
        // The accuracy of Newton's method.
        let precise = if multiplicity == 1 { 1e-9 } else { 1e-6 };
        let real = s.im.abs() < precise * s.norm().max(1.0 / self.time_scale);
        let s = if real { Complex::new(s.re, 0.0) } else { s };
        match self.found.iter_mut().find(same) {
            Some(root) => root.multiplicity += multiplicity,
            None => self.found.push(Root { s, multiplicity }),
        }
    }

    /// Whether all roots of a rectangle are one multiple root within the accuracy of the computation.
    fn are_together(&self, rectangle: &Rectangle, s: Complex<f64>, count: usize) -> bool {
        const SAME: f64 = 1e-6;
        let apart = (SAME * s.norm()).max(0.1 * NEGLIGIBLE / self.time_scale);
        let (x, y) = (apart.min(rectangle.width()), apart.min(rectangle.height()));
        let near = Rectangle { left: s.re - x, right: s.re + x, bottom: s.im - y, top: s.im + y };
        self.contour.zeros_inside(&near) == Ok(count)
    }

    /// Newton's method for a root of this multiplicity, with a derivative by central differences. It uses ratios of
    /// values because the function may overflow.
    fn newton(&self, mut s: Complex<f64>, multiplicity: usize) -> Option<Complex<f64>> {
        const STEPS: usize = 50;
        const DONE: f64 = 1e-13;
        const DONE_ENOUGH: f64 = 1e-9;
        const DONE_ROUGHLY: f64 = 1e-6;
        let times = f64::from(u8::try_from(multiplicity).unwrap_or(u8::MAX));
        let enough = if multiplicity == 1 { DONE_ENOUGH } else { DONE_ROUGHLY };
        let mut last = f64::INFINITY;
        for _ in 0..STEPS {
            let size = s.norm().max(1.0 / self.time_scale);
            let h = 1e-6 * size;
            let ahead = self.contour.function.ln(s + h)?;
            let behind = (self.contour.function.ln(s - h)? - ahead).exp();
            let here = (self.contour.function.ln(s)? - ahead).exp();
            let step = here * 2.0 * h * times / (behind - 1.0);
            if !step.re.is_finite() || !step.im.is_finite() {
                return None;
            }
            s += step;
            last = step.norm() / size;
            if last < DONE {
                return Some(s);
            }
        }
        (last < enough).then_some(s)
    }
}

/// The part of the upper half plane right of a line and within a radius. Irregular factors, so that no side or cut passes
/// through a root for reasons of symmetry.
fn area_right_of(left: f64, radius: f64) -> Rectangle {
    Rectangle { left, right: radius * 1.01, bottom: -radius * 1.3e-3, top: radius * 1.07 }
}

fn halves(rectangle: Rectangle, cut: f64) -> (Rectangle, Rectangle) {
    if rectangle.width() > rectangle.height() {
        let middle = rectangle.left + cut * rectangle.width();
        (Rectangle { right: middle, ..rectangle }, Rectangle { left: middle, ..rectangle })
    } else {
        let middle = rectangle.bottom + cut * rectangle.height();
        (Rectangle { top: middle, ..rectangle }, Rectangle { bottom: middle, ..rectangle })
    }
}
