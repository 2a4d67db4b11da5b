//! The equilibrium of an assembled network: a zero of its vector field without delays.

use super::zero::{Failed, SearchLimits, SearchMethod};
use super::{NoEquilibrium, Residual, zero};
use crate::frozen::{Frozen, FrozenState, OperatingPoint, StateBounds};
use nalgebra::DMatrix;

/// The vector field of a frozen network.
struct Collapsed<'a, 'b>(&'b Frozen<'a>);

impl Residual for Collapsed<'_, '_> {
    fn value(&self, x: &[f64]) -> Vec<f64> {
        self.0.at(x).map_or_else(|_| vec![f64::NAN; x.len()], |point| point.raw)
    }

    fn jacobian(&self, x: &[f64]) -> DMatrix<f64> {
        let jacobian = self.0.at(x).ok().and_then(|point| self.0.jacobian(&point));
        jacobian.unwrap_or_else(|| DMatrix::from_element(x.len(), x.len(), f64::NAN))
    }

    fn bounds(&self) -> Vec<StateBounds> {
        self.0.bounds()
    }

    fn sizes(&self) -> Vec<f64> {
        self.0.sizes()
    }

    fn floors(&self) -> Vec<f64> {
        self.0.floors()
    }
}

/// An equilibrium of a network.
#[derive(Clone)]
pub struct EquilibriumPoint<'a> {
    /// The network; queues that slide on a jump are modelled by a ramp.
    pub frozen: Frozen<'a>,
    /// The states, derivatives and channels.
    pub point: OperatingPoint,
    /// Whether the Jacobian without delays has a positive real eigenvalue. The network never stays at such an
    /// equilibrium; an example is the rate zero of a law that increases multiplicatively.
    pub is_repelling: bool,
}

/// Searches an equilibrium from these states.
///
/// # Errors
/// [`NoEquilibrium::NotConverged`] or [`NoEquilibrium::Grows`].
pub fn search<'a>(
    frozen: &Frozen<'a>,
    start: &[f64],
    manner: SearchMethod,
) -> Result<EquilibriumPoint<'a>, NoEquilibrium> {
    const LIMITS: SearchLimits = SearchLimits { first_step: 1e-3, tolerance: 1e-7 };
    let FrozenState { frozen: stretched, x: start } = frozen.with_stretched_queues(start);
    let found = zero(&Collapsed(&stretched), &start, LIMITS, manner);
    let found = found.map_err(|failed| stretched.reason(&failed))?;
    if let Some(link) = stretched.growing_queue(&found.x) {
        return Err(NoEquilibrium::Grows { link });
    }
    let lost = |_| NoEquilibrium::NotConverged { remaining: found.residual };
    let is_repelling = stretched.at(&found.x).is_ok_and(|point| is_repelling(&stretched, &point));
    let FrozenState { frozen, x } = stretched.with_exact_queues(&found.x);
    let point = frozen.at(&x).map_err(lost)?;
    Ok(EquilibriumPoint { frozen, point, is_repelling })
}

/// The equilibrium near these states: by the fast method or, if that fails, by the cautious one.
///
/// # Errors
/// Those of [`search`].
pub fn equilibrium_near(frozen: &Frozen<'_>, start: &[f64]) -> Result<OperatingPoint, NoEquilibrium> {
    let found = search(frozen, start, SearchMethod::Fast).ok().filter(|found| !found.is_repelling);
    found.map_or_else(|| search(frozen, start, SearchMethod::Cautious), Ok).map(|found| found.point)
}

impl Frozen<'_> {
    /// The reason why a search failed.
    fn reason(&self, failed: &Failed) -> NoEquilibrium {
        match self.growing_queue(&failed.x) {
            Some(link) => NoEquilibrium::Grows { link },
            None => NoEquilibrium::NotConverged { remaining: failed.residual },
        }
    }

    /// A link whose queueing delay exceeds twenty seconds.
    fn growing_queue(&self, x: &[f64]) -> Option<usize> {
        const LONGEST_QUEUEING: f64 = 20.0;
        (0..self.links()).find(|link| x[self.queue_state(*link)] > LONGEST_QUEUEING * self.capacity(*link))
    }
}

/// Whether the Jacobian has a positive real eigenvalue; false for a network with more than 300 states.
fn is_repelling(frozen: &Frozen<'_>, point: &OperatingPoint) -> bool {
    const LARGE: usize = 300;
    const POSITIVE: f64 = 1e-6;
    let free: Vec<usize> = (0..point.x.len()).filter(|i| !point.is_held(*i)).collect();
    if !(1..=LARGE).contains(&free.len()) {
        return false;
    }
    let Some(jacobian) = frozen.jacobian(point) else { return false };
    let mut jacobian = DMatrix::from_fn(free.len(), free.len(), |i, j| jacobian[(free[i], free[j])]);
    nalgebra::linalg::balancing::balance_parlett_reinsch(&mut jacobian);
    let Some(schur) = nalgebra::linalg::Schur::try_new(jacobian, 1e-14, 10_000) else { return false };
    let grows = |s: &nalgebra::Complex<f64>| s.re > POSITIVE && s.im.abs() < POSITIVE * s.re;
    schur.complex_eigenvalues().iter().any(grows)
}
