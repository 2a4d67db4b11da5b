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
