//! Requests of a client to its server, one at a time over each connection.

use super::Connections;
use millpond_units::{Bytes, Span, Time};

/// How long requests take on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestPath {
    /// The handshakes before the first request.
    pub setup: Span,
    /// From the client to the server.
    pub request: Span,
}

/// A connection on which a client requests one object after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requests {
    path: RequestPath,
    is_open: bool,
    /// The request under way to the server: when it arrives, and the size of the object.
    under_way: Option<(Time, Bytes)>,
    /// The number of bytes that all objects requested so far have.
    requested: Bytes,
    awaits: bool,
}

impl Requests {
    pub(super) const fn new(path: RequestPath) -> Self {
        Self { path, is_open: false, under_way: None, requested: Bytes::ZERO, awaits: false }
    }

    /// True if no object is outstanding.
    pub(super) const fn is_idle(&self) -> bool {
        !self.awaits
    }

    /// Requests an object of this size.
    pub(super) fn request(&mut self, now: Time, size: Bytes) {
        let setup = if self.is_open { Span::ZERO } else { self.path.setup };
        (self.is_open, self.awaits) = (true, true);
        self.requested += size;
        self.under_way = Some((now + setup + self.path.request, size));
    }

    /// When the request under way reaches the server.
    pub(super) fn next(&self) -> Time {
        self.under_way.map_or(Time::NEVER, |(arrives, _)| arrives)
    }

    /// Lets the server answer a request that has reached it.
    pub(super) fn answer(&mut self, now: Time, connection: usize, connections: &mut dyn Connections) {
        if let Some((_, size)) = self.under_way.take_if(|(arrives, _)| *arrives <= now) {
            connections.supply(connection, size);
        }
    }

    /// The first `prefix` bytes have arrived. True if the outstanding object is complete now.
    pub(super) fn completes(&mut self, prefix: Bytes) -> bool {
        let complete = self.awaits && self.under_way.is_none() && prefix >= self.requested;
        self.awaits &= !complete;
        complete
    }
}
