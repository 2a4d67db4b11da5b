//! Data that a relay forwards, before it is sent.

use crate::sent::StreamData;
use millpond_units::{Span, Time};

/// Where data that a relay forwards came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Origin {
    /// When the first sender of the flow first sent it.
    pub(crate) origin_time: Time,
    /// Its queueing delay up to its arrival at this relay.
    pub(crate) queueing: Span,
    /// When it arrived at this relay.
    pub(crate) arrived_at: Time,
    /// True if a queue of an earlier loop set a CE mark on it.
    pub(crate) marked: bool,
}

/// Consecutive bytes of a stream that arrived from an earlier loop and have not been sent yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) origin: Origin,
}

impl Chunk {
    /// Removes the first `payload` bytes, to be sent now. `total`: the length of the whole stream in bytes, if known.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, payload: u32, total: Option<u64>, stream_id: u16) -> StreamData {
        let (offset, len, origin) = (self.offset, u64::from(payload), self.origin);
        self.offset += len;
        self.len -= len;
        StreamData {
            offset,
            payload,
            last: total == Some(offset + len),
            stream_id,
            marked: origin.marked,
            origin_time: origin.origin_time,
            queueing: origin.queueing + now.since(origin.arrived_at),
        }
    }
}
