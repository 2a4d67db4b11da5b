//! The common interface of both integration schemes.

use crate::error::Error;

/// A threshold along which a solution slides.
#[derive(Clone, Debug, PartialEq)]
pub struct SlidingThreshold {
    /// The guard and its entity.
    pub guard: String,
    /// When it got its hysteresis, in seconds.
    pub since: f64,
}

/// An integration in progress, with adaptive or fixed steps.
pub trait Integration {
    /// Advances to the time `until` in seconds, but by at most `steps` steps. Returns whether `until` has been reached.
    ///
    /// # Errors
    /// If the equations have no solution or the scheme cannot find it; the error states the cause.
    fn advance_some(&mut self, until: f64, steps: u64) -> Result<bool, Error>;

    /// The present states, in the order of [`Assembly::state_columns`](crate::Assembly::state_columns).
    fn state(&self) -> &[f64];

    /// The present discrete states of laws, in the order of
    /// [`Assembly::discrete_columns`](crate::Assembly::discrete_columns).
    fn discrete(&self) -> &[u64];

    /// The present channels, in the order of [`Assembly::channel_columns`](crate::Assembly::channel_columns).
    fn channels(&self) -> &[f64];

    /// The integral of each channel since time zero.
    fn integrals(&self) -> &[f64];

    /// The thresholds along which the solution has slid so far; fixed steps need no such mode.
    fn sliding_thresholds(&self) -> Vec<SlidingThreshold> {
        Vec::new()
    }
}
