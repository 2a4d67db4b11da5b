//! Whether a scenario stays where it settles, and where stability ends.

mod analysis;
mod axis;
mod critical;
mod json;
mod map;
mod parameter;
mod sentence;

pub(crate) use analysis::judge_linear;
pub use analysis::{Stability, judge};
pub use axis::Axis;
pub use critical::{Boundary, Search, boundaries, search};
pub use json::stability_json;
pub use map::{Map, map};
pub use parameter::Knob;
pub use sentence::verdict;
