//! One sans-IO flow end for every protocol and for both packet worlds.
//!
//! A **loop** has a [`SenderEnd`], a path and a [`ReceiverEnd`]. Between them travel [`Frame`]s: a [`Segment`] with
//! data, an [`Acknowledgement`] back. This crate decides what is acknowledged, lost, in flight, a round trip, a
//! round, an episode, a rate sample, and when a packet may leave; the [law](millpond_law) decides how much. A
//! [`Relay`] joins two loops; where several flows go on
//! together, one sending end is shared by them, with a queue and a credit for each [`Member`].
//!
//! ```text
//!   supply --> stream --> sent ring --> Segment ~~~~~~~~~~~~~> packet numbers --> stream --> delivered
//!                ^  ^         |                                      |
//!          lost -+  |         +-- loss, rtt, rate, rounds,           v
//!                   |             marks, episodes <~~~~~~ Acknowledgement <-- law::Receiver
//!      window, pace +----- law::Sender <--- Ack, Congestion
//! ```
//!
//! Nothing here reads a clock or a socket: a driver passes the time in, hands over what arrives, polls
//! [`SenderEnd::transmit`] until it is empty, and keeps one timer per end at its `deadline`.

mod ack_ranges;
mod arrivals;
mod episode;
mod event_log;
mod fair_scheduler;
mod frame;
mod loss;
mod marks;
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
mod stream_queues;
mod timeout;

#[cfg(test)]
mod tests;

pub use ack_ranges::AckRanges;
pub use event_log::{Recorder, Recording};
pub use fair_scheduler::FairTurns;
pub use frame::{ACK_BYTES, Acknowledgement, Frame, Segment};
pub use receiver::{Received, ReceiverConfig, ReceiverCounters, ReceiverEnd};
pub use relay::Relay;
pub use sender::{AckOutcome, SenderConfig, SenderCounters, SenderEnd};
pub use stream_queues::Member;
