//! A zero of a vector field whose components may rest on their bounds.

use super::NoEquilibrium;
use nalgebra::{DMatrix, DVector};

/// A vector field with its Jacobian, x' = f(x), every delay collapsed.
pub trait Residual {
    /// f(x).
    fn value(&self, x: &[f64]) -> Vec<f64>;

    /// The matrix of df/dx.
    fn jacobian(&self, x: &[f64]) -> DMatrix<f64>;

    /// The lowest and the highest value of each component; the field is projected there.
    fn bounds(&self) -> Vec<(f64, f64)>;

    /// A typical size of each component, positive: residuals are judged against it.
    fn sizes(&self) -> Vec<f64>;
}

/// A point of rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Zero {
    /// The point.
    pub x: Vec<f64>,
    /// Components that rest on a bound although the field pushes outward.
    pub held: Vec<bool>,
    /// The largest |f| / size over the free components, per second.
    pub residual: f64,
}

/// Follows implicit Euler steps that lengthen as the field weakens, so that the search begins as an integration and ends as
/// Newton's method.
///
/// # Errors
/// [`NoEquilibrium::NotConverged`] if the residual does not fall below `tolerance` (per second).
pub fn zero(field: &impl Residual, start: &[f64], step: f64, tolerance: f64) -> Result<Zero, NoEquilibrium> {
    const MOST_STEPS: usize = 500;
    const LONGEST: f64 = 1e12;
    let sizes = field.sizes();
    let bounds = field.bounds();
    let mut point = Point::at(field, start.to_vec(), &bounds, &sizes);
    let mut length = step;
    for _ in 0..MOST_STEPS {
        if point.residual <= tolerance {
            return Ok(Zero { x: point.x, held: point.held, residual: point.residual });
        }
        let Some(next) = point.euler(field, length, &bounds) else {
            length /= 4.0;
            continue;
        };
        let next = Point::at(field, next, &bounds, &sizes);
        let ratio = point.residual / next.residual;
        if !next.residual.is_finite() || ratio < 0.1 {
            length /= 4.0;
            if length < step * 1e-9 {
                break;
            }
            continue;
        }
        length = (length * (1.5 * ratio).clamp(0.5, 10.0)).min(step * LONGEST);
        point = next;
    }
    Err(NoEquilibrium::NotConverged { remaining: point.residual })
}

struct Point {
    x: Vec<f64>,
    f: Vec<f64>,
    held: Vec<bool>,
    residual: f64,
}

impl Point {
    fn at(field: &impl Residual, x: Vec<f64>, bounds: &[(f64, f64)], sizes: &[f64]) -> Self {
        let f = field.value(&x);
        let outward = |i: usize| (x[i] <= bounds[i].0 && f[i] < 0.0) || (x[i] >= bounds[i].1 && f[i] > 0.0);
        let held: Vec<bool> = (0..x.len()).map(outward).collect();
        let free = (0..x.len()).filter(|&i| !held[i]).map(|i| (f[i] / sizes[i]).abs());
        let residual =
            free.fold(0.0, |most: f64, part| if part.is_nan() { f64::INFINITY } else { most.max(part) });
        Self { x, f, held, residual }
    }

    /// x + d with (I / length - J) d = f over the free components, kept within the bounds.
    fn euler(&self, field: &impl Residual, length: f64, bounds: &[(f64, f64)]) -> Option<Vec<f64>> {
        let free: Vec<usize> = (0..self.x.len()).filter(|&i| !self.held[i]).collect();
        let jacobian = field.jacobian(&self.x);
        let matrix = DMatrix::from_fn(free.len(), free.len(), |row, column| {
            let inertia = if row == column { 1.0 / length } else { 0.0 };
            inertia - jacobian[(free[row], free[column])]
        });
        let push = DVector::from_iterator(free.len(), free.iter().map(|&i| self.f[i]));
        let step = matrix.lu().solve(&push)?;
        let mut x = self.x.clone();
        for (row, &i) in free.iter().enumerate() {
            x[i] = (x[i] + step[row]).clamp(bounds[i].0, bounds[i].1);
        }
        x.iter().all(|x| x.is_finite()).then_some(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue and its price: x' = p - x, p' = 2 - x - w, w' = x - 3, w at least 0.
    struct Held;

    impl Residual for Held {
        fn value(&self, x: &[f64]) -> Vec<f64> {
            vec![x[1] - x[0], 2.0 - x[0] - x[2], x[0] - 3.0]
        }

        fn jacobian(&self, _: &[f64]) -> DMatrix<f64> {
            DMatrix::from_row_slice(3, 3, &[-1.0, 1.0, 0.0, -1.0, 0.0, -1.0, 1.0, 0.0, 0.0])
        }

        fn bounds(&self) -> Vec<(f64, f64)> {
            vec![(0.0, 10.0), (0.0, 10.0), (0.0, 10.0)]
        }

        fn sizes(&self) -> Vec<f64> {
            vec![1.0; 3]
        }
    }

    #[test]
    fn a_state_rests_on_its_bound_when_the_field_pushes_outward() {
        let found = zero(&Held, &[7.0, 1.0, 5.0], 0.1, 1e-12).unwrap();
        assert!((found.x[0] - 2.0).abs() < 1e-11 && (found.x[1] - 2.0).abs() < 1e-11, "{found:?}");
        assert_eq!((found.x[2], found.held), (0.0, vec![false, false, true]));
    }

    /// x' = 1 never rests.
    #[test]
    fn no_rest_is_said_to_be_none() {
        struct Rises;
        impl Residual for Rises {
            fn value(&self, _: &[f64]) -> Vec<f64> {
                vec![1.0]
            }

            fn jacobian(&self, _: &[f64]) -> DMatrix<f64> {
                DMatrix::zeros(1, 1)
            }

            fn bounds(&self) -> Vec<(f64, f64)> {
                vec![(f64::NEG_INFINITY, f64::INFINITY)]
            }

            fn sizes(&self) -> Vec<f64> {
                vec![1.0]
            }
        }
        assert_eq!(zero(&Rises, &[0.0], 0.1, 1e-9), Err(NoEquilibrium::NotConverged { remaining: 1.0 }));
    }
}
