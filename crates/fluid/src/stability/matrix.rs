//! Complex matrices: eigenvalues, spectral radius, logarithm of the determinant.

use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{Complex, DMatrix, DVector};

pub(super) type Matrix = DMatrix<Complex<f64>>;

/// The logarithm of a determinant that may overflow.
pub(super) fn ln_det(lu: &nalgebra::LU<Complex<f64>, nalgebra::Dyn, nalgebra::Dyn>) -> Complex<f64> {
    let sign: f64 = lu.p().determinant();
    let turned = if sign < 0.0 { Complex::new(0.0, std::f64::consts::PI) } else { Complex::new(0.0, 0.0) };
    lu.u().diagonal().iter().map(|entry| entry.ln()).sum::<Complex<f64>>() + turned
}

/// Equations A X = B, side by side in rows, for small matrices: elimination with partial pivoting in one piece of memory.
pub(super) struct LinearEquations {
    entries: Vec<Complex<f64>>,
    size: usize,
    width: usize,
}

impl LinearEquations {
    /// The equations with these entries of A and B, by row and column.
    pub(super) fn new(
        size: usize,
        sides: usize,
        a: impl Fn(usize, usize) -> Complex<f64>,
        b: impl Fn(usize, usize) -> Complex<f64>,
    ) -> Self {
        let width = size + sides;
        let mut entries = Vec::with_capacity(size * width);
        for row in 0..size {
            entries.extend((0..size).map(|column| a(row, column)));
            entries.extend((0..sides).map(|column| b(row, column)));
        }
        Self { entries, size, width }
    }

    /// Puts X in the place of B; returns ln det A. None if A is singular.
    pub(super) fn solve(&mut self) -> Option<Complex<f64>> {
        let mut ln = Complex::new(0.0, 0.0);
        for column in 0..self.size {
            ln += self.eliminate_below(column)?;
        }
        for row in (0..self.size).rev() {
            for above in 0..row {
                self.subtract(row, above, row);
            }
        }
        Some(ln)
    }

    /// An entry of X.
    pub(super) fn solution(&self, row: usize, side: usize) -> Complex<f64> {
        self.entries[row * self.width + self.size + side]
    }

    /// Makes the pivot of a column one, and the entries below it zero; returns the logarithm of the pivot with its sign.
    fn eliminate_below(&mut self, column: usize) -> Option<Complex<f64>> {
        let size_of = |row: &usize| self.entries[row * self.width + column].l1_norm();
        let pivot = (column..self.size).max_by(|a, b| size_of(a).total_cmp(&size_of(b)))?;
        let sign = if pivot == column { 1.0 } else { -1.0 };
        if pivot != column {
            (column..self.width)
                .for_each(|k| self.entries.swap(pivot * self.width + k, column * self.width + k));
        }
        let value = self.entries[column * self.width + column];
        if value.l1_norm() == 0.0 {
            return None;
        }
        let inverse = value.inv();
        let row = column * self.width;
        self.entries[row + column..row + self.width].iter_mut().for_each(|entry| *entry *= inverse);
        (column + 1..self.size).for_each(|below| self.subtract(column, below, column));
        Some((value * sign).ln())
    }

    /// Subtracts a multiple of a row from another one, so that the entry in this column becomes zero.
    fn subtract(&mut self, row: usize, from: usize, column: usize) {
        let factor = self.entries[from * self.width + column];
        for k in column..self.width {
            let part = factor * self.entries[row * self.width + k];
            self.entries[from * self.width + k] -= part;
        }
    }
}

/// The eigenvalues of a matrix. Rows may have units as different as bit/s and seconds, so the matrix is balanced first;
/// rounding errors are then relative to the eigenvalues. Values below the rounding error become zero. None if an entry
/// is not finite or the iteration does not converge.
pub(super) fn spectrum(mut matrix: Matrix) -> Option<Vec<Complex<f64>>> {
    const ROUNDING: f64 = 1e-14;
    let mut sizes = matrix.map(|entry| entry.norm());
    if !sizes.iter().all(|size| size.is_finite()) {
        return None;
    }
    let units = balance_parlett_reinsch(&mut sizes);
    for ((row, column), entry) in
        (0..units.len()).flat_map(|c| (0..units.len()).map(move |r| (r, c))).zip(matrix.iter_mut())
    {
        *entry *= units[column] / units[row];
    }
    let rounding = ROUNDING * matrix.iter().map(|entry| entry.norm()).fold(0.0, f64::max);
    let (_, triangle) = matrix.try_schur(1e-14, 10_000)?.unpack();
    let exact = |value: &Complex<f64>| if value.norm() > rounding { *value } else { Complex::new(0.0, 0.0) };
    Some(triangle.diagonal().iter().map(exact).collect())
}

/// A tight upper bound on the largest eigenvalue of a non-negative matrix: the largest (Mv)_i / v_i for a positive
/// vector v (Collatz and Wielandt) after some power iterations.
pub(super) fn spectral_radius(matrix: &DMatrix<f64>) -> f64 {
    const TURNS: usize = 60;
    if matrix.is_empty() {
        return 0.0;
    }
    let mut vector = DVector::from_element(matrix.nrows(), 1.0);
    let mut least = f64::INFINITY;
    for _ in 0..TURNS {
        let image = matrix * &vector;
        least = least.min(image.iter().zip(&vector).map(|(image, part)| image / part).fold(0.0, f64::max));
        // Adding a part of the vector keeps every entry positive.
        vector += image / least.max(f64::MIN_POSITIVE);
        vector /= vector.amax();
    }
    least
}
