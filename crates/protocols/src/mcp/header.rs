//! The four bits of MCP (section IV-I). Data packets and acknowledgements carry the same byte.
//!
//! ```text
//! 0
//! +-----------------+
//! | 0 0 0 0 L L F P |   L: load of the most loaded link so far, 00 at the sender
//! +-----------------+   F: fairing, P: fairing requested by this path
//! ```
//!
//! With `step_share` a second byte follows, a [`StepCode`].

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

    /// Withdraws the request of this path.
    #[inline]
    pub(super) fn withdraw_request(&mut self) {
        self.0[0] &= !(bits::FAIRING | bits::THIS_PATH);
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set(ID, &self.0);
    }

    /// Writes it as a header with a second byte, in which no link has requested a step.
    #[inline]
    pub(super) fn emit_with_step(&self, header: &mut Header) {
        header.set(ID, &[self.0[0], StepCode::NONE.0]);
    }

    /// Replaces the first byte of a header, and lowers the step in the second byte, if there is one.
    #[inline]
    pub(super) fn rewrite(&self, header: &mut Header, step: StepCode) {
        if let Some([first, rest @ ..]) = header.of_mut(ID) {
            *first = self.0[0];
            if let Some(code) = rest.first_mut() {
                *code = step.0.min(*code);
            }
        }
    }
}

/// The additive step that the links of a path request, as an eighth of a binary logarithm: `2^(k / 8)` bit/s, from 1 bit/s to
/// 3.6 Gbit/s. 255: no link has requested any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepCode(pub(super) u8);

impl StepCode {
    /// No link has requested a step.
    pub(super) const NONE: Self = Self(u8::MAX);
    /// Codes per factor of two.
    const PER_OCTAVE: f64 = 8.0;

    /// The largest step that is not above this one, in bit/s.
    pub(super) fn at_most(bps: f64) -> Self {
        let code = libm::floor(libm::log2(bps.max(1.0)) * Self::PER_OCTAVE);
        Self(code.min(f64::from(u8::MAX - 1)) as u8)
    }

    /// The step in the second byte of a header; none without such a byte.
    #[inline]
    pub(super) fn parse(header: &Header) -> Option<Self> {
        header.first::<2>(ID).map(|bytes| Self(bytes[1]))
    }

    /// The step in bit/s; none if no link has requested any.
    pub(super) fn bps(self) -> Option<f64> {
        (self != Self::NONE).then(|| libm::exp2(f64::from(self.0) / Self::PER_OCTAVE))
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
    fn a_step_is_coded_within_an_eighth_of_an_octave_below_it() {
        for (bps, code) in [(0.0, 0), (1.0, 0), (2.0, 8), (80e3, 130), (1e12, 254)] {
            assert_eq!(StepCode::at_most(bps), StepCode(code), "{bps}");
        }
        for bps in [1.0, 9_999.0, 80e3, 3.5e9] {
            let ratio = StepCode::at_most(bps).bps().unwrap() / bps;
            assert!(ratio <= 1.0 + 1e-12 && ratio > libm::exp2(-1.0 / 8.0), "{bps}: {ratio}");
        }
        assert_eq!(StepCode::NONE.bps(), None);
    }

    #[test]
    fn a_second_byte_keeps_the_smallest_step_of_the_path_and_is_not_added_by_a_link() {
        let mut header = Header::NONE;
        McpHeader::new(true).emit_with_step(&mut header);
        assert_eq!((header.bytes(), StepCode::parse(&header)), (&[0b0011, 255][..], Some(StepCode::NONE)));
        let mut view = McpHeader::parse(&header).unwrap();
        view.pass(Load::Heavy);
        for (code, least) in
            [(StepCode(130), 130), (StepCode::NONE, 130), (StepCode(90), 90), (StepCode(91), 90)]
        {
            view.rewrite(&mut header, code);
            assert_eq!(header.bytes(), [0b1011, least]);
        }
        view.withdraw_request();
        view.rewrite(&mut header, StepCode::NONE);
        assert_eq!(header.bytes(), [0b1000, 90]);
        McpHeader::new(false).emit(&mut header);
        view.rewrite(&mut header, StepCode(90));
        assert_eq!((header.bytes(), StepCode::parse(&header)), (&[0b1000][..], None));
    }

    #[test]
    fn empty_or_foreign_headers_are_rejected() {
        assert_eq!(McpHeader::parse(&Header::NONE), None);
        assert_eq!(McpHeader::parse(&Header::new(ID, &[])), None);
        assert_eq!(McpHeader::parse(&Header::new(HeaderId(99), &[0b1100])), None);
    }
}
