//! The packet simulator: a deterministic event loop over links and the ends of loops.
//!
//! ```text
//!   SenderEnd --Segment--> [ link ] --> [ link ] --> ReceiverEnd      one loop; a flow is a chain of loops,
//!       ^                                                 |           joined by relays
//!       +------ [ link ] <-- [ link ] <--Acknowledgement--+
//! ```
//!
//! A [`Builder`] takes nodes, links ([`LinkSpec`]) and flows ([`FlowSpec`]) and returns a [`PacketNetwork`], which runs
//! up to a given time and can be inspected between two such calls. A driver with a clock and sockets can carry its frames
//! between hosts and links ([`Departure`], [`Exit`]). A [`SingleLink`] is one of its links on its own. The crate depends on the traits of `millpond-law` and
//! on `millpond-endpoint`, never on a protocol.
//!
//! * **Deterministic**: time is a whole number of picoseconds, events of equal time are handled in the order of insertion,
//!   and every law has its own random stream, seeded by its name and the seed of the run.
//! * **Exact**: over any time, a link serves the integral of its rate, to less than a picosecond.
//! * **Fast**: one event per packet and link, no allocation per packet.

mod application_events;
mod applications;
mod builder;
mod delivery;
mod downstream_feedback;
mod driver;
mod endpoints;
mod event_kind;
mod event_queue;
mod flow_spec;
mod flow_state;
mod link;
mod outside;
mod packet_network;
mod packet_pool;
mod prefetch;
mod processing;
mod schedule;
mod single_link;
mod spawn;
mod stages;
mod stats;
mod transfers;
mod transfers_view;
mod view;

pub use applications::{
    Application, ApplicationSpec, CallSettings, Connections, Page, PageLoads, Playback, RequestPath,
    VideoCall, VideoClient, VideoSettings,
};
pub use builder::{BuildError, Builder};
pub use flow_spec::{AggregateSpec, FlowLoop, FlowSpec, LoopSpec, TransfersSpec, Workload};
pub use link::{Buffer, Jitter, LawView, LinkLayer, LinkSpec, LinkView, Loss, Propagation};
pub use millpond_endpoint::{LEAST_SILENCE, RelayBuffer, RelayWait, Silence};
pub use outside::{Departure, Exit, LoopHosts};
pub use packet_network::PacketNetwork;
pub use processing::Processing;
pub use schedule::{AtEnd, Schedule, ScheduleError};
pub use single_link::{EnteringPacket, LeavingPacket, SingleLink};
pub use stats::{IntervalDelay, LinkCounters, LoopCounters};
pub use transfers::Transfer;
pub use transfers_view::TransfersView;
pub use view::{FlowView, LoopView};

/// Identifies a node of a [`Builder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// Identifies one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u32);

/// Identifies a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub(crate) u32);

/// Identifies a loop that several flows share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AggregateId(pub(crate) u32);

/// Identifies a source of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransfersId(pub(crate) u32);

/// Identifies an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationId(pub(crate) u32);
