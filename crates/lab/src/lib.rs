//! The only crate that knows everything: scenario to plan to run to results; metrics; recipes; the report.
//!
//! ```text
//!   Scenario --plan--> Plan --run--> Run --> files, tables, report
//!       \--cases--> one Scenario per protocol and seed --compare--> Runs
//! ```

mod agreement;
pub mod analysis;
mod compare;
mod error;
pub mod files;
pub mod fluid;
pub mod metrics;
pub mod motion;
pub mod plan;
pub mod recipes;
pub mod report;
pub mod results;
mod run;
pub mod tables;
mod watch;

pub use agreement::{Agreement, Line, Quantity, agreement};
pub use compare::{Case, Choice, cases, compare};
pub use error::Error;
pub use run::{About, Finished, World, run};
pub use watch::{Unwatched, Watch};
