//! What a control law is in Millpond.
//!
//! A **law** is a pure algorithm: it knows no clock and no socket. Time and random draws come in through its
//! [`Context`]; what happened comes in as one named event with one record of facts ([`Ack`], [`Congestion`], ...);
//! what it wants goes out as a [`Permit`], a [`Verdict`] or the bytes of its [`Header`].
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
//! The same law as differential equations is a [`fluid::FluidModel`].
//!
//! A [`Protocol`] names the three, its needs and its parameters. A crate outside this repository implements one
//! with this crate alone.

mod event;
pub mod fluid;
mod gauge;
mod header;
pub mod key;
mod link;
mod parameter;
mod protocol;
mod random;
mod receiver;
mod sender;
mod settings;

pub use event::{Ack, Cause, Congestion, Episode, Event, Start, deliver};
pub use gauge::Gauge;
pub use header::{Ecn, HEADER_BYTES, Header, HeaderId, Unread};
pub use link::{Hooks, Kind, Link, LinkFacts, PacketView, QueueView, Verdict};
pub use parameter::{Bounds, Domain, Parameter};
pub use protocol::{Card, Knowledge, Needs, Pipe, Protocol, Queue, QueueCard, QueueChoice};
pub use random::Random;
pub use receiver::{Data, Echo, PlainReceiver, Receiver, RelayView, Sharing};
pub use sender::{Permit, Sender};
pub use settings::{SettingError, Settings, Value, nearest};

use millpond_units::Time;

/// What a law may know of the world besides the event itself.
pub struct Context<'a> {
    /// The present.
    pub now: Time,
    /// This entity's own random stream: no other entity's draws disturb it.
    pub random: &'a mut Random,
}
