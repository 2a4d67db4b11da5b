//! The echo of ABC: the numbers of packets that arrived as accelerates and as brakes since the loop began.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! |     accelerates [packets]     |       brakes [packets]        |   big-endian, modulo 2^16
//! +---------------+---------------+---------------+---------------+
//! ```
//!
//! The paper echoes one bit per acknowledgement (the NS bit of TCP). Cumulative counts carry the same information if
//! each packet is acknowledged, and keep it if acknowledgements are delayed or lost.

use millpond_law::{Header, HeaderId};
use std::fmt;
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of ABC.
pub(super) const ID: HeaderId = HeaderId(2);

/// Numbers of packets by mark: since the loop began (modulo 2^16), or since the last acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that arrived as ECT(1).
    pub accelerates: u16,
    /// All other packets.
    pub brakes: u16,
}

impl Counts {
    /// The increase since `before`; none if `self` is older, as in a reordered acknowledgement.
    pub fn since(self, before: Self) -> Option<Self> {
        let newer = Self {
            accelerates: self.accelerates.wrapping_sub(before.accelerates),
            brakes: self.brakes.wrapping_sub(before.brakes),
        };
        let half = u16::MAX / 2;
        (newer.accelerates <= half && newer.brakes <= half).then_some(newer)
    }

    /// Limits the total to `packets`, the number of acknowledged packets; accelerates first.
    pub fn at_most(self, packets: u64) -> Self {
        let accelerates = u64::from(self.accelerates).min(packets);
        let brakes = u64::from(self.brakes).min(packets - accelerates);
        Self { accelerates: accelerates as u16, brakes: brakes as u16 }
    }
}

/// The fields of the echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct AbcEcho {
    accelerates: U16,
    brakes: U16,
}

impl AbcEcho {
    /// The view of an ABC header; none if the header is foreign or too short.
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// An echo with these counts.
    pub fn new(counts: Counts) -> Self {
        Self { accelerates: counts.accelerates.into(), brakes: counts.brakes.into() }
    }

    /// The counts.
    pub fn counts(&self) -> Counts {
        Counts { accelerates: self.accelerates.get(), brakes: self.brakes.get() }
    }

    /// Writes it as a header.
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

impl fmt::Display for AbcEcho {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { accelerates, brakes } = self.counts();
        write!(f, "ABC accelerates {accelerates} brakes {brakes}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts { accelerates: 0x1234, brakes: 0x00ff };
    const BYTES: [u8; 4] = [0x12, 0x34, 0x00, 0xff];

    #[test]
    fn two_counts_are_written_and_parsed_as_four_bytes() {
        let mut header = Header::NONE;
        AbcEcho::new(COUNTS).emit(&mut header);
        assert_eq!(header.of(ID), Some(&BYTES[..]));
        assert_eq!(AbcEcho::parse(&Header::new(ID, &BYTES)).map(|echo| echo.counts()), Some(COUNTS));
        assert_eq!(AbcEcho::new(COUNTS).to_string(), "ABC accelerates 4660 brakes 255");
    }

    #[test]
    fn short_or_foreign_headers_are_rejected() {
        assert_eq!(AbcEcho::parse(&Header::NONE), None);
        assert_eq!(AbcEcho::parse(&Header::new(ID, &[1, 2, 3])), None);
        assert_eq!(AbcEcho::parse(&Header::new(HeaderId(99), &BYTES)), None);
    }

    #[test]
    fn counts_wrap_around_and_older_counts_are_recognized() {
        let counts = |accelerates, brakes| Counts { accelerates, brakes };
        assert_eq!(counts(2, 7).since(counts(0xffff, 7)), Some(counts(3, 0)));
        assert_eq!(counts(5, 7).since(counts(6, 7)), None);
        assert_eq!(counts(5, 7).since(counts(5, 8)), None);
        assert_eq!(counts(5, 7).at_most(8), counts(5, 3));
        assert_eq!(counts(5, 7).at_most(3), counts(3, 0));
    }
}
