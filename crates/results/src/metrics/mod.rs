//! What is computed from what was measured: fairness, convergence, percentiles.

mod convergence;
mod fairness;
mod interval;
mod max_min;
mod quantile;

pub use convergence::converged_from;
pub use fairness::{jain, min_over_max, short_term};
pub use interval::{Estimate, estimate};
pub use max_min::{companies, max_min};
pub use quantile::{quantile, quartiles, spread};
