//! The congestion header of XCP, in the order of draft-falk-xcp-spec-03.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! | format = 1    |                     zero                      |
//! +---------------+---------------+---------------+---------------+
//! |       round-trip time [ns]; zero: not known yet               |   all big-endian
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
use std::borrow::{Borrow, BorrowMut};
use std::fmt;
use std::ops::Range;

/// XCP's number.
pub(super) const ID: HeaderId = HeaderId(3);

/// Where each field is.
mod field {
    use super::Range;
    pub(super) const FORMAT: usize = 0;
    pub(super) const RTT: Range<usize> = 4..8;
    pub(super) const THROUGHPUT: Range<usize> = 8..16;
    pub(super) const CHANGE: Range<usize> = 16..24;
    pub(super) const LEN: usize = CHANGE.end;
    pub(super) const FEEDBACK: Range<usize> = 4..12;
    pub(super) const ECHO_LEN: usize = FEEDBACK.end;
}

const FORMAT_DATA: u8 = 1;
const FORMAT_ECHO: u8 = 2;

/// By how much a sender would like its throughput to change, or a router lets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// As much as the routers grant: none has spoken yet.
    Any,
    /// This much, in bit/s.
    Change(i64),
}

/// A data packet's header.
type Bytes = [u8; field::LEN];

/// A checked view of a data packet's header: of a copy, or of the packet itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XcpHeader<B = Bytes>(B);

impl<'a> XcpHeader<&'a mut Bytes> {
    /// The view of an XCP header in its packet; none if the header is foreign, too short or an echo.
    #[inline]
    pub fn within(header: &'a mut Header) -> Option<Self> {
        let bytes: &mut Bytes = header.first_mut(ID)?;
        (bytes[field::FORMAT] == FORMAT_DATA).then_some(Self(bytes))
    }
}

impl XcpHeader {
    /// The view of an XCP header; none if the header is foreign, too short or an echo.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        let bytes = fields::view(header, ID)?;
        (bytes[field::FORMAT] == FORMAT_DATA).then_some(Self(bytes))
    }

    /// The header of a packet that leaves: the sender wishes for all it can get.
    pub fn new(rtt: Span, throughput: Rate) -> Self {
        let mut bytes = [0; field::LEN];
        bytes[field::FORMAT] = FORMAT_DATA;
        bytes[field::RTT].copy_from_slice(&fields::from_rtt(rtt));
        bytes[field::THROUGHPUT].copy_from_slice(&throughput.bps().to_be_bytes());
        let mut header = Self(bytes);
        header.set_wish(Wish::Any);
        header
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set(ID, &self.0);
    }
}

impl<B: Borrow<Bytes>> XcpHeader<B> {
    /// The sender's smoothed round-trip time; zero if it does not know any yet.
    #[inline]
    pub fn rtt(&self) -> Span {
        fields::to_rtt(fields::field(self.0.borrow(), field::RTT))
    }

    /// Its window over that.
    #[inline]
    pub fn throughput(&self) -> Rate {
        Rate::from_bps(u64::from_be_bytes(fields::field(self.0.borrow(), field::THROUGHPUT)))
    }

    /// What the routers so far have left of its wish.
    #[inline]
    pub fn wish(&self) -> Wish {
        match i64::from_be_bytes(fields::field(self.0.borrow(), field::CHANGE)) {
            i64::MAX => Wish::Any,
            change => Wish::Change(change),
        }
    }
}

impl<B: BorrowMut<Bytes>> XcpHeader<B> {
    /// Writes what is left of the wish.
    #[inline]
    pub fn set_wish(&mut self, wish: Wish) {
        let change = match wish {
            Wish::Any => i64::MAX,
            Wish::Change(change) => change.min(i64::MAX - 1),
        };
        self.0.borrow_mut()[field::CHANGE].copy_from_slice(&change.to_be_bytes());
    }
}

impl fmt::Display for XcpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "XCP rtt {} throughput {}", self.rtt(), self.throughput())?;
        match self.wish() {
            Wish::Any => write!(f, " change any"),
            Wish::Change(bps) => write!(f, " change {bps:+} bit/s"),
        }
    }
}

/// A checked view of the echo's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XcpEcho([u8; field::ECHO_LEN]);

impl XcpEcho {
    /// The view of an echo; none if the header is foreign, too short or a data packet's.
    pub fn parse(header: &Header) -> Option<Self> {
        let bytes: [u8; field::ECHO_LEN] = fields::view(header, ID)?;
        (bytes[field::FORMAT] == FORMAT_ECHO).then_some(Self(bytes))
    }

    /// The echo that says this: the sum of all changes in bit/s, modulo 2^64.
    pub fn new(feedback: i64) -> Self {
        let mut bytes = [0; field::ECHO_LEN];
        bytes[field::FORMAT] = FORMAT_ECHO;
        bytes[field::FEEDBACK].copy_from_slice(&feedback.to_be_bytes());
        Self(bytes)
    }

    /// What it says.
    pub fn feedback(&self) -> i64 {
        i64::from_be_bytes(fields::field(&self.0, field::FEEDBACK))
    }

    /// Writes it as a header.
    pub fn emit(&self, header: &mut Header) {
        header.set(ID, &self.0);
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
    fn a_header_is_these_24_bytes_both_ways() {
        let mut written = XcpHeader::new(Span::from_millis(80), Rate::from_mbps(155.0));
        assert_eq!(written.wish(), Wish::Any);
        written.set_wish(Wish::Change(-1000));
        let mut header = Header::NONE;
        written.emit(&mut header);
        assert_eq!(header.of(ID), Some(&DATA[..]));
        let read = XcpHeader::parse(&Header::new(ID, &DATA)).unwrap();
        assert_eq!((read.rtt(), read.throughput()), (Span::from_millis(80), Rate::from_mbps(155.0)));
        assert_eq!(read.wish(), Wish::Change(-1000));
        assert_eq!(read.to_string(), "XCP rtt 80ms throughput 155Mbps change -1000 bit/s");
    }

    #[test]
    fn an_echo_is_these_12_bytes_both_ways() {
        let mut header = Header::NONE;
        XcpEcho::new(1000).emit(&mut header);
        assert_eq!(header.of(ID), Some(&ECHO[..]));
        let read = XcpEcho::parse(&Header::new(ID, &ECHO)).unwrap();
        assert_eq!((read.feedback(), read.to_string()), (1000, "XCP feedback so far +1000 bit/s".into()));
    }

    #[test]
    fn what_is_short_foreign_or_of_the_other_format_is_not_read() {
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
    fn what_does_not_fit_a_field_is_its_largest_value() {
        let mut header = XcpHeader::new(Span::MAX, Rate::MAX);
        assert_eq!(header.rtt(), Span::from_picos(u64::from(u32::MAX) * 1000));
        assert_eq!(header.throughput(), Rate::MAX);
        header.set_wish(Wish::Change(i64::MAX));
        assert_eq!(header.wish(), Wish::Change(i64::MAX - 1), "a router has spoken, whatever it said");
    }
}
