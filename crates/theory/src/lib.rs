//! What the fluid world says of a scenario without running it: where it settles, and whether it stays there.
//!
//! ```text
//!   Scenario --fluid::plan--> equations --settle--> a point of rest --judge--> roots, margins
//!        ^                                                                        |
//!        +------------------------- Knob: round-trip time, flows, a parameter <---+  critical values, maps
//! ```

mod agreement;
mod equilibrium;
pub mod explain;
mod refusal;
mod stability;
pub mod transients;

pub use agreement::{Agreement, Line, Quantity, agreement, side_by_side};
pub use equilibrium::{
    AlphaFair, AtRest, Class, Closed, GroupAtRest, LinkAtRest, Settled, Shared, at_rest, equilibrium_json,
    settle, share_out, shared_json, weight,
};
pub use explain::{
    Density, Explanation, Finding, Floor, Growth, Inexplicable, Model, Of, Peak, ReadError, Row, Stretch,
    Swing, Verdict, explain, explanation_json, read_run,
};
pub use refusal::Refusal;
pub use stability::{
    Axis, Boundary, Knob, Map, Search, Stability, boundaries, judge, map, search, stability_json,
};
pub use transients as motion;

/// The answers of the analyses, each in one sentence.
pub mod sentence {
    pub use crate::stability::verdict;
    pub use crate::transients::sentence::{convergence_sentence, portrait_sentence, seconds, step_sentence};
}
