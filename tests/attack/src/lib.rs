//! The attack: random valid scenarios, invariants of their runs, and relations between runs.
//!
//! ```text
//!   number or bytes --> Choices --> Case --> TOML --> Scenario --> runs in its world, analyses
//!                                     \--> related cases (other units, one more flow, a split link, ..)
//! ```
//!
//! Scenario `number` of a kind is always the same. A scenario that breaks an invariant is written to a file, and
//! `make attack KIND=loops NUMBER=17` runs scenario 17 of the kind `loops` alone.

mod analyses;
mod attack;
mod case;
mod choices;
mod fluid;
mod generator;
mod kind;
mod packets;
mod relations;
mod results;
mod topology;

pub use attack::{Attacked, analyze_bytes, attack, attack_bytes, run_case, write_failure};
pub use case::{Case, Units};
pub use choices::Choices;
pub use generator::{generate, scenario};
pub use kind::Kind;
pub use relations::Relation;

/// Returns an error with this message if the condition is false.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if $condition {
        } else {
            return Err(format!($($message)+));
        }
    };
}
pub(crate) use ensure;
