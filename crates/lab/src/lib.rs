//! The only crate that knows everything: scenario to plan to run to results; metrics; recipes; the report.

pub mod files;
pub mod metrics;
pub mod recipes;
pub mod report;
pub mod results;
