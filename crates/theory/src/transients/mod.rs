//! How a scenario moves about where it settles: phase portraits, answers to steps, times of convergence. All from the delay
//! equations themselves; what the rightmost root alone would predict stands beside.
//!
//! ```text
//!   Settled --Observable, Starts--> Portrait: trajectories from a grid, where each leads
//!       \----Step------------------> Answer:   rates and queues, rise, overshoot, settling
//!   Scenario --Knob----------------> Convergence: time to rest over a knob
//! ```

mod convergence;
mod initial;
mod json;
mod observable;
mod phase_portrait;
pub mod sentence;
mod step_change;
mod step_response;

pub use convergence::{Asked, Convergence, converge};
pub use initial::{Along, Starts, is_single};
pub use json::{convergence_json, portrait_json, step_json};
pub use observable::{Observable, bottlenecks, observables, pick};
pub use phase_portrait::{Path, Portrait, portrait};
pub use step_change::Step;
pub use step_response::{Answer, Answered, answers};

use crate::equilibrium::longest_rtt;
use millpond_fluid::stability::{Linearized, Root, rightmost};
use millpond_fluid::{Frozen, OperatingPoint};
use millpond_plan::fluid::Plan;

/// A trajectory has settled when it stays within this share of how far from rest it went.
pub const BAND: f64 = millpond_fluid::motion::BAND;

/// For how long motions are followed: until a disturbance that dies out like the slowest root is `e^-times` of itself,
/// but no less than 30 and no more than 600 of the longest round trips; 100 of them where no root is known.
fn horizon(root: Option<&Root>, plan: &Plan, times: f64) -> f64 {
    const LEAST: f64 = 30.0;
    const MOST: f64 = 600.0;
    const UNKNOWN: f64 = 100.0;
    let rtt = longest_rtt(plan);
    let slow = root.map_or(UNKNOWN * rtt, |root| times / root.s.re.abs());
    slow.clamp(LEAST * rtt, MOST * rtt)
}

/// The rightmost root about a point of rest, but for those at zero: along a line of points of rest nothing happens.
fn slowest(frozen: &Frozen<'_>, rest: &OperatingPoint) -> Option<Root> {
    rightmost(&Linearized::of(frozen, rest).system).ok()?.first_nonzero().copied()
}
