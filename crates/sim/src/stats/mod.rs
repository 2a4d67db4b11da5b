//! Statistics: histograms, links, flows.

mod flow;
mod histogram;
mod link;
mod weights;

pub use flow::LoopCounters;
pub(crate) use flow::{ArrivalMeter, SendingMeter};
pub use histogram::Histogram;
pub(crate) use link::{HotCounters, LinkMeter};
pub use link::{IntervalDelay, LinkCounters};
