//! From a TOML file to a typed scenario, with errors that point at the line; traces: reading, generating, judging.

mod model;
mod network;
mod place;
mod schedule;
mod source;
pub mod trace;

pub use model::{
    Buffer, Capacity, Delay, DelayedAcks, Direction, FlowGroup, Hop, Lasting, Link, Loss, Measure,
    ProtocolEntry, QueueSpec, Relays, Scenario, Scheduler, Setting, Size, Start, Stop, Value, Workload,
};
pub use place::{At, Place};
pub use schedule::{End, Schedule};
pub use source::{Fault, Faults, Sources};
