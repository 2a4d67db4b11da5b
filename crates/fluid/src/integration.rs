//! An integration as those see it who measure, whichever scheme moves it.

use crate::error::Error;

/// An integration under way: it shows itself the same whether its steps are chosen or of one length.
pub trait Integration {
    /// To this time in seconds, but no more than so many steps at once, for those who want to look up meanwhile; says
    /// whether it has arrived.
    ///
    /// # Errors
    /// If there is no solution, or none that can be found: it says why.
    fn advance_some(&mut self, until: f64, steps: u64) -> Result<bool, Error>;

    /// The states now, in the order of [`Assembly::state_columns`](crate::Assembly::state_columns).
    fn state(&self) -> &[f64];

    /// The channels now, in the order of [`Assembly::channel_columns`](crate::Assembly::channel_columns).
    fn channels(&self) -> &[f64];

    /// The integral of each channel since time zero.
    fn integrals(&self) -> &[f64];
}
