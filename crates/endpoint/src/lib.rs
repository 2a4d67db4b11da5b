//! One sans-IO flow end for every protocol and for both packet worlds.
mod ack_ranges;
mod frame;

pub use ack_ranges::AckRanges;
pub use frame::{ACK_BYTES, Acknowledgement, Frame, Segment};
