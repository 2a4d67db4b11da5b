//! The flows of a node: two ends, each a stream or a local socket, and what passes between them in each direction.

use bytes::Bytes;
use noq_proto::StreamId;
use std::collections::VecDeque;
use std::fmt;

/// The number of a flow at this node.
pub type FlowId = u64;
/// The number of a connection at this node.
pub type LinkId = u32;

/// The largest target in bytes.
pub const MOST_TARGET: usize = 270;
/// The byte with which the exit confirms that it is connected.
pub(crate) const CONNECTED: u8 = 1;

/// Why a flow was aborted: the error code of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// A local application reset its connection.
    Local,
    /// The exit does not allow the target.
    NotAllowed,
    /// The exit could not connect to the target.
    NotConnected,
    /// The connection to a neighbour was lost.
    LinkLost,
    /// The node has as many flows as it may have, or no connection to its next neighbour.
    Refused,
    /// The node is shutting down.
    Shutdown,
    /// The neighbour did not keep to the protocol.
    Malformed,
}

impl Abort {
    const ALL: [Self; 7] = [
        Self::Local,
        Self::NotAllowed,
        Self::NotConnected,
        Self::LinkLost,
        Self::Refused,
        Self::Shutdown,
        Self::Malformed,
    ];

    /// The error code of the streams.
    pub fn code(self) -> u32 {
        Self::ALL.iter().zip(1..).find(|(abort, _)| **abort == self).map_or(0, |(_, code)| code)
    }

    /// The reason that has this code.
    pub fn of_code(code: u64) -> Self {
        let known = usize::try_from(code).ok().and_then(|code| Self::ALL.get(code.checked_sub(1)?));
        known.copied().unwrap_or(Self::Malformed)
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "the application reset the connection",
            Self::NotAllowed => "the exit does not allow this target",
            Self::NotConnected => "the exit could not connect to the target",
            Self::LinkLost => "a connection between two nodes was lost",
            Self::Refused => "a node has no capacity for the flow, or no connection to the next node",
            Self::Shutdown => "a node is shutting down",
            Self::Malformed => "a node did not keep to the protocol",
        })
    }
}

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// A socket of this host.
    Local,
    /// A stream of a connection.
    Stream(LinkId, StreamId),
}

/// What the next bytes from an end are.
#[derive(Debug, PartialEq)]
pub(crate) enum Reading {
    /// The target, preceded by its length in two bytes; what has come of it.
    Target(Vec<u8>),
    /// The confirmation of the exit.
    Confirmation,
    /// Data.
    Data,
    /// Nothing: the end has finished.
    Finished,
}

/// One direction of a flow.
#[derive(Debug)]
pub(crate) struct Half {
    pub(crate) reading: Reading,
    /// Data for a local socket.
    pub(crate) local: VecDeque<Bytes>,
    pub(crate) local_bytes: usize,
    /// All data and the end have reached the other side.
    pub(crate) is_done: bool,
}

impl Half {
    pub(crate) fn new(reading: Reading) -> Self {
        Self { reading, local: VecDeque::new(), local_bytes: 0, is_done: false }
    }
}

/// A flow. Half `i` carries data from end `i` to end `1 - i`; end 0 is the one nearer to the enter.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) ends: [End; 2],
    pub(crate) halves: [Half; 2],
}

impl Flow {
    /// Which end is local, if any is.
    pub(crate) fn local_end(&self) -> Option<usize> {
        self.ends.iter().position(|end| *end == End::Local)
    }

    /// True if both directions are done.
    pub(crate) fn is_done(&self) -> bool {
        self.halves.iter().all(|half| half.is_done)
    }
}

/// The first bytes of a flow: its target, preceded by its length.
pub(crate) fn target_header(target: &str) -> Option<Bytes> {
    let length = u16::try_from(target.len()).ok().filter(|length| usize::from(*length) <= MOST_TARGET)?;
    let mut header = length.to_be_bytes().to_vec();
    header.extend_from_slice(target.as_bytes());
    Some(header.into())
}

/// What the bytes at the beginning of a flow are.
#[derive(Debug, PartialEq)]
pub(crate) enum Parsed {
    /// The target is not complete.
    Partly,
    /// The target, and the data after it.
    Target(String, Bytes),
    /// No target.
    Malformed,
}

/// Reads the target from the first bytes of a flow.
pub(crate) fn parse_target(bytes: &[u8]) -> Parsed {
    let [high, low, rest @ ..] = bytes else { return Parsed::Partly };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    if length == 0 || length > MOST_TARGET {
        return Parsed::Malformed;
    }
    let Some((target, data)) = rest.split_at_checked(length) else { return Parsed::Partly };
    match std::str::from_utf8(target) {
        Ok(target) => Parsed::Target(target.to_owned(), Bytes::copy_from_slice(data)),
        Err(_) => Parsed::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_read_in_pieces_of_any_size() {
        let header = target_header("example.org:80").unwrap();
        let bytes = [&header[..], b"GET"].concat();
        for length in 0..header.len() {
            assert_eq!(parse_target(&bytes[..length]), Parsed::Partly);
        }
        assert_eq!(parse_target(&bytes), Parsed::Target("example.org:80".into(), Bytes::from_static(b"GET")));
    }

    #[test]
    fn malformed_targets_are_refused() {
        assert_eq!(parse_target(&[0, 0]), Parsed::Malformed);
        assert_eq!(parse_target(&[255, 255]), Parsed::Malformed);
        assert_eq!(parse_target(&[0, 1, 0xff]), Parsed::Malformed);
        assert_eq!(target_header(&"x".repeat(MOST_TARGET + 1)), None);
    }

    #[test]
    fn each_reason_has_a_code_of_its_own() {
        for abort in Abort::ALL {
            assert_eq!(Abort::of_code(abort.code().into()), abort);
        }
        assert_eq!(Abort::of_code(0), Abort::Malformed);
        assert_eq!(Abort::of_code(99), Abort::Malformed);
    }
}
