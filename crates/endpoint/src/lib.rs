//! Sender and receiver of one control loop, for every protocol, without input or output (sans-IO).
//!
//! A **loop** has a [`SenderEnd`], a path and a [`ReceiverEnd`]. Between them travel [`Frame`]s: a [`Segment`] with
//! data forward, an [`Acknowledgement`] back. This crate determines acknowledgement, loss, bytes in flight, RTT samples,
//! round trips, congestion episodes, delivery-rate samples and pacing. The [law](millpond_law) determines window and rate.
//! A [`Relay`] joins two loops of a flow. If several flows share the next loop, they share one sender, which has a
//! queue and a credit for the stream of each ([`StreamConfig`]).
//!
//! ```text
//!   supply --> send buffer --> sent ring --> Segment ~~~~~~~> packet numbers --> streams --> delivered
//!                ^  ^         |                                      |
//!          lost -+  |         +-- loss, rtt, rate, rounds,           v
//!                   |             marks, episodes <~~~~~~ Acknowledgement <-- law::Receiver
//!      window, pace +----- law::Sender <--- Ack, Congestion
//! ```
//!
//! A carrier that has packets of its own takes the facts about its loop from a [`Ledger`], as [`SenderEnd`] does.
//!
//! Nothing here reads a clock or a socket. The driver passes the time and the received frames, polls
//! [`SenderEnd::transmit`] until it returns none, and keeps one timer for each end at its `deadline`.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod ack_ranges;
mod arrivals;
mod chunk;
mod episode;
mod frame;
mod ledger;
mod loop_demands;
mod loss;
mod marks;
mod observer;
mod pace;
mod range_set;
mod rate;
mod receiver;
mod relay;
mod round;
mod rtt;
mod send_buffer;
mod sender;
mod sent;
mod silence;
mod skipped;
mod stream_queues;
mod timeout;

#[cfg(test)]
mod tests;

pub use ack_ranges::AckRanges;
pub use chunk::RelayWait;
pub use frame::{ACK_BYTES, Acknowledgement, Frame, Segment};
pub use ledger::{Ledger, LostPackets};
pub use marks::Marks;
pub use observer::{LossThreshold, RttState, SenderObserver, SenderState};
pub use rate::SendStamp;
pub use receiver::{Honesty, Received, ReceiverConfig, ReceiverCounters, ReceiverEnd};
pub use relay::{Relay, RelayBuffer};
pub use rtt::RttEstimator;
pub use sender::{
    AckOutcome, MeaninglessPermit, MeaninglessValue, NextPacket, SenderConfig, SenderCounters, SenderEnd,
};
pub use silence::{LEAST_SILENCE, Silence};
pub use stream_queues::StreamConfig;
