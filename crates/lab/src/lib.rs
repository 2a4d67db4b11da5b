//! Runs a scenario: plans it, lets its world run, and measures both worlds in one form.
//!
//! ```text
//!   Scenario --plan--> Plan --run--> Run
//!       \--cases--> one Scenario per protocol, world and seed --compare--> Runs
//! ```

mod compare;
mod distributions;
mod error;
mod fairness;
mod fluid;
mod packets;
mod stopwatch;
mod ticks;
mod world;

pub use compare::{Case, Choice, cases, compare};
pub use error::Error;
pub use world::run;
