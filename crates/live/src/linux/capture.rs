//! Captures of the packets at an emulated link.

use crate::pcapng::Pcapng;
use crate::request::LinkError;
use std::io::{self, Write};

/// Where a packet was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CapturePoint {
    /// At the start of this direction (0: down, 1: up), before its queue.
    Entering(usize),
    /// At the end of this direction.
    Leaving(usize),
}

/// The names of the interfaces of a file, in the order of [`CapturePoint::interface`].
const INTERFACES: [&str; 4] =
    ["down: before the link", "down: behind the link", "up: before the link", "up: behind the link"];

impl CapturePoint {
    fn interface(self) -> u32 {
        match self {
            Self::Entering(direction) => 2 * direction as u32,
            Self::Leaving(direction) => 2 * direction as u32 + 1,
        }
    }
}

/// A file of the packets before and behind a link.
pub(crate) struct Capture<W: Write>(Pcapng<W>);

impl<W: Write> Capture<W> {
    /// Begins a file.
    pub(crate) fn begin(to: W) -> Result<Self, LinkError> {
        let begun = Pcapng::begin(to, "millpond link").and_then(|mut file| {
            INTERFACES.iter().try_for_each(|name| file.interface(name).map(drop))?;
            Ok(Self(file))
        });
        begun.map_err(failed)
    }

    /// Adds a packet; `nanos`: nanoseconds since 1970.
    pub(crate) fn packet(&mut self, place: CapturePoint, nanos: u64, packet: &[u8]) -> Result<(), LinkError> {
        self.0.packet(place.interface(), nanos, packet, packet.len() as u32).map_err(failed)
    }

    /// Writes what is still in memory.
    pub(crate) fn finish(mut self) -> Result<(), LinkError> {
        self.0.flush().map_err(failed)
    }
}

fn failed(error: io::Error) -> LinkError {
    LinkError::Capture(error.to_string())
}
