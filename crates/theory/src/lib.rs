//! Theory of a scenario: where it is in equilibrium, whether the equilibrium is stable, and how it is reached.
//!
//! ```text
//!   Study --plan--> equations --find_equilibrium--> PlanEquilibrium --analyze_stability--> roots, margins
//!     ^                                                                                         |
//!     +---- VariedParameter: round-trip time, flows, a parameter of a protocol <----------------+  critical values, maps
//! ```

mod capacity;
pub mod classification;
pub mod equilibrium;
mod error;
mod json;
mod progress;
pub mod stability;
pub mod steady_state;
mod study;
pub mod transients;

pub use capacity::{AnalyzedCapacity, ConstantCapacities, NamedCapacity, with_constant_capacities};
pub use error::AnalysisError;
pub use json::{StabilityOutputJson, json_value};
pub use study::Study;
