//! The transfer matrix of a block at many complex frequencies.

use super::matrix::{Matrix, balanced, triangular};
use super::system::Block;
use nalgebra::{Complex, DMatrix};

/// A block in coordinates in which its state matrix is upper triangular, A = Q T Q^-1, where Q is unitary but for the units
/// that balance A. A transfer matrix then takes one back substitution for each input, and no decomposition.
pub(super) struct Dynamics {
    /// The matrix T; the poles of the block are on its diagonal.
    triangle: Matrix,
    /// Q^-1 B.
    b: Matrix,
    /// C Q.
    c: Matrix,
    d: DMatrix<f64>,
}

impl Dynamics {
    /// None if an entry is not finite or the eigenvalues of A cannot be computed.
    pub(super) fn of(block: &Block) -> Option<Self> {
        let complex = |matrix: &DMatrix<f64>| matrix.map(Complex::from);
        let (mut b, mut c, d) = (complex(&block.b), complex(&block.c), block.d.clone());
        if block.states() < 2 {
            return Some(Self { triangle: complex(&block.a), b, c, d });
        }
        let (a, units) = balanced(complex(&block.a))?;
        for (state, unit) in units.into_iter().enumerate() {
            b.row_mut(state).unscale_mut(unit);
            c.column_mut(state).scale_mut(unit);
        }
        let (q, triangle) = triangular(a)?;
        Some(Self { triangle, b: q.adjoint() * b, c: c * q, d })
    }

    /// The poles of the block.
    pub(super) fn poles(&self) -> Vec<Complex<f64>> {
        self.triangle.diagonal().iter().copied().collect()
    }

    /// The number of outputs and of inputs.
    pub(super) fn shape(&self) -> (usize, usize) {
        self.d.shape()
    }

    /// The transfer matrix C (sI - A)^-1 B + D, and ln det(sI - A). None at a pole.
    pub(super) fn transfer(&self, s: Complex<f64>) -> Option<(Matrix, Complex<f64>)> {
        let mut matrix = self.d.map(Complex::from);
        let ln = self.add_to(s, |row, column, value| matrix[(row, column)] += value)?;
        Some((matrix, ln))
    }

    /// Writes the transfer matrix to a place in a larger one; returns ln det(sI - A). None at a pole.
    pub(super) fn write(
        &self,
        s: Complex<f64>,
        to: &mut Matrix,
        (top, left): (usize, usize),
    ) -> Option<Complex<f64>> {
        to.view_mut((top, left), self.shape()).zip_apply(&self.d, |entry, value| *entry = value.into());
        self.add_to(s, |row, column, value| to[(top + row, left + column)] += value)
    }

    /// Adds the entries of C (sI - A)^-1 B by row and column; returns ln det(sI - A). None at a pole.
    fn add_to(
        &self,
        s: Complex<f64>,
        mut add: impl FnMut(usize, usize, Complex<f64>),
    ) -> Option<Complex<f64>> {
        let n = self.triangle.nrows();
        let mut ln = Complex::new(0.0, 0.0);
        let mut inverse = Vec::with_capacity(n);
        for state in 0..n {
            let distance = s - self.triangle[(state, state)];
            if distance.norm_sqr() == 0.0 {
                return None;
            }
            ln += distance.ln();
            inverse.push(distance.inv());
        }
        let mut state = vec![Complex::new(0.0, 0.0); n];
        for input in 0..self.b.ncols() {
            for row in (0..n).rev() {
                let later = row + 1..n;
                let sum: Complex<f64> = later.map(|other| self.triangle[(row, other)] * state[other]).sum();
                state[row] = (self.b[(row, input)] + sum) * inverse[row];
            }
            for output in 0..self.c.nrows() {
                let value = state.iter().enumerate().map(|(k, x)| self.c[(output, k)] * x).sum();
                add(output, input, value);
            }
        }
        Some(ln)
    }
}
