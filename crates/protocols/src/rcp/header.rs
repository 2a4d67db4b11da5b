//! The congestion header of RCP: the same bytes go there and come back as the echo.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! |                                                               |   big-endian
//! +    least rate offered [bit/s]; all ones: none has offered     +
//! |                                                               |
//! +---------------+---------------+---------------+---------------+
//! |       round-trip time [ns]; zero: not known yet               |
//! +---------------+---------------+---------------+---------------+
//! ```

use crate::parts::fields;
use millpond_law::{Header, HeaderId};
use millpond_units::{Rate, Span};
use std::fmt;
use zerocopy::byteorder::network_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// RCP's number.
pub(super) const ID: HeaderId = HeaderId(4);

/// The rate that the routers passed so far advise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// None has spoken yet.
    None,
    /// The least of their offers.
    Rate(Rate),
}

/// The fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct RcpHeader {
    rate: U64,
    rtt: U32,
}

impl RcpHeader {
    /// The view of an RCP header; none if the header is foreign or too short.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// The header of a packet that leaves.
    pub fn new(rtt: Span) -> Self {
        Self { rate: u64::MAX.into(), rtt: fields::from_rtt(rtt) }
    }

    /// The sender's round-trip time; zero if it does not know any yet.
    #[inline]
    pub fn rtt(&self) -> Span {
        fields::to_rtt(self.rtt)
    }

    /// What the routers advise.
    #[inline]
    pub fn advice(&self) -> Advice {
        match self.rate.get() {
            u64::MAX => Advice::None,
            bps => Advice::Rate(Rate::from_bps(bps)),
        }
    }

    /// A router offers this rate: the least offer stays.
    #[inline]
    pub fn offer(&mut self, rate: Rate) {
        self.rate = self.rate.get().min(rate.bps()).into();
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

impl fmt::Display for RcpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.advice() {
            Advice::None => write!(f, "RCP rtt {} no rate", self.rtt()),
            Advice::Rate(rate) => write!(f, "RCP rtt {} rate {rate}", self.rtt()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 12] = [
        0, 0, 0, 0, 0x09, 0x3d, 0x1c, 0xc0, // 155 Mbit/s
        0x04, 0xc4, 0xb4, 0x00, // 80 ms
    ];

    #[test]
    fn a_header_is_these_12_bytes_both_ways() {
        let mut written = RcpHeader::new(Span::from_millis(80));
        assert_eq!((written.advice(), written.to_string()), (Advice::None, "RCP rtt 80ms no rate".into()));
        written.offer(Rate::from_mbps(155.0));
        let mut header = Header::NONE;
        written.emit(&mut header);
        assert_eq!(header.of(ID), Some(&BYTES[..]));
        let read = RcpHeader::parse(&Header::new(ID, &BYTES)).unwrap();
        assert_eq!(read.rtt(), Span::from_millis(80));
        assert_eq!(read.advice(), Advice::Rate(Rate::from_mbps(155.0)));
        assert_eq!(read.to_string(), "RCP rtt 80ms rate 155Mbps");
    }

    #[test]
    fn the_least_offer_of_the_path_stays() {
        let mut header = RcpHeader::new(Span::ZERO);
        for mbps in [30.0, 10.0, 20.0] {
            header.offer(Rate::from_mbps(mbps));
        }
        assert_eq!(header.advice(), Advice::Rate(Rate::from_mbps(10.0)));
    }

    #[test]
    fn what_is_short_or_foreign_is_not_read() {
        assert_eq!(RcpHeader::parse(&Header::NONE), None);
        assert_eq!(RcpHeader::parse(&Header::new(ID, &BYTES[..11])), None);
        assert_eq!(RcpHeader::parse(&Header::new(HeaderId(99), &BYTES)), None);
    }
}
