//! The rate message: what a node sends upstream about the loop that it receives from, as a QUIC datagram.
//!
//! | bytes | field |
//! |---|---|
//! | 0 | version, 2 |
//! | 1..9 | sequence number, from 1 |
//! | 9..17 | packets received with a CE mark since the connection began |
//! | 17..25 | their bytes, with IP headers |
//! | 25..33 | flows that the receiver of this message began on the connection and that have ended at its sender |
//! | 33 | protocol of the law's echo ([`HeaderId`]); 0: none |
//! | 34.. | the echo, at most [`HEADER_BYTES`] bytes |
//!
//! Numbers are in network byte order. The newest message counts: totals, not differences, so that a lost message costs
//! nothing but time.

use millpond_endpoint::Marks;
use millpond_law::{HEADER_BYTES, Header, HeaderId};
use millpond_units::Bytes;

const VERSION: u8 = 2;
/// Bytes before the echo.
const FIXED: usize = 34;

/// What a node reports to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// All CE marks received.
    pub marks: Marks,
    /// Flows that the neighbour began on this connection and that have ended here.
    pub ended: u64,
    /// The echo of the receiver's law: for LGCC the rate of the next loop.
    pub echo: Header,
}

impl Default for Report {
    fn default() -> Self {
        Self { marks: Marks::default(), ended: 0, echo: Header::NONE }
    }
}

/// A rate message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateMessage {
    /// Newer messages have larger numbers.
    pub sequence: u64,
    /// What it reports.
    pub report: Report,
}

impl RateMessage {
    /// The message as bytes; `echo_id` is the protocol of the echo.
    pub fn encode(&self, echo_id: HeaderId) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED + HEADER_BYTES);
        bytes.push(VERSION);
        let Report { marks, ended, echo } = self.report;
        for number in [self.sequence, marks.packets, marks.bytes.get(), ended] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        let echo = echo.of(echo_id).unwrap_or_default();
        bytes.push(if echo.is_empty() { HeaderId::NONE.0 } else { echo_id.0 });
        bytes.extend_from_slice(echo);
        bytes
    }

    /// Reads a message; none if it is malformed.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (fixed, echo) = bytes.split_at_checked(FIXED)?;
        let number = |start: usize| -> Option<u64> {
            Some(u64::from_be_bytes(fixed.get(start..start + 8)?.try_into().ok()?))
        };
        if *fixed.first()? != VERSION || echo.len() > HEADER_BYTES {
            return None;
        }
        let id = HeaderId(*fixed.get(33)?);
        let has_echo = id != HeaderId::NONE && !echo.is_empty();
        let echo = if has_echo { Header::new(id, echo) } else { Header::NONE };
        let marks = Marks { packets: number(9)?, bytes: Bytes::new(number(17)?) };
        Some(Self { sequence: number(1)?, report: Report { marks, ended: number(25)?, echo } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let echo = Header::new(HeaderId(7), &[1, 2, 3]);
        let marks = Marks { packets: 2, bytes: Bytes::new(3000) };
        let message = RateMessage { sequence: 5, report: Report { marks, ended: 7, echo } };
        let bytes = message.encode(HeaderId(7));
        assert_eq!(bytes.len(), 37);
        assert_eq!(bytes[..9], [2, 0, 0, 0, 0, 0, 0, 0, 5]);
        assert_eq!(RateMessage::decode(&bytes), Some(message));
        assert_eq!(
            RateMessage::decode(&message.encode(HeaderId(9))).map(|read| read.report.echo),
            Some(Header::NONE)
        );
    }

    #[test]
    fn malformed_messages_are_refused() {
        let message = RateMessage { sequence: 1, report: Report::default() };
        let bytes = message.encode(HeaderId::NONE);
        for length in 0..bytes.len() {
            assert_eq!(RateMessage::decode(&bytes[..length]), None);
        }
        let mut other = bytes.clone();
        other[0] = 1;
        assert_eq!(RateMessage::decode(&other), None);
        let long = [bytes, vec![0; HEADER_BYTES + 1]].concat();
        assert_eq!(RateMessage::decode(&long), None);
    }
}
