//! The events at a sender in the format qlog, version 0.3, as a sequence of JSON texts (RFC 7464):
//! draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-02, the newest version that qvis reads.
//!
//! ```text
//!   SenderEnd --SenderObserver--> QlogWriter --records--> W
//! ```
//!
//! A loop takes the place of a QUIC connection, its sender that of the client. Its packets have no encryption; they are written as
//! packets of type 1RTT, because qlog has no other type for packets after the handshake.

mod record;
mod writer;

pub use writer::{QlogWriter, WriteFailure};
