//! Applications that decide when their flows have data: they react to data that has arrived, or to the rate that a flow may
//! send at.
//!
//! ```text
//!   Application --supply--> SenderEnd --> links --> ReceiverEnd --prefix of the stream--+
//!        ^                                                                             |
//!        +-----------------------------------------------------------------------------+
//! ```
//!
//! A client and its server are one [`Application`]. A request is not a packet: it reaches the server after a constant time
//! ([`RequestPath`]).

mod call;
mod pages;
mod requests;
mod video;

pub use call::{CallSettings, VideoCall};
pub use pages::{Page, PageLoads};
pub use requests::RequestPath;
pub use video::{VideoClient, VideoSettings};

use crate::FlowId;
use crate::stages::StreamRef;
use crate::transfers::Transfer;
use millpond_units::{Bytes, Rate, Span, Time};

/// What an application can do with its flows, which it numbers from zero.
pub trait Connections {
    /// Adds bytes to the data of a flow, at its source.
    fn supply(&mut self, connection: usize, bytes: Bytes);
    /// The rate on the wire at which the source of a flow may send; none before it has an RTT sample.
    fn allowed_rate(&self, connection: usize) -> Option<Rate>;
}

/// An application over one or several flows.
pub trait Application: Send {
    /// Does what is due at `now`; called at the start and at [`Self::next`].
    fn on_time(&mut self, now: Time, connections: &mut dyn Connections);
    /// The first `prefix` bytes of a flow have arrived.
    fn on_arrival(&mut self, now: Time, connection: usize, prefix: Bytes, connections: &mut dyn Connections);
    /// When it is to be called next; [`Time::NEVER`] if it waits for data.
    fn next(&self) -> Time;
    /// Its pages, segments or frames so far, in the order of their beginning.
    fn transfers(&self) -> &[Transfer];
    /// Discards the statistics so far.
    fn start_measuring(&mut self, _now: Time) {}
    /// What the viewer of a video has seen since the measurement began.
    fn playback(&self, _now: Time) -> Option<Playback> {
        None
    }
}

/// What the viewer of an adaptive video has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Playback {
    /// Mean bitrate of the segments that arrived, in bit/s; none if none did.
    pub bitrate: Option<f64>,
    /// How long playback stood still after it had begun.
    pub rebuffering: Span,
    /// How often the bitrate changed from one segment to the next.
    pub switches: u64,
    /// The time from the start to the first picture, since the run began; none before it.
    pub startup: Option<Span>,
}

/// Specification of an application.
pub struct ApplicationSpec {
    /// Its flows, with [`Workload::Requested`](crate::Workload::Requested).
    pub flows: Vec<FlowId>,
    /// When it starts; not before its flows.
    pub start: Time,
    /// From when on it does nothing more.
    pub until: Time,
    /// What it does.
    pub application: Box<dyn Application>,
}

/// State of an application.
pub(crate) struct ApplicationState {
    /// The source stream of each of its flows.
    pub(crate) sources: Vec<StreamRef>,
    pub(crate) until: Time,
    pub(crate) application: Box<dyn Application>,
    /// The time of its pending event; the first is that of its start.
    pub(crate) scheduled: Time,
    /// Loops whose source it has just supplied; empty between events.
    pub(crate) supplied: Vec<u32>,
}
