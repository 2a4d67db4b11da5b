//! The congestion header of ACP (Fig. 1). Data packets and acknowledgements carry the same format.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! |                                                               |   big-endian
//! +     H_feedback: least desired rate [bit/s]; all ones: none    +
//! |                                                               |
//! +---------------+---------------+---------------+---------------+
//! |  H_rtt: round-trip time [ns]; zero: no sample yet             |
//! +---------------+---------------+---------------+---------------+
//! | H_congestion  |   0: none, otherwise a link is congested
//! +---------------+
//! ```
//!
//! In the paper H_feedback is in bytes per second and starts with the rate of the application. Here it starts with all
//! ones.

use crate::parts::fields::{self, LeastRate};
use millpond_law::{Header, HeaderId};
use millpond_units::{Rate, Span};
use std::fmt;
use zerocopy::byteorder::network_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of ACP.
pub(super) const ID: HeaderId = HeaderId(6);

/// The fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct AcpHeader {
    feedback: LeastRate,
    rtt: U32,
    congestion: u8,
}

impl AcpHeader {
    /// Replaces the least rate of the routers; see [`millpond_law::RateField`].
    pub(super) fn replace_rate(header: &mut Header, carry: &mut dyn FnMut(f64) -> f64) {
        if let Some(fields) = header.fields_mut::<Self>(ID) {
            fields.feedback.replace(carry);
        }
    }

    /// The view of an ACP header; none if the header is foreign or too short.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// The header of a data packet at its sender.
    pub fn new(rtt: Span) -> Self {
        Self { feedback: LeastRate::NONE, rtt: fields::from_rtt(rtt), congestion: 0 }
    }

    /// H_rtt: the sender's round-trip time; zero before its first sample.
    #[inline]
    pub fn rtt(&self) -> Span {
        fields::to_rtt(self.rtt)
    }

    /// H_feedback: the least rate desired by the routers; none if no router has written one.
    #[inline]
    pub fn advice(&self) -> Option<Rate> {
        self.feedback.get()
    }

    /// H_congestion: whether a link of the path is congested.
    #[inline]
    pub fn is_congested(&self) -> bool {
        self.congestion != 0
    }

    /// Lowers H_feedback to the desired rate of a router, if it is smaller.
    #[inline]
    pub fn lower_to(&mut self, rate: Rate) {
        self.feedback.lower_to(rate);
    }

    /// Sets H_congestion.
    #[inline]
    pub fn set_congested(&mut self) {
        self.congestion = 1;
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

impl fmt::Display for AcpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.advice() {
            None => write!(f, "ACP rate any")?,
            Some(rate) => write!(f, "ACP rate {rate}")?,
        }
        write!(f, " rtt {}{}", self.rtt(), if self.is_congested() { " congested" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 13] = [
        0, 0, 0, 0, 0x00, 0x71, 0x4b, 0xe8, // 7.425 Mbit/s
        0x04, 0xc4, 0xb4, 0x00, // 80 ms
        1,    // congested
    ];

    #[test]
    fn a_header_of_13_bytes_is_written_and_parsed() {
        let mut written = AcpHeader::new(Span::from_millis(80));
        assert_eq!((written.advice(), written.is_congested()), (None, false));
        written.lower_to(Rate::from_bps(7_425_000));
        written.set_congested();
        let mut header = Header::NONE;
        written.emit(&mut header);
        assert_eq!(header.of(ID), Some(&BYTES[..]));
        let read = AcpHeader::parse(&Header::new(ID, &BYTES)).unwrap();
        assert_eq!(read.advice(), Some(Rate::from_bps(7_425_000)));
        assert_eq!((read.rtt(), read.is_congested()), (Span::from_millis(80), true));
        assert_eq!(read.to_string(), "ACP rate 7.425Mbps rtt 80ms congested");
    }

    #[test]
    fn the_smallest_desired_rate_and_the_congestion_flag_are_kept() {
        let mut header = AcpHeader::new(Span::ZERO);
        header.set_congested();
        for (asked, least) in [(9, 9), (5, 5), (7, 5), (0, 0)] {
            header.lower_to(Rate::from_bps(asked));
            assert_eq!(header.advice(), Some(Rate::from_bps(least)));
        }
        assert!(header.is_congested());
    }

    #[test]
    fn short_or_foreign_headers_are_rejected_and_large_values_saturate() {
        assert_eq!(AcpHeader::parse(&Header::NONE), None);
        assert_eq!(AcpHeader::parse(&Header::new(ID, &BYTES[..12])), None);
        assert_eq!(AcpHeader::parse(&Header::new(HeaderId(99), &BYTES)), None);
        assert_eq!(AcpHeader::new(Span::MAX).rtt(), Span::from_picos(u64::from(u32::MAX) * 1000));
    }
}
