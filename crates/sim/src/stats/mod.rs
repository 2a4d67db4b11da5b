//! What is counted: histograms, links, flows.

mod histogram;
mod link;

pub use histogram::Histogram;
pub(crate) use link::LinkMeter;
pub use link::{IntervalDelay, LinkCounters};
