//! How many zeros lie inside a rectangle: the argument principle.

use super::function::Characteristic;
use nalgebra::Complex;
use std::f64::consts::PI;

/// An upright rectangle of the complex plane.
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

/// The number of zeros inside, or a point of the boundary at which the phase could not be followed.
pub(super) fn zeros_inside(
    function: &Characteristic<'_>,
    rectangle: &Rectangle,
) -> Result<usize, Complex<f64>> {
    let corners = rectangle.corners();
    let mut turned = 0.0;
    for side in 0..4 {
        turned += turn(function, corners[side], corners[(side + 1) % 4])?;
    }
    let count = turned / (2.0 * PI);
    if (count - count.round()).abs() > 0.1 || count.round() < 0.0 {
        return Err(rectangle.middle());
    }
    // Rounded, not negative, and as large as the number of roots.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(count.round() as usize)
}

/// How far the phase turns along a straight line. A step is trusted if its halves turn as it does, and by little.
fn turn(function: &Characteristic<'_>, from: Complex<f64>, to: Complex<f64>) -> Result<f64, Complex<f64>> {
    const LEAST_PARTS: f64 = 16.0;
    const MOST_PARTS: f64 = 1e4;
    const LITTLE: f64 = 1.0;
    const SHORTEST: f64 = 1e-10;
    let at = |part: f64| from + (to - from) * part;
    let value = |part: f64| function.ln(at(part)).ok_or_else(|| at(part));
    let mut total = 0.0;
    // No part is longer than half a radian of the longest delay: what turns faster than that cannot be mistaken.
    let parts = LEAST_PARTS
        .max((2.0 * (to - from).norm() * function.system().longest_delay()).min(MOST_PARTS))
        .ceil();
    let mut part = 0.0;
    while part < parts {
        let ends = (part / parts, (part + 1.0) / parts);
        part += 1.0;
        let mut open = vec![(ends.0, value(ends.0)?, ends.1, value(ends.1)?)];
        while let Some((a, at_a, b, at_b)) = open.pop() {
            let middle = f64::midpoint(a, b);
            let at_middle = value(middle)?;
            let (first, second) = (wrap(at_middle.im - at_a.im), wrap(at_b.im - at_middle.im));
            let steady = (at_middle.re - at_a.re).abs().max((at_b.re - at_middle.re).abs()) < 2.0 * LITTLE;
            if first.abs() < LITTLE
                && second.abs() < LITTLE
                && (first - second).abs() < LITTLE / 2.0
                && steady
            {
                total += first + second;
            } else if b - a < SHORTEST {
                return Err(at(middle));
            } else {
                open.push((a, at_a, middle, at_middle));
                open.push((middle, at_middle, b, at_b));
            }
        }
    }
    Ok(total)
}

/// An angle between -pi and pi.
fn wrap(angle: f64) -> f64 {
    angle - (angle / (2.0 * PI)).round() * 2.0 * PI
}
