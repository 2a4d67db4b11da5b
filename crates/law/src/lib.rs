//! The interfaces of control laws.
//!
//! A **law** is a pure algorithm without access to clocks and sockets. It reads time and random numbers from its
//! [`Context`]. Each event calls one function with one struct ([`Ack`], [`Congestion`], ...). The law returns a
//! [`Permit`] or a [`Verdict`], or writes the bytes of its [`Header`].
//!
//! ```text
//!              Start, Ack, Congestion, Rate (capacity), timer
//!                              |
//!                              v
//!   Permit <------------- [ Sender ] ----- stamp: Header -----> packet
//!   window [B], pace [bit/s]                                       |
//!                                                                  v
//!                        Verdict <-------- [ Link ] <------- PacketView, QueueView
//!                        keep|mark|drop        |
//!                                              v
//!   Ack.header <--------- Echo <-------- [ Receiver ] <----- Data, RelayView
//! ```
//!
//! The same law as differential equations is a [`fluid::FluidModel`] (feature `fluid`).
//!
//! A [`Protocol`] constructs the three laws and declares its needs and its parameters ([`key`]). A crate outside this
//! repository can implement a protocol with this crate only.

#![cfg_attr(not(test), no_std)]

extern crate alloc;
#[cfg(all(feature = "fluid", not(test)))]
extern crate std;

mod event;
mod flow_queues;
#[cfg(feature = "fluid")]
pub mod fluid;
mod gauge;
mod header;
pub mod key;
mod link;
mod multi_queue;
mod parameter;
mod protocol;
mod receiver;
mod scheduler;
mod sender;
mod settings;
mod value;

pub use event::{Ack, Cause, Congestion, Episode, Event, LimitedBy, LostPacket, SpuriousLoss, Start};
pub use flow_queues::{Classifier, FlowQueues, Overflow};
pub use gauge::Gauge;
pub use header::{Ecn, HEADER_BYTES, Header, HeaderId, RateField, Unread};
pub use link::{Hooks, Link, LinkFacts, PacketKind, PacketView, QueueView, Verdict};
pub use millpond_stats::Random;
pub use multi_queue::{MultiQueue, QueueLaw, QueuedFlow, Victims};
pub use parameter::{Bounds, Domain, Parameter, Presets};
pub use protocol::{Card, HeaderSize, Knowledge, Needs, Protocol, Queue, QueueCard, QueueChoice};
pub use receiver::{Data, Echo, PlainReceiver, Receiver, RelayView, Sharing};
pub use scheduler::{DeficitRoundRobin, FairScheduler, FlowQueueing, Queues, Scheduler, StrictPriority};
pub use sender::{Permit, Probes, Sender, deliver};
pub use settings::Settings;
pub use value::{SettingError, Value};

use millpond_units::Time;

/// What a law can read besides the event itself.
pub struct Context<'a> {
    /// The current time.
    pub now: Time,
    /// The random stream of this entity.
    pub random: &'a mut Random,
}
