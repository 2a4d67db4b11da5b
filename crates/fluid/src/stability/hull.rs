//! The location of the eigenvalues of a return ratio: Lemma 5 (Vinnicombe) of Paganini et al., checked numerically.
//!
//! A network of the form (16) is L = sum of the senders' L_i, where each L_i is a positive matrix of rank one times a
//! complex number lambda_i. The matrix P of Eq. (46) has the nonzero eigenvalues of the sum of L_i / lambda_i. The
//! lemma states that the eigenvalues of L are in the convex hull of zero and all lambda_i, scaled by the spectral
//! radius of P.

use super::characteristic::Characteristic;
use super::matrix::{Matrix, spectrum};
use super::system::{Connection, System};
use nalgebra::Complex;
use std::f64::consts::TAU;

/// The result of a check of the lemma.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hull {
    /// The largest spectral radius of P at any frequency.
    pub radius: f64,
    /// Largest distance of an eigenvalue from the hull, relative to the eigenvalue; negative if all are inside.
    pub excess: f64,
    /// Largest angle in radians between a sender's own loop and its lambda; zero for a network of the form (16).
    pub misfit: f64,
}

/// Checks the lemma at some frequencies. `senders` are blocks, each with the delay of its lambda; `lambda` is a
/// function of delay and frequency. None at a pole of a block.
#[must_use]
pub fn hull(
    system: &System,
    senders: &[(usize, f64)],
    frequencies: &[f64],
    lambda: impl Fn(f64, f64) -> Complex<f64>,
) -> Option<Hull> {
    let whole = Characteristic::new(system);
    let alone: Vec<System> = senders.iter().map(|(block, _)| alone(system, *block)).collect();
    let parts: Vec<Characteristic<'_>> = alone.iter().map(Characteristic::new).collect();
    let mut hull = Hull { radius: 0.0, excess: f64::NEG_INFINITY, misfit: 0.0 };
    for &frequency in frequencies {
        let corners: Vec<Complex<f64>> = senders.iter().map(|(_, delay)| lambda(*delay, frequency)).collect();
        let mut positive = Matrix::zeros(whole.size(), whole.size());
        for (part, corner) in parts.iter().zip(&corners) {
            let ratio = part.return_ratio(Complex::new(0.0, frequency))? / *corner;
            let own = significant(ratio.diagonal().iter().copied().collect());
            hull.misfit = own.iter().fold(hull.misfit, |most, own| most.max(own.arg().abs()));
            embed(&mut positive, &whole, &ratio, part);
        }
        let radius = spectrum(positive)?.iter().map(|value| value.norm()).fold(0.0, f64::max);
        hull.radius = hull.radius.max(radius);
        for value in significant(whole.eigenvalues(frequency)?) {
            hull.excess = hull.excess.max(outside(value, &corners, radius) / value.norm());
        }
    }
    Some(hull)
}

/// The values above rounding error; links without feedback are not part of the loop.
fn significant(mut values: Vec<Complex<f64>>) -> Vec<Complex<f64>> {
    const ROUNDING: f64 = 1e-7;
    let largest = values.iter().map(|value| value.norm()).fold(0.0, f64::max);
    values.retain(|value| value.norm() > ROUNDING * largest);
    values
}

/// The system with one sender only.
fn alone(system: &System, block: usize) -> System {
    let touches = |connection: &&Connection| connection.from.block == block || connection.to.block == block;
    System {
        blocks: system.blocks.clone(),
        connections: system.connections.iter().filter(touches).copied().collect(),
    }
}

/// Adds the return ratio of a part to that of the whole, cut by cut.
fn embed(sum: &mut Matrix, whole: &Characteristic<'_>, ratio: &Matrix, part: &Characteristic<'_>) {
    let all = whole.cut_blocks();
    let places: Vec<Option<usize>> =
        part.cut_blocks().iter().map(|block| all.iter().position(|other| other == block)).collect();
    for (row, to) in places.iter().enumerate() {
        for (column, from) in places.iter().enumerate() {
            if let (Some(to), Some(from)) = (*to, *from) {
                sum[(to, from)] += ratio[(row, column)];
            }
        }
    }
}

/// The distance of a point from the convex hull of zero and the corners times `radius`; negative inside.
fn outside(point: Complex<f64>, corners: &[Complex<f64>], radius: f64) -> f64 {
    const SIDES: u32 = 720;
    let gap = |side: u32| {
        let view = Complex::from_polar(1.0, TAU * f64::from(side) / f64::from(SIDES));
        let reach = corners.iter().map(|corner| (corner * radius * view).re).fold(0.0, f64::max);
        (point * view).re - reach
    };
    (0..SIDES).map(gap).fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_from_a_triangle_agrees_with_geometry() {
        let corners = [Complex::new(1.0, 0.0), Complex::new(0.0, 1.0)];
        let gap = |re: f64, im: f64| outside(Complex::new(re, im), &corners, 2.0);
        // Next to the legs, beyond the hypotenuse x + y = 2, and inside.
        assert!((gap(1.0, -0.5) - 0.5).abs() < 1e-12 && (gap(-0.25, 1.0) - 0.25).abs() < 1e-12);
        assert!((gap(2.0, 2.0) - 2f64.sqrt()).abs() < 1e-12);
        assert!(gap(0.5, 0.5) < 0.0);
    }
}
