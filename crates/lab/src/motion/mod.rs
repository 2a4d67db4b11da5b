//! How a scenario moves about where it settles: phase portraits, answers to steps, times of convergence. All from the delay
//! equations themselves; what the rightmost root alone would predict stands beside.
//!
//! ```text
//!   Settled --Observable, Starts--> Portrait: trajectories from a grid, where each leads
//!       \----Step------------------> Answer:   rates and queues, rise, overshoot, settling
//!   Scenario --Knob----------------> Convergence: time to rest over a knob
//! ```

mod convergence;
mod json;
mod observe;
mod portrait;
mod start;
mod steps;

pub use convergence::{Asked, Convergence, converge};
pub use json::{convergence_json, portrait_json, step_json};
pub use observe::{Observable, bottlenecks, observables, pick};
pub use portrait::{Path, Portrait, portrait};
pub use start::{Along, Starts};
pub use steps::{Answer, Answered, Step, answer};

use millpond_fluid::stability::Root;

/// A trajectory has settled when it stays within this share of how far from rest it went.
pub const BAND: f64 = millpond_fluid::motion::BAND;

/// For how long motions are followed: until a disturbance that dies out like the rightmost root is `e^-times` of itself,
/// but no less than 30 and no more than 600 round trips.
#[must_use]
pub fn horizon(root: Option<&Root>, longest_rtt: f64, times: f64) -> f64 {
    const LEAST: f64 = 30.0;
    const MOST: f64 = 600.0;
    let slow = root.map_or(0.0, |root| times / root.s.re.abs());
    slow.clamp(LEAST * longest_rtt, MOST * longest_rtt)
}
