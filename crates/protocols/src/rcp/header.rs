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
use std::ops::Range;

/// RCP's number.
pub(super) const ID: HeaderId = HeaderId(4);

/// Where each field is.
mod field {
    use super::Range;
    pub(super) const RATE: Range<usize> = 0..8;
    pub(super) const RTT: Range<usize> = 8..12;
    pub(super) const LEN: usize = RTT.end;
}

/// The rate that the routers passed so far advise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// None has spoken yet.
    None,
    /// The least of their offers.
    Rate(Rate),
}

/// A checked view of the header's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RcpHeader([u8; field::LEN]);

impl RcpHeader {
    /// The view of an RCP header; none if the header is foreign or too short.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        fields::view(header, ID).map(Self)
    }

    /// The header of a packet that leaves.
    pub fn new(rtt: Span) -> Self {
        let mut header = Self([u8::MAX; field::LEN]);
        header.0[field::RTT].copy_from_slice(&fields::from_rtt(rtt));
        header
    }

    /// The sender's round-trip time; zero if it does not know any yet.
    #[inline]
    pub fn rtt(&self) -> Span {
        fields::to_rtt(fields::field(&self.0, field::RTT))
    }

    /// What the routers advise.
    #[inline]
    pub fn advice(&self) -> Advice {
        match u64::from_be_bytes(fields::field(&self.0, field::RATE)) {
            u64::MAX => Advice::None,
            bps => Advice::Rate(Rate::from_bps(bps)),
        }
    }

    /// A router offers this rate: the least offer stays.
    #[inline]
    pub fn offer(&mut self, rate: Rate) {
        let least = u64::from_be_bytes(fields::field(&self.0, field::RATE)).min(rate.bps());
        self.0[field::RATE].copy_from_slice(&least.to_be_bytes());
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set(ID, &self.0);
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
