//! Zeros of a vector field with bounds.

use crate::frozen::StateBounds;
use nalgebra::{DMatrix, DVector};

/// A vector field x' = f(x) without delays, with its Jacobian.
pub trait Residual {
    /// f(x).
    fn value(&self, x: &[f64]) -> Vec<f64>;

    /// The matrix df/dx.
    fn jacobian(&self, x: &[f64]) -> DMatrix<f64>;

    /// The bounds of each component. At a bound, the field is projected.
    fn bounds(&self) -> Vec<StateBounds>;

    /// The scale of each component, positive; residuals are relative to it.
    fn sizes(&self) -> Vec<f64>;

    /// A negligible value of each component, positive.
    fn floors(&self) -> Vec<f64> {
        self.sizes()
    }
}

/// An equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Zero {
    /// The point.
    pub x: Vec<f64>,
    /// Whether each component is at a bound with the field pointing outwards.
    pub held: Vec<bool>,
    /// The largest |f| of the other components, relative to their value or scale, per second.
    pub residual: f64,
}

/// The end of a search without result.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// The point.
    pub x: Vec<f64>,
    /// The largest |f| there, as in [`Zero`].
    pub residual: f64,
}

/// How a search chooses its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMethod {
    /// Steps grow as fast as the field decreases. It is fast, but may find an unstable equilibrium such as the rate
    /// zero.
    Fast,
    /// No step changes a component by more than half. The search follows an integration until it is near the
    /// equilibrium.
    Cautious,
}

impl SearchMethod {
    fn max_steps(self) -> usize {
        match self {
            Self::Fast => 500,
            Self::Cautious => 4000,
        }
    }

    /// The factor for the next step length; none if this step must be repeated with a shorter length.
    fn length_factor(self, ratio: f64, change: f64) -> Option<f64> {
        const MOST_CHANGE: f64 = 0.5;
        match self {
            Self::Fast => (ratio >= 0.1).then(|| (1.5 * ratio).clamp(0.5, 10.0)),
            Self::Cautious => (change <= MOST_CHANGE).then(|| (MOST_CHANGE / 2.0 / change).clamp(0.5, 2.0)),
        }
    }
}

/// Where a search begins and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchLimits {
    /// Length of the first step in seconds.
    pub first_step: f64,
    /// Largest |f| of an equilibrium, relative to its scale or value, per second.
    pub tolerance: f64,
}

/// Makes implicit Euler steps of increasing length: the search begins as an integration and ends as Newton's method.
///
/// # Errors
/// The last point, if |f| of some component does not fall below the tolerance.
pub fn zero(
    field: &impl Residual,
    start: &[f64],
    limits: SearchLimits,
    manner: SearchMethod,
) -> Result<Zero, Failed> {
    const LONGEST: f64 = 1e12;
    const SHORTEST: f64 = 1e-9;
    let SearchLimits { first_step: step, tolerance } = limits;
    let bounds = field.bounds();
    let mut point = SearchPoint::at(field, start.to_vec(), &bounds);
    let mut length = step;
    for _ in 0..manner.max_steps() {
        if point.residual <= tolerance {
            let point = point.polished(field, step * LONGEST, &bounds);
            return Ok(Zero { x: point.x, held: point.held, residual: point.residual });
        }
        let tried = point.euler(field, length, &bounds).and_then(|(x, change)| {
            let next = SearchPoint::at(field, x, &bounds);
            let factor = manner.length_factor(point.residual / next.residual, change)?;
            next.residual.is_finite().then_some((next, factor))
        });
        let Some((next, factor)) = tried else {
            length /= 4.0;
            if length < step * SHORTEST {
                break;
            }
            continue;
        };
        length = (length * factor).min(step * LONGEST);
        point = next;
    }
    Err(Failed { x: point.x, residual: point.residual })
}

struct SearchPoint {
    x: Vec<f64>,
    f: Vec<f64>,
    held: Vec<bool>,
    residual: f64,
}

impl SearchPoint {
    fn at(field: &impl Residual, x: Vec<f64>, bounds: &[StateBounds]) -> Self {
        let (f, sizes) = (field.value(&x), field.sizes());
        let outward =
            |i: usize| (x[i] <= bounds[i].lower && f[i] < 0.0) || (x[i] >= bounds[i].upper && f[i] > 0.0);
        let held: Vec<bool> = (0..x.len()).map(outward).collect();
        let free = (0..x.len()).filter(|&i| !held[i]).map(|i| (f[i] / sizes[i].max(x[i].abs())).abs());
        let residual =
            free.fold(0.0, |most: f64, part| if part.is_nan() { f64::INFINITY } else { most.max(part) });
        Self { x, f, held, residual }
    }

    /// Newton's method as long as the residual decreases.
    fn polished(self, field: &impl Residual, length: f64, bounds: &[StateBounds]) -> Self {
        const STEPS: usize = 5;
        let mut best = self;
        for _ in 0..STEPS {
            let Some((x, _)) = best.euler(field, length, bounds) else { break };
            let next = Self::at(field, x, bounds);
            if next.held != best.held || next.residual.is_nan() || next.residual >= best.residual {
                break;
            }
            best = next;
        }
        best
    }

    /// One implicit Euler step: x + d with (I / length - J) d = f over the free components, clipped to the bounds; and
    /// the largest relative change before clipping. None if the matrix is singular.
    fn euler(&self, field: &impl Residual, length: f64, bounds: &[StateBounds]) -> Option<(Vec<f64>, f64)> {
        let free: Vec<usize> = (0..self.x.len()).filter(|&i| !self.held[i]).collect();
        if free.is_empty() {
            return None;
        }
        let jacobian = field.jacobian(&self.x);
        let matrix = DMatrix::from_fn(free.len(), free.len(), |row, column| {
            let inertia = if row == column { 1.0 / length } else { 0.0 };
            inertia - jacobian[(free[row], free[column])]
        });
        let push = DVector::from_iterator(free.len(), free.iter().map(|&i| self.f[i]));
        let step = matrix.lu().solve(&push)?;
        let (mut x, floors) = (self.x.clone(), field.floors());
        let mut change = f64::MIN_POSITIVE;
        for (row, &i) in free.iter().enumerate() {
            change = change.max(step[row].abs() / x[i].abs().max(floors[i]));
            x[i] = (x[i] + step[row]).clamp(bounds[i].lower, bounds[i].upper);
        }
        x.iter().all(|x| x.is_finite()).then_some((x, change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue and its price: x' = p - x, p' = 2 - x - w, w' = x - 3 with w >= 0.
    struct Held;

    impl Residual for Held {
        fn value(&self, x: &[f64]) -> Vec<f64> {
            vec![x[1] - x[0], 2.0 - x[0] - x[2], x[0] - 3.0]
        }

        fn jacobian(&self, _: &[f64]) -> DMatrix<f64> {
            DMatrix::from_row_slice(3, 3, &[-1.0, 1.0, 0.0, -1.0, 0.0, -1.0, 1.0, 0.0, 0.0])
        }

        fn bounds(&self) -> Vec<StateBounds> {
            vec![StateBounds { lower: 0.0, upper: 10.0 }; 3]
        }

        fn sizes(&self) -> Vec<f64> {
            vec![1.0; 3]
        }
    }

    #[test]
    fn a_state_is_held_at_its_bound_if_the_field_points_outwards() {
        for manner in [SearchMethod::Fast, SearchMethod::Cautious] {
            held_at(
                &zero(&Held, &[7.0, 1.0, 5.0], SearchLimits { first_step: 0.1, tolerance: 1e-12 }, manner)
                    .unwrap(),
            );
        }
    }

    fn held_at(found: &Zero) {
        assert!((found.x[0] - 2.0).abs() < 1e-11 && (found.x[1] - 2.0).abs() < 1e-11, "{found:?}");
        assert_eq!((found.x[2], &found.held[..]), (0.0, &[false, false, true][..]));
    }

    /// x' = 1 has no equilibrium.
    #[test]
    fn a_field_without_equilibrium_is_an_error() {
        struct Rises;
        impl Residual for Rises {
            fn value(&self, _: &[f64]) -> Vec<f64> {
                vec![1.0]
            }

            fn jacobian(&self, _: &[f64]) -> DMatrix<f64> {
                DMatrix::zeros(1, 1)
            }

            fn bounds(&self) -> Vec<StateBounds> {
                vec![StateBounds { lower: f64::NEG_INFINITY, upper: f64::INFINITY }]
            }

            fn sizes(&self) -> Vec<f64> {
                vec![1.0]
            }
        }
        let found =
            zero(&Rises, &[0.0], SearchLimits { first_step: 0.1, tolerance: 1e-15 }, SearchMethod::Fast);
        assert!(found.is_err(), "{found:?}");
    }

    /// x' = x (1 - x) has the equilibria 1 and 0; the latter is unstable.
    struct Grows;

    impl Residual for Grows {
        fn value(&self, x: &[f64]) -> Vec<f64> {
            vec![x[0] * (1.0 - x[0])]
        }

        fn jacobian(&self, x: &[f64]) -> DMatrix<f64> {
            DMatrix::from_element(1, 1, 1.0 - 2.0 * x[0])
        }

        fn bounds(&self) -> Vec<StateBounds> {
            vec![StateBounds { lower: 1e-6, upper: f64::INFINITY }]
        }

        fn sizes(&self) -> Vec<f64> {
            vec![1.0]
        }

        fn floors(&self) -> Vec<f64> {
            vec![1e-9]
        }
    }

    #[test]
    fn a_cautious_search_leaves_a_repelling_point() {
        let found = zero(
            &Grows,
            &[1e-6],
            SearchLimits { first_step: 1e-3, tolerance: 1e-12 },
            SearchMethod::Cautious,
        )
        .unwrap();
        assert!((found.x[0] - 1.0).abs() < 1e-10, "{found:?}");
    }
}
