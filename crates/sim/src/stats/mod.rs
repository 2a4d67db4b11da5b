//! What is counted: histograms, links, flows.

mod flow;
mod histogram;
mod link;

pub use flow::LoopCounters;
pub(crate) use flow::{ArrivalMeter, SendingMeter};
pub use histogram::Histogram;
pub use link::{IntervalDelay, LinkCounters};
pub(crate) use link::{LinkMeter, Tally};
