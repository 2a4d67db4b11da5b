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

/// How long data of a stream waited at a relay before it was first sent, since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayWait {
    /// The sum over all bytes, in byte-picoseconds.
    pub byte_picos: u128,
    /// The bytes that were sent.
    pub bytes: u64,
}

impl RelayWait {
    /// Adds bytes that waited this long.
    fn add(&mut self, bytes: u64, wait: Span) {
        self.byte_picos += u128::from(bytes) * u128::from(wait.picos());
        self.bytes += bytes;
    }

    /// The mean over the bytes since an earlier time in milliseconds; not a number if there are none.
    pub fn mean_ms_since(self, before: Self) -> f64 {
        let picos = (self.byte_picos - before.byte_picos) as f64;
        picos / (self.bytes - before.bytes) as f64 * 1e-9
    }
}

impl Chunk {
    /// Removes the first `payload` bytes, to be sent now, and adds their wait. `total`: the length of the whole stream in
    /// bytes, if known.
    #[inline]
    pub(crate) fn take(
        &mut self,
        now: Time,
        payload: u32,
        total: Option<u64>,
        stream_id: u16,
        waited: &mut RelayWait,
    ) -> StreamData {
        let (offset, len, origin) = (self.offset, u64::from(payload), self.origin);
        let wait = now.since(origin.arrived_at);
        waited.add(len, wait);
        self.offset += len;
        self.len -= len;
        StreamData {
            offset,
            payload,
            last: total == Some(offset + len),
            stream_id,
            marked: origin.marked,
            origin_time: origin.origin_time,
            queueing: origin.queueing + wait,
        }
    }
}
