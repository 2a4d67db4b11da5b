//! The live world of a scenario: its hosts exchange lab datagrams with its links.
//!
//! ```text
//!   wire      the format of a datagram                       carrier   frames <-> datagrams: no clock, no socket
//!   sender_capture   the datagrams at senders, as a file
//!   checksum  CRC-32C                                        stream_bytes   what flows carry; relay_bytes   what relays store
//! ```

mod carrier;
mod checksum;
mod relay_bytes;
mod sender_capture;
mod stream_bytes;
mod wire;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use carrier::{Carrier, SocketOwner};
pub use sender_capture::{SenderCapture, SenderCaptures};
pub(crate) use wire::{ACK_BYTES, DATA_HEAD, LONGEST as LONGEST_DATAGRAM};
