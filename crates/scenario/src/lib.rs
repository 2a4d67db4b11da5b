//! From a TOML file to a typed scenario, with errors that point at the line; traces: reading, generating, judging.

mod fields;
mod files;
mod graphml;
mod load;
mod model;
mod network;
mod overrides;
mod place;
mod read;
mod schedule;
mod served;
mod shorthand;
mod source;
pub mod trace;
mod tree;
mod write;

pub use files::{Disk, Files};
pub use model::{
    Activity, Buffer, Capacity, Delay, DelayedAcks, Direction, FlowGroup, Gap, Hop, Lasting, Link, Loss,
    Measure, Method, ProtocolEntry, QueueSpec, Relays, Rtt, Scenario, Scheduler, Setting, Size, Start, Stop,
    Value, Workload,
};
pub use place::{At, Place};
pub use schedule::{End, Schedule};
pub use source::{Fault, Faults, Sources};
