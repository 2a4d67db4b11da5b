//! The classification of a scenario's steady state, which `equilibrium`, `stability` and `--explain` share.
//!
//! ```text
//!   plan --find_equilibrium--> equilibrium --classify--> SteadyState: fixed point, continuum, limit cycle, sawtooth, none
//!     \--SteadyStateFacts of each law--------^              \--> sentences of equilibrium, stability and --explain
//! ```

mod analyze;
mod cycle;
mod json;

pub use analyze::{SteadyStateAnalysis, analyze_steady_state, analyze_steady_state_at};
pub use json::{EquilibriumOutputJson, equilibrium_output_json};
