//! Theory of a scenario: where it is in equilibrium, whether the equilibrium is stable, how it is reached, why a run behaves
//! as it does, and how far the worlds agree.
//!
//! ```text
//!   Study --plan--> equations --find_equilibrium--> PlanEquilibrium --analyze_stability--> roots, margins
//!     ^                                                                                         |
//!     +---- VariedParameter: round-trip time, flows, a parameter of a protocol <----------------+  critical values, maps
//! ```

pub mod agreement;
mod capacity;
pub mod classification;
pub mod equilibrium;
mod error;
pub mod explain;
mod format;
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
