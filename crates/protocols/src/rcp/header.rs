//! The congestion header of RCP. Data packets and acknowledgements carry the same format.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! |                                                               |   big-endian
//! +    least advised rate [bit/s]; all ones: none yet             +
//! |                                                               |
//! +---------------+---------------+---------------+---------------+
//! |       round-trip time [ns]; zero: no sample yet               |
//! +---------------+---------------+---------------+---------------+
//! ```

use crate::parts::fields::{self, LeastRate};
use millpond_law::{Header, HeaderId};
use millpond_units::{Rate, Span};
use std::fmt;
use zerocopy::byteorder::network_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of RCP.
pub(super) const ID: HeaderId = HeaderId(4);

/// The fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct RcpHeader {
    rate: LeastRate,
    rtt: U32,
}

impl RcpHeader {
    /// Replaces the least rate of the routers; see [`millpond_law::RateField`].
    pub(super) fn replace_rate(header: &mut Header, carry: &mut dyn FnMut(f64) -> f64) {
        if let Some(fields) = header.fields_mut::<Self>(ID) {
            fields.rate.replace(carry);
        }
    }

    /// The view of an RCP header; none if the header is foreign or too short.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// The header of a data packet at its sender.
    pub fn new(rtt: Span) -> Self {
        Self { rate: LeastRate::NONE, rtt: fields::from_rtt(rtt) }
    }

    /// The sender's round-trip time; zero before its first sample.
    #[inline]
    pub fn rtt(&self) -> Span {
        fields::to_rtt(self.rtt)
    }

    /// The least rate advised by the routers; none if no router has written one.
    #[inline]
    pub fn advice(&self) -> Option<Rate> {
        self.rate.get()
    }

    /// Lowers the advised rate to that of a router, if it is smaller.
    #[inline]
    pub fn lower_to(&mut self, rate: Rate) {
        self.rate.lower_to(rate);
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
            None => write!(f, "RCP rtt {} no rate", self.rtt()),
            Some(rate) => write!(f, "RCP rtt {} rate {rate}", self.rtt()),
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
    fn a_header_of_12_bytes_is_written_and_parsed() {
        let mut written = RcpHeader::new(Span::from_millis(80));
        assert_eq!((written.advice(), written.to_string()), (None, "RCP rtt 80ms no rate".into()));
        written.lower_to(Rate::from_mbps(155.0));
        let mut header = Header::NONE;
        written.emit(&mut header);
        assert_eq!(header.of(ID), Some(&BYTES[..]));
        let read = RcpHeader::parse(&Header::new(ID, &BYTES)).unwrap();
        assert_eq!(read.rtt(), Span::from_millis(80));
        assert_eq!(read.advice(), Some(Rate::from_mbps(155.0)));
        assert_eq!(read.to_string(), "RCP rtt 80ms rate 155Mbps");
    }

    #[test]
    fn the_smallest_rate_of_the_path_is_kept() {
        let mut header = RcpHeader::new(Span::ZERO);
        for mbps in [30.0, 10.0, 20.0] {
            header.lower_to(Rate::from_mbps(mbps));
        }
        assert_eq!(header.advice(), Some(Rate::from_mbps(10.0)));
    }

    #[test]
    fn short_or_foreign_headers_are_rejected() {
        assert_eq!(RcpHeader::parse(&Header::NONE), None);
        assert_eq!(RcpHeader::parse(&Header::new(ID, &BYTES[..11])), None);
        assert_eq!(RcpHeader::parse(&Header::new(HeaderId(99), &BYTES)), None);
    }
}
