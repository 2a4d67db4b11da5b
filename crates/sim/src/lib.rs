//! The packet world: a deterministic event loop over links and the ends of flows.
//!
//! ```text
//!   SenderEnd --Segment--> [ link ] --> [ link ] --> ReceiverEnd      one loop; a flow is a chain of them,
//!       ^                                                 |           joined by relays
//!       +------ [ link ] <-- [ link ] <--Acknowledgement--+
//! ```
//!
//! A [`Builder`] takes nodes, links ([`LinkSpec`]) and flows ([`FlowSpec`]) and makes a [`Network`], which runs
//! from time to time and can be looked at in between. It knows the traits of `millpond-law` and the ends of
//! `millpond-endpoint`, never a protocol.
//!
//! * **Deterministic**: time is whole picoseconds, events of one time happen in the order in which they were
//!   caused, and every law draws from a stream of its own, named after it and the seed.
//! * **Exact**: a link serves the integral of its rate, to less than a picosecond, over any time.
//! * **Fast**: one event per packet and link, none per packet on the wire, no allocation per packet.

mod builder;
mod delivery;
mod endpoints;
mod event_queue;
mod flow_spec;
mod flow_state;
mod link;
mod packet_pool;
mod schedule;
mod simulation;
mod spawn;
mod stages;
mod stats;
mod view;

pub use builder::{BuildError, Builder};
pub use flow_spec::{AggregateSpec, FlowSpec, Leg, LoopSpec, TransfersSpec, Workload};
pub use link::{Buffer, Jitter, LinkSpec, LinkView, Loss, Propagation, Scheduler};
pub use schedule::{AtEnd, Schedule, ScheduleError};
pub use simulation::Network;
pub use spawn::{Transfer, TransfersView};
pub use stats::{Histogram, IntervalDelay, LinkCounters, LoopCounters};
pub use view::{FlowView, LoopView};

/// A node of a [`Builder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u32);

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub(crate) u32);

/// A loop that several flows share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AggregateId(pub(crate) u32);

/// A source of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransfersId(pub(crate) u32);
