//! The two load bits of VCP, and the byte that echoes them.
//!
//! In a data packet the load is in the ECN bits of the IP header (section 3.1, SIGCOMM 2005). The byte only indicates
//! that VCP routers may write them:
//!
//! ```text
//! 0
//! +---------------+
//! | 0 0 0 0 0 0 L |   L: zero in a data packet, the received load in an acknowledgement
//! +---------------+
//! ```

use millpond_law::{Ecn, Header, HeaderId};
use std::fmt;

/// Header number of VCP.
pub(super) const ID: HeaderId = HeaderId(5);

/// Load of the most loaded link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Load {
    /// 01: below 80 % of the target.
    Low = 0b01,
    /// 10: below the target.
    High = 0b10,
    /// 11: at the target or above.
    Over = 0b11,
}

impl Load {
    /// The load encoded by ECN bits; none for Not-ECT.
    #[inline]
    pub const fn of(ecn: Ecn) -> Option<Self> {
        match ecn {
            Ecn::NotCapable => None,
            Ecn::Ect1 => Some(Self::Low),
            Ecn::Ect0 => Some(Self::High),
            Ecn::Ce => Some(Self::Over),
        }
    }
}

/// A checked view of the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VcpHeader([u8; 1]);

impl VcpHeader {
    /// The view of a VCP header; none if the header is foreign or empty.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        header.first(ID).copied().map(Self)
    }

    /// A header with this load; none in a data packet.
    pub fn new(load: Option<Load>) -> Self {
        Self([load.map_or(0, |load| load as u8)])
    }

    /// The load; none in a data packet.
    pub const fn load(&self) -> Option<Load> {
        match self.0[0] {
            0b01 => Some(Load::Low),
            0b10 => Some(Load::High),
            0b11 => Some(Load::Over),
            _ => None,
        }
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set(ID, &self.0);
    }
}

impl fmt::Display for VcpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.load() {
            None => "VCP",
            Some(Load::Low) => "VCP low load",
            Some(Load::High) => "VCP high load",
            Some(Load::Over) => "VCP overload",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_has_its_byte_and_its_ecn_bits() {
        let loads = [(Ecn::NotCapable, None, 0), (Ecn::Ect1, Some(Load::Low), 1)];
        let more = [(Ecn::Ect0, Some(Load::High), 2), (Ecn::Ce, Some(Load::Over), 3)];
        for (ecn, load, byte) in loads.into_iter().chain(more) {
            let mut header = Header::NONE;
            VcpHeader::new(load).emit(&mut header);
            assert_eq!(header.of(ID), Some(&[byte][..]));
            assert_eq!(VcpHeader::parse(&Header::new(ID, &[byte])).unwrap().load(), load);
            assert_eq!(Load::of(ecn), load);
            assert_eq!(ecn as u8, byte);
        }
    }

    #[test]
    fn empty_or_foreign_headers_and_unknown_loads_are_rejected() {
        assert_eq!(VcpHeader::parse(&Header::NONE), None);
        assert_eq!(VcpHeader::parse(&Header::new(ID, &[])), None);
        assert_eq!(VcpHeader::parse(&Header::new(HeaderId(99), &[1])), None);
        assert_eq!(VcpHeader::parse(&Header::new(ID, &[0xff])).unwrap().load(), None);
        assert_eq!(VcpHeader::new(Some(Load::Over)).to_string(), "VCP overload");
    }
}
