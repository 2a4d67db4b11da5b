//! Statistics of links and flows.

mod flow;
mod link;

pub use flow::LoopCounters;
pub(crate) use flow::{ArrivalMeter, SendingMeter};
pub(crate) use link::{HotCounters, LinkMeter};
pub use link::{IntervalDelay, LinkCounters};
