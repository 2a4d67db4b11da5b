//! The header of Sprout (section 3.4). Data packets and acknowledgements carry the same format; each leaves the fields of
//! the other zero.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! | silence [ms]                  | tick: number of the forecast  |   big-endian
//! +---------------+---------------+---------------+---------------+
//! | F1            | F2            | F3            | F4            |   Fn: deliveries within n ticks,
//! +---------------+---------------+---------------+---------------+       in units of 1500 bytes
//! | F5            | F6            | F7            | F8            |
//! +---------------+---------------+---------------+---------------+
//! | flags         |
//! +---------------+
//! ```
//!
//! `silence`: time after this packet in which no other may arrive, because the sender sends none (the paper's time-to-next).
//! `flags`: 1 if the sender had nothing to send before this packet.

use super::forecast::Forecast;
use super::model::TICKS;
use millpond_law::{Header, HeaderId};
use millpond_units::Span;
use std::fmt;
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of Sprout.
pub(super) const ID: HeaderId = HeaderId(11);

/// Flag: the sender had nothing to send before this packet.
const AFTER_IDLE: u8 = 1;

/// The fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SproutHeader {
    silence: U16,
    tick: U16,
    forecast: Forecast,
    flags: u8,
}

impl SproutHeader {
    /// The view of a header of Sprout; none if the header is foreign or too short.
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// The header of a data packet.
    pub(super) fn data(after_idle: bool, silence: Span) -> Self {
        let silence = u16::try_from(silence.picos() / Span::from_millis(1).picos()).unwrap_or(u16::MAX);
        let flags = if after_idle { AFTER_IDLE } else { 0 };
        Self { silence: silence.into(), tick: U16::ZERO, forecast: [0; TICKS], flags }
    }

    /// The header of an acknowledgement.
    pub(super) fn echo(tick: u16, forecast: Forecast) -> Self {
        Self { silence: U16::ZERO, tick: tick.into(), forecast, flags: 0 }
    }

    /// Had the sender nothing to send before this packet?
    pub fn after_idle(&self) -> bool {
        self.flags & AFTER_IDLE != 0
    }

    /// Time after this packet in which no other may arrive.
    pub fn silence(&self) -> Span {
        Span::from_millis(self.silence.get().into())
    }

    /// Number of the tick at whose beginning the forecast was made.
    pub fn tick(&self) -> u16 {
        self.tick.get()
    }

    /// Deliveries within 1 to 8 ticks.
    pub fn forecast(&self) -> [u8; TICKS] {
        self.forecast
    }

    /// Writes it as a header.
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

impl fmt::Display for SproutHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sprout silence {}", self.silence())?;
        if self.after_idle() {
            write!(f, " after idle")?;
        }
        write!(f, " tick {} forecast {:?}", self.tick, self.forecast)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: [u8; 13] = [0x01, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    const ECHO: [u8; 13] = [0, 0, 0x01, 0x02, 2, 4, 7, 9, 12, 14, 17, 19, 0];

    #[test]
    fn a_header_of_13_bytes_is_written_and_parsed() {
        let mut header = Header::NONE;
        SproutHeader::data(true, Span::from_millis(258)).emit(&mut header);
        assert_eq!(header.of(ID), Some(&DATA[..]));
        let read = SproutHeader::parse(&header).unwrap();
        assert_eq!((read.after_idle(), read.silence()), (true, Span::from_millis(258)));
        SproutHeader::echo(258, [2, 4, 7, 9, 12, 14, 17, 19]).emit(&mut header);
        assert_eq!(header.of(ID), Some(&ECHO[..]));
        let read = SproutHeader::parse(&Header::new(ID, &ECHO)).unwrap();
        assert_eq!((read.tick(), read.forecast()[7]), (258, 19));
        assert_eq!(read.to_string(), "Sprout silence 0s tick 258 forecast [2, 4, 7, 9, 12, 14, 17, 19]");
    }

    #[test]
    fn short_or_foreign_headers_are_rejected_and_long_silences_saturate() {
        assert_eq!(SproutHeader::parse(&Header::NONE), None);
        assert_eq!(SproutHeader::parse(&Header::new(ID, &ECHO[..12])), None);
        assert_eq!(SproutHeader::parse(&Header::new(HeaderId(99), &ECHO)), None);
        assert_eq!(SproutHeader::data(false, Span::MAX).silence(), Span::from_millis(65_535));
    }
}
