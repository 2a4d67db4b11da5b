//! Numbers of a summary that are computed from measured values: spreads, quartiles, times of convergence.

mod convergence;
mod spread;

pub use convergence::converged_from;
pub use spread::{quartiles, spread};
