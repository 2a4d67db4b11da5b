//! The flows of a node: two ends, each a stream or a local socket, and what passes between them in each direction.

use crate::weight::Weight;
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
    /// A connection for each flow: a path carries no more than a quarter of its bandwidth-delay product in packets.
    Floor,
}

impl Abort {
    const ALL: [Self; 8] = [
        Self::Local,
        Self::NotAllowed,
        Self::NotConnected,
        Self::LinkLost,
        Self::Refused,
        Self::Shutdown,
        Self::Malformed,
        Self::Floor,
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
            Self::Floor => {
                "as many connections as a quarter of the bandwidth-delay product in packets: each sends at least a packet per round-trip time"
            }
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
    /// The weight, which a relay reads and passes on; what has come of it.
    Weight(Vec<u8>),
    /// Weight and target; what has come of them.
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
    /// Its weight in the loops that it shares, in both directions.
    pub(crate) weight: Weight,
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

/// The first bytes of a flow, in network byte order: its weight in hundredths in two bytes, the length of its target in two
/// bytes, and the target.
pub(crate) fn flow_header(weight: Weight, target: &str) -> Option<Bytes> {
    let length = u16::try_from(target.len()).ok().filter(|length| usize::from(*length) <= MOST_TARGET)?;
    let mut header = [weight.hundredths(), length].map(u16::to_be_bytes).concat();
    header.extend_from_slice(target.as_bytes());
    Some(header.into())
}

/// Reads the weight from the first bytes of a flow: none before they have come, and an error if they contain no weight.
pub(crate) fn parse_weight(bytes: &[u8]) -> Option<Result<Weight, Abort>> {
    let [high, low, ..] = bytes else { return None };
    Some(Weight::of_hundredths(u16::from_be_bytes([*high, *low])).ok_or(Abort::Malformed))
}

/// What the bytes at the beginning of a flow are.
#[derive(Debug, PartialEq)]
pub(crate) enum Parsed {
    /// The target is not complete.
    Partly,
    /// Weight and target, and the data after them.
    Target(Weight, String, Bytes),
    /// No target.
    Malformed,
}

/// Reads weight and target from the first bytes of a flow.
pub(crate) fn parse_flow(bytes: &[u8]) -> Parsed {
    let weight = match parse_weight(bytes) {
        None => return Parsed::Partly,
        Some(Err(_)) => return Parsed::Malformed,
        Some(Ok(weight)) => weight,
    };
    let [_, _, high, low, rest @ ..] = bytes else { return Parsed::Partly };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    if length == 0 || length > MOST_TARGET {
        return Parsed::Malformed;
    }
    let Some((target, data)) = rest.split_at_checked(length) else { return Parsed::Partly };
    match std::str::from_utf8(target) {
        Ok(target) => Parsed::Target(weight, target.to_owned(), Bytes::copy_from_slice(data)),
        Err(_) => Parsed::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_read_in_pieces_of_any_size() {
        let weight = Weight::new(2.5).unwrap();
        let header = flow_header(weight, "example.org:80").unwrap();
        let bytes = [&header[..], b"GET"].concat();
        for length in 0..header.len() {
            assert_eq!(parse_flow(&bytes[..length]), Parsed::Partly);
        }
        let read = Parsed::Target(weight, "example.org:80".into(), Bytes::from_static(b"GET"));
        assert_eq!(parse_flow(&bytes), read);
        assert_eq!([parse_weight(&bytes[..1]), parse_weight(&bytes)], [None, Some(Ok(weight))]);
    }

    #[test]
    fn malformed_targets_are_refused() {
        assert_eq!(parse_flow(&[0, 100, 0, 0]), Parsed::Malformed);
        assert_eq!(parse_flow(&[0, 100, 255, 255]), Parsed::Malformed);
        assert_eq!(parse_flow(&[0, 100, 0, 1, 0xff]), Parsed::Malformed);
        for weight in [[0, 0], [255, 255]] {
            assert_eq!(parse_flow(&weight), Parsed::Malformed);
            assert_eq!(parse_weight(&weight), Some(Err(Abort::Malformed)));
        }
        assert_eq!(flow_header(Weight::default(), &"x".repeat(MOST_TARGET + 1)), None);
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
