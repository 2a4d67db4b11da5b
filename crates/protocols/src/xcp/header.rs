//! The congestion header of XCP, in the order of draft-falk-xcp-spec-03.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! | format = 1    |                     zero                      |
//! +---------------+---------------+---------------+---------------+
//! |       round-trip time [ns]; zero: no sample yet               |   all big-endian
//! +---------------+---------------+---------------+---------------+
//! |                                                               |
//! +                    throughput [bit/s]                         +
//! |                                                               |
//! +---------------+---------------+---------------+---------------+
//! |                                                               |
//! +     change of throughput [bit/s], signed; largest: no limit   +
//! |                                                               |
//! +---------------+---------------+---------------+---------------+
//! ```
//!
//! The echo has format 2, three bytes of zero, and the sum of all changes that arrived since the loop began [bit/s],
//! signed, modulo 2^64. The draft has 32 bits per field, and units so coarse that a packet's share of the shuffled
//! traffic vanishes.

use crate::parts::fields;
use millpond_law::{Header, HeaderId};
use millpond_units::{Rate, Span};
use std::fmt;
use zerocopy::byteorder::network_endian::{I64, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of XCP.
pub(super) const ID: HeaderId = HeaderId(3);

const FORMAT_DATA: u8 = 1;
const FORMAT_ECHO: u8 = 2;

/// Change of throughput that a sender requests, or that the routers so far have allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThroughputChange {
    /// No limit: no router has written a value yet.
    Unlimited,
    /// A change in bit/s.
    Limited(i64),
}

/// A data packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct XcpHeader {
    format: u8,
    zero: [u8; 3],
    rtt: U32,
    throughput: U64,
    change: I64,
}

impl XcpHeader {
    /// A copy of an XCP header; none if the header is foreign, too short or an echo.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID).filter(|fields: &Self| fields.format == FORMAT_DATA)
    }

    /// The XCP header in its packet, for writing; none if the header is foreign, too short or an echo.
    #[inline]
    pub fn within(header: &mut Header) -> Option<&mut Self> {
        header.fields_mut(ID).filter(|fields: &&mut Self| fields.format == FORMAT_DATA)
    }

    /// The header of a data packet at its sender: the requested change has no limit.
    pub fn new(rtt: Span, throughput: Rate) -> Self {
        Self {
            format: FORMAT_DATA,
            zero: [0; 3],
            rtt: fields::from_rtt(rtt),
            throughput: throughput.bps().into(),
            change: I64::new(i64::MAX),
        }
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }

    /// The sender's smoothed round-trip time; zero before its first sample.
    #[inline]
    pub fn rtt(&self) -> Span {
        fields::to_rtt(self.rtt)
    }

    /// The sender's window over its smoothed round-trip time.
    #[inline]
    pub fn throughput(&self) -> Rate {
        Rate::from_bps(self.throughput.get())
    }

    /// The change that the routers so far have left of the request.
    #[inline]
    pub fn change(&self) -> ThroughputChange {
        match self.change.get() {
            i64::MAX => ThroughputChange::Unlimited,
            change => ThroughputChange::Limited(change),
        }
    }

    /// Writes the remaining change.
    #[inline]
    pub fn set_change(&mut self, change: ThroughputChange) {
        let change = match change {
            ThroughputChange::Unlimited => i64::MAX,
            ThroughputChange::Limited(change) => change.min(i64::MAX - 1),
        };
        self.change = change.into();
    }
}

impl fmt::Display for XcpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "XCP rtt {} throughput {}", self.rtt(), self.throughput())?;
        match self.change() {
            ThroughputChange::Unlimited => write!(f, " change any"),
            ThroughputChange::Limited(bps) => write!(f, " change {bps:+} bit/s"),
        }
    }
}

/// The header of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct XcpEcho {
    format: u8,
    zero: [u8; 3],
    feedback: I64,
}

impl XcpEcho {
    /// A copy of an echo; none if the header is foreign, too short or a data packet's.
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID).filter(|fields: &Self| fields.format == FORMAT_ECHO)
    }

    /// An echo with this sum of all changes in bit/s, modulo 2^64.
    pub fn new(feedback: i64) -> Self {
        Self { format: FORMAT_ECHO, zero: [0; 3], feedback: feedback.into() }
    }

    /// The sum of all changes in bit/s, modulo 2^64.
    pub fn feedback(&self) -> i64 {
        self.feedback.get()
    }

    /// Writes it as a header.
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

impl fmt::Display for XcpEcho {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "XCP feedback so far {:+} bit/s", self.feedback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: [u8; 24] = [
        1, 0, 0, 0, // format
        0x04, 0xc4, 0xb4, 0x00, // 80 ms
        0, 0, 0, 0, 0x09, 0x3d, 0x1c, 0xc0, // 155 Mbit/s
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc, 0x18, // -1000 bit/s
    ];
    const ECHO: [u8; 12] = [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x03, 0xe8];

    #[test]
    fn a_header_of_24_bytes_is_written_and_parsed() {
        let mut written = XcpHeader::new(Span::from_millis(80), Rate::from_mbps(155.0));
        assert_eq!(written.change(), ThroughputChange::Unlimited);
        written.set_change(ThroughputChange::Limited(-1000));
        let mut header = Header::NONE;
        written.emit(&mut header);
        assert_eq!(header.of(ID), Some(&DATA[..]));
        let read = XcpHeader::parse(&Header::new(ID, &DATA)).unwrap();
        assert_eq!((read.rtt(), read.throughput()), (Span::from_millis(80), Rate::from_mbps(155.0)));
        assert_eq!(read.change(), ThroughputChange::Limited(-1000));
        assert_eq!(read.to_string(), "XCP rtt 80ms throughput 155Mbps change -1000 bit/s");
    }

    #[test]
    fn an_echo_of_12_bytes_is_written_and_parsed() {
        let mut header = Header::NONE;
        XcpEcho::new(1000).emit(&mut header);
        assert_eq!(header.of(ID), Some(&ECHO[..]));
        let read = XcpEcho::parse(&Header::new(ID, &ECHO)).unwrap();
        assert_eq!((read.feedback(), read.to_string()), (1000, "XCP feedback so far +1000 bit/s".into()));
    }

    #[test]
    fn headers_that_are_short_foreign_or_of_the_other_format_are_rejected() {
        for bytes in [&DATA[..23], &[0; 24], &ECHO] {
            assert_eq!(XcpHeader::parse(&Header::new(ID, bytes)), None);
        }
        for bytes in [&ECHO[..11], &[0; 12], &DATA] {
            assert_eq!(XcpEcho::parse(&Header::new(ID, bytes)), None);
        }
        assert_eq!(XcpHeader::parse(&Header::new(HeaderId(99), &DATA)), None);
        assert_eq!(XcpEcho::parse(&Header::NONE), None);
    }

    #[test]
    fn values_beyond_the_range_of_a_field_saturate() {
        let mut header = XcpHeader::new(Span::MAX, Rate::MAX);
        assert_eq!(header.rtt(), Span::from_picos(u64::from(u32::MAX) * 1000));
        assert_eq!(header.throughput(), Rate::MAX);
        header.set_change(ThroughputChange::Limited(i64::MAX));
        assert_eq!(header.change(), ThroughputChange::Limited(i64::MAX - 1), "a router has written a value");
    }
}
