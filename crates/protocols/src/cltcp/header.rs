//! The header of CLTCP (Fig. 4). Data packets and acknowledgements carry the same format.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! |                                                               |   big-endian
//! +     pre-assignment rate factor [bit/s]; all ones: none yet    +
//! |                                                               |
//! +---------------+---------------+---------------+---------------+
//! ```
//!
//! A sender starts the field with -1 (section V-B), which is all ones.
//!
//! Data packets of a sender with `scaling = "rtt"` have four bytes more, which acknowledgements return:
//!
//! ```text
//! +---------------+---------------+---------------+---------------+
//! |    round-trip time of the sender [us]; 0: not measured yet    |   big-endian
//! +---------------+---------------+---------------+---------------+
//! ```

use crate::parts::fields::LeastRate;
use millpond_law::{Header, HeaderId};
use millpond_units::{Rate, Span};
use std::fmt;
use zerocopy::byteorder::network_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of CLTCP.
pub(super) const ID: HeaderId = HeaderId(7);

/// The fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct CltcpHeader {
    factor: LeastRate,
}

impl CltcpHeader {
    /// Replaces the least rate of the routers; see [`millpond_law::RateField`].
    pub(super) fn replace_rate(header: &mut Header, carry: &mut dyn FnMut(f64) -> f64) {
        if let Some(fields) = header.fields_mut::<Self>(ID) {
            fields.factor.replace(carry);
        }
    }

    /// The header of a data packet at its sender.
    pub const NEW: Self = Self { factor: LeastRate::NONE };

    /// The view of a CLTCP header; none if the header is foreign or too short.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// The same for writing; other fields of the header are not changed.
    #[inline]
    pub(super) fn parse_mut(header: &mut Header) -> Option<&mut Self> {
        header.fields_mut(ID)
    }

    /// The least rate factor of the routers; none if no router has written one.
    #[inline]
    pub fn factor(&self) -> Option<Rate> {
        self.factor.get()
    }

    /// Eq. (4): lowers the factor to that of a router, if it is smaller.
    #[inline]
    pub fn lower_to(&mut self, factor: Rate) {
        self.factor.lower_to(factor);
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

/// Picoseconds per unit of the round-trip time field.
const PICOS_PER_MICRO: u64 = 1_000_000;

/// The header of a data packet with the round-trip time of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct ScaledHeader {
    header: CltcpHeader,
    micros: U32,
}

impl ScaledHeader {
    /// The header at a sender with this round-trip time, zero if it has not measured any. The field holds whole
    /// microseconds, one at least for a measured time, and 71 minutes at most.
    pub(super) fn new(rtt: Span) -> Self {
        let micros = u32::try_from(rtt.picos().div_ceil(PICOS_PER_MICRO)).unwrap_or(u32::MAX);
        Self { header: CltcpHeader::NEW, micros: micros.into() }
    }

    /// The round-trip time that the sender of this packet has measured; none if it has not, or if the header has no such
    /// field.
    #[inline]
    pub(super) fn reported_rtt(header: &Header) -> Option<Span> {
        let micros = header.fields::<Self>(ID)?.micros.get();
        (micros > 0).then(|| Span::from_picos(u64::from(micros) * PICOS_PER_MICRO))
    }

    /// Writes it as a header.
    #[inline]
    pub(super) fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

impl fmt::Display for CltcpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.factor() {
            None => write!(f, "CLTCP factor none"),
            Some(rate) => write!(f, "CLTCP factor {rate}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 120 Mbit/s.
    const BYTES: [u8; 8] = [0, 0, 0, 0, 0x07, 0x27, 0x0e, 0x00];

    #[test]
    fn a_header_of_8_bytes_is_written_and_parsed() {
        let (mut written, mut header) = (CltcpHeader::NEW, Header::NONE);
        written.emit(&mut header);
        assert_eq!(header.of(ID), Some(&[0xff; 8][..]), "-1 in two's complement");
        written.lower_to(Rate::from_mbps(120.0));
        written.emit(&mut header);
        assert_eq!(header.of(ID), Some(&BYTES[..]));
        let read = CltcpHeader::parse(&Header::new(ID, &BYTES)).unwrap();
        assert_eq!(read.factor(), Some(Rate::from_mbps(120.0)));
        assert_eq!(read.to_string(), "CLTCP factor 120Mbps");
    }

    #[test]
    fn the_smallest_factor_of_the_path_is_kept() {
        let mut header = CltcpHeader::NEW;
        assert_eq!(header.factor(), None);
        for (taken, least) in [(9, 9), (5, 5), (7, 5)] {
            header.lower_to(Rate::from_bps(taken));
            assert_eq!(header.factor(), Some(Rate::from_bps(least)));
        }
    }

    #[test]
    fn the_round_trip_time_has_four_more_bytes_that_a_router_leaves_unchanged() {
        let mut header = Header::NONE;
        ScaledHeader::new(Span::from_millis(700)).emit(&mut header);
        assert_eq!(header.bytes().len(), 12);
        assert_eq!(header.bytes()[8..], [0x00, 0x0a, 0xae, 0x60], "700 000 us");
        CltcpHeader::parse_mut(&mut header).unwrap().lower_to(Rate::from_mbps(120.0));
        assert_eq!(header.bytes()[..8], BYTES);
        assert_eq!(ScaledHeader::reported_rtt(&header), Some(Span::from_millis(700)));
        // Rounded up to a microsecond, and bounded by the field.
        for (rtt, micros) in [(Span::from_picos(1), 1), (Span::from_secs(1e5), u32::MAX)] {
            ScaledHeader::new(rtt).emit(&mut header);
            assert_eq!(
                ScaledHeader::reported_rtt(&header),
                Some(Span::from_picos(u64::from(micros) * 1_000_000))
            );
        }
        ScaledHeader::new(Span::ZERO).emit(&mut header);
        assert_eq!(ScaledHeader::reported_rtt(&header), None, "not measured");
        assert_eq!(ScaledHeader::reported_rtt(&Header::new(ID, &BYTES)), None, "the header of the paper");
        assert_eq!(ScaledHeader::reported_rtt(&Header::new(HeaderId(99), &[1; 12])), None);
    }

    #[test]
    fn short_or_foreign_headers_are_rejected() {
        assert_eq!(CltcpHeader::parse(&Header::NONE), None);
        assert_eq!(CltcpHeader::parse(&Header::new(ID, &BYTES[..7])), None);
        assert_eq!(CltcpHeader::parse(&Header::new(HeaderId(99), &BYTES)), None);
    }
}
