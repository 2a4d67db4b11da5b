//! The four bits of MCP (section IV-I). Data packets and acknowledgements carry the same byte.
//!
//! ```text
//! 0
//! +-----------------+
//! | 0 0 0 0 L L F P |   L: load of the most loaded link so far, 00 at the sender
//! +-----------------+   F: fairing, P: fairing requested by this path
//! ```

use millpond_law::{Header, HeaderId};
use std::fmt;

/// Header number of MCP.
pub(super) const ID: HeaderId = HeaderId(8);

/// Mask of each field.
mod bits {
    pub(super) const LOAD: u8 = 0b1100;
    pub(super) const LOAD_SHIFT: u32 = 2;
    pub(super) const FAIRING: u8 = 0b0010;
    pub(super) const THIS_PATH: u8 = 0b0001;
}

/// Load of a link: the four ranges of Fig. 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Load {
    /// 00: below 48 %.
    #[default]
    Light = 0b00,
    /// 01: below 88 %.
    Medium = 0b01,
    /// 10: below 98 %.
    Heavy = 0b10,
    /// 11: 98 % or above.
    Over = 0b11,
}

/// A checked view of the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpHeader([u8; 1]);

impl McpHeader {
    /// The view of an MCP header; none if the header is foreign or empty.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        header.first(ID).copied().map(Self)
    }

    /// The header of a data packet at its sender, with or without a request for fairing.
    pub const fn new(requests_fairing: bool) -> Self {
        Self([if requests_fairing { bits::FAIRING | bits::THIS_PATH } else { 0 }])
    }

    /// The load of the most loaded link so far.
    #[inline]
    pub const fn load(&self) -> Load {
        match (self.0[0] & bits::LOAD) >> bits::LOAD_SHIFT {
            0b00 => Load::Light,
            0b01 => Load::Medium,
            0b10 => Load::Heavy,
            _ => Load::Over,
        }
    }

    /// F: whether the flow is to operate in the fairing mode.
    #[inline]
    pub const fn fairing(&self) -> bool {
        self.0[0] & bits::FAIRING != 0
    }

    /// P: whether the sender requests fairing from all flows of this path.
    #[inline]
    pub const fn requests_fairing(&self) -> bool {
        const BOTH: u8 = bits::FAIRING | bits::THIS_PATH;
        self.0[0] & BOTH == BOTH
    }

    /// Raises the load to that of a link, if it is higher.
    #[inline]
    pub fn pass(&mut self, load: Load) {
        if load > self.load() {
            self.0[0] = self.0[0] & !bits::LOAD | (load as u8) << bits::LOAD_SHIFT;
        }
    }

    /// Sets F: the flow is to operate in the fairing mode.
    #[inline]
    pub fn set_fairing(&mut self) {
        self.0[0] |= bits::FAIRING;
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set(ID, &self.0);
    }
}

impl fmt::Display for McpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = match self.load() {
            Load::Light => "light",
            Load::Medium => "medium",
            Load::Heavy => "heavy",
            Load::Over => "overload",
        };
        let fairing = match (self.requests_fairing(), self.fairing()) {
            (true, _) => ", asks for fairing",
            (false, true) => ", fairing",
            (false, false) => "",
        };
        write!(f, "MCP {load}{fairing}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_the_sixteen_headers_is_written_and_parsed() {
        let loads = [Load::Light, Load::Medium, Load::Heavy, Load::Over];
        for byte in 0..16_u8 {
            let view = McpHeader::parse(&Header::new(ID, &[byte])).unwrap();
            assert_eq!(view.load(), loads[usize::from(byte >> 2)]);
            assert_eq!(view.fairing(), byte & 0b10 != 0);
            assert_eq!(view.requests_fairing(), byte & 0b11 == 0b11);
            let mut header = Header::NONE;
            view.emit(&mut header);
            assert_eq!(header.of(ID), Some(&[byte][..]));
        }
    }

    #[test]
    fn a_sender_writes_the_lowest_load_and_both_bits_or_neither() {
        assert_eq!(McpHeader::new(false).0, [0b0000]);
        assert_eq!(McpHeader::new(true).0, [0b0011]);
        assert_eq!(McpHeader::new(true).to_string(), "MCP light, asks for fairing");
    }

    #[test]
    fn the_highest_load_of_the_path_is_kept_and_the_request_bit_is_unchanged() {
        let mut header = McpHeader::new(false);
        for load in [Load::Medium, Load::Heavy, Load::Medium, Load::Light] {
            header.pass(load);
        }
        header.set_fairing();
        assert_eq!(header.0, [0b1010]);
        assert!(header.fairing() && !header.requests_fairing());
        assert_eq!(header.to_string(), "MCP heavy, fairing");
    }

    #[test]
    fn empty_or_foreign_headers_are_rejected() {
        assert_eq!(McpHeader::parse(&Header::NONE), None);
        assert_eq!(McpHeader::parse(&Header::new(ID, &[])), None);
        assert_eq!(McpHeader::parse(&Header::new(HeaderId(99), &[0b1100])), None);
    }
}
