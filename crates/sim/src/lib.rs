//! x
mod events;
mod link;
mod packets;
mod schedule;
mod stats;
pub use link::{Buffer, Jitter, LinkSpec, LinkView, Loss, Propagation, Scheduler};
pub use schedule::{AtEnd, Schedule, ScheduleError};
pub use stats::{Histogram, IntervalDelay, LinkCounters};
/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);
