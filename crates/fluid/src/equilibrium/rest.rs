//! The equilibrium of an assembled network: a zero of its vector field.

use super::{NoEquilibrium, Residual, zero};
use crate::frozen::{Frozen, Moment};
use nalgebra::DMatrix;

/// The network with every delay collapsed.
struct Collapsed<'a, 'b>(&'b Frozen<'a>);

impl Residual for Collapsed<'_, '_> {
    fn value(&self, x: &[f64]) -> Vec<f64> {
        self.0.at(x).map_or_else(|_| vec![f64::NAN; x.len()], |moment| moment.raw)
    }

    fn jacobian(&self, x: &[f64]) -> DMatrix<f64> {
        let jacobian = self.0.at(x).ok().and_then(|moment| self.0.jacobian(&moment));
        jacobian.unwrap_or_else(|| DMatrix::from_element(x.len(), x.len(), f64::NAN))
    }

    fn bounds(&self) -> Vec<(f64, f64)> {
        self.0.bounds()
    }

    fn sizes(&self) -> Vec<f64> {
        self.0.sizes()
    }
}

/// Where the network rests, searched from these states: an integration without delays that ends as Newton's method.
///
/// # Errors
/// [`NoEquilibrium::NotConverged`] if it does not come to rest.
pub fn rest(frozen: &Frozen<'_>, start: &[f64]) -> Result<Moment, NoEquilibrium> {
    const FIRST_STEP: f64 = 1e-3;
    const STILL: f64 = 1e-7;
    let found = zero(&Collapsed(frozen), start, FIRST_STEP, STILL)?;
    frozen.at(&found.x).map_err(|_| NoEquilibrium::NotConverged { remaining: found.residual })
}
