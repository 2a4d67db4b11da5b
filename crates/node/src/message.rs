//! The rate message: what a node sends upstream about the loop that it receives from, as a QUIC datagram.
//!
//! | bytes | field |
//! |---|---|
//! | 0 | version, 1 |
//! | 1..9 | sequence number, from 1 |
//! | 9..17 | packets received with a CE mark since the connection began |
//! | 17..25 | their bytes, with IP headers |
//! | 25 | protocol of the law's echo ([`HeaderId`]); 0: none |
//! | 26.. | the echo, at most [`HEADER_BYTES`] bytes |
//!
//! Numbers are in network byte order. The newest message counts: totals, not differences, so that a lost message costs
//! nothing but time.

use millpond_endpoint::Marks;
use millpond_law::{HEADER_BYTES, Header, HeaderId};
use millpond_units::Bytes;

const VERSION: u8 = 1;
/// Bytes before the echo.
const FIXED: usize = 26;

/// A rate message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateMessage {
    /// Newer messages have larger numbers.
    pub sequence: u64,
    /// All CE marks received.
    pub marks: Marks,
    /// The echo of the receiver's law: for LGCC the rate of the next loop.
    pub echo: Header,
}

impl RateMessage {
    /// The message as bytes; `echo_id` is the protocol of the echo.
    pub fn encode(&self, echo_id: HeaderId) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED + HEADER_BYTES);
        bytes.push(VERSION);
        for number in [self.sequence, self.marks.packets, self.marks.bytes.get()] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        let echo = self.echo.of(echo_id).unwrap_or_default();
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
        let id = HeaderId(*fixed.get(25)?);
        let echo = if id == HeaderId::NONE { Header::NONE } else { Header::new(id, echo) };
        let marks = Marks { packets: number(9)?, bytes: Bytes::new(number(17)?) };
        Some(Self { sequence: number(1)?, marks, echo })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let echo = Header::new(HeaderId(7), &[1, 2, 3]);
        let message = RateMessage { sequence: 5, marks: Marks { packets: 2, bytes: Bytes::new(3000) }, echo };
        let bytes = message.encode(HeaderId(7));
        assert_eq!(bytes.len(), 29);
        assert_eq!(bytes[..9], [1, 0, 0, 0, 0, 0, 0, 0, 5]);
        assert_eq!(RateMessage::decode(&bytes), Some(message));
        assert_eq!(
            RateMessage::decode(&message.encode(HeaderId(9))).map(|read| read.echo),
            Some(Header::NONE)
        );
    }

    #[test]
    fn malformed_messages_are_refused() {
        let message = RateMessage { sequence: 1, marks: Marks::default(), echo: Header::NONE };
        let bytes = message.encode(HeaderId::NONE);
        for length in 0..bytes.len() {
            assert_eq!(RateMessage::decode(&bytes[..length]), None);
        }
        let mut other = bytes.clone();
        other[0] = 2;
        assert_eq!(RateMessage::decode(&other), None);
        let long = [bytes, vec![0; HEADER_BYTES + 1]].concat();
        assert_eq!(RateMessage::decode(&long), None);
    }
}
