//! What the fluid world says of a scenario without running it: where it settles, and whether it stays there.
//!
//! ```text
//!   Scenario --fluid::plan--> equations --settle--> a point of rest --judge--> roots, margins
//!        ^                                                                        |
//!        +------------------------- Knob: round-trip time, flows, a parameter <---+  critical values, maps
//! ```

mod agreement;
mod at_rest;
pub mod explain;
mod json;
mod judge;
mod knob;
mod map;
pub mod motion;
mod refusal;
pub mod sentence;
mod settle;
mod utility;
mod vary;

pub use agreement::{Agreement, Line, Quantity, agreement, side_by_side};
pub use at_rest::{AtRest, GroupAtRest, LinkAtRest, at_rest};
pub use explain::{
    Density, Explanation, Finding, Floor, Growth, Inexplicable, Model, Of, Peak, ReadError, Row, Stretch,
    Swing, Verdict, explain, explanation_json, read_run,
};
pub use json::{equilibrium_json, stability_json};
pub use judge::{Stability, judge};
pub use knob::Knob;
pub(crate) use knob::significant;
pub use map::{Axis, Map, map};
pub use refusal::Refusal;
pub(crate) use settle::present;
pub use settle::{Closed, Settled, settle};
pub use utility::{AlphaFair, Class, Shared, share_out, shared_json, weight};
pub(crate) use vary::longest_rtt;
pub use vary::{Boundary, Search, boundaries, search};
