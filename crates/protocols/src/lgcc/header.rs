//! The echo of LGCC: the rate of the downstream loop, as a scaled receiver window.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! |     rate of the downstream loop [128 B/s], big-endian         |
//! +---------------+---------------+---------------+---------------+
//! ```
//!
//! The paper writes the rate into TCP's receiver window and reads it as bytes per second (section VI-A). A window
//! with TCP's scale option is a number of units of up to 2^14 bytes; here the scale is fixed at 7, so that four
//! bytes cover 1.024 kbit/s to 4.398 Tbit/s. All ones: the receiver sets no limit.
//!
//! With `echo = "excess"` a second field follows: the backlog of the relay less its target in units of two bytes, in two's
//! complement, and a bit that is set while the relay's send queue is above the target, so that probes are not needed.
//!
//! ```text
//! 4               5               6               7
//! +---------------+---------------+---------------+---------------+
//! |   excess of the relay's backlog [2 B], signed, big-endian   |H|
//! +---------------+---------------+---------------+---------------+
//! ```
//!
//! With `price = "field"` data packets have a header of two bytes, to which each link adds its price. It follows the other
//! fields of the echo: as bytes 4 and 5, or behind an excess as bytes 8 and 9.
//!
//! ```text
//! 0               1
//! +---------------+---------------+
//! |  price [1/2048 nat], big-end. |
//! +---------------+---------------+
//! ```

use millpond_law::{Header, HeaderId};
use millpond_units::Rate;
use std::fmt;
use zerocopy::byteorder::network_endian::{I32, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of LGCC.
pub(super) const ID: HeaderId = HeaderId(1);

/// The unit of the rate field in bit/s: bytes per second, scaled by 7 bits.
const UNIT_BPS: u64 = 8 << 7;

/// All ones: no limit.
const NO_LIMIT: u32 = u32::MAX;

/// Units of the price field in a nat.
const UNITS_IN_NAT: f64 = 2048.0;

/// The sum of the prices of the links so far.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub(super) struct PriceField {
    units: U16,
}

impl PriceField {
    /// The field of a data packet; none if the header is foreign or too short.
    pub(super) fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// The same for writing.
    pub(super) fn parse_mut(header: &mut Header) -> Option<&mut Self> {
        header.fields_mut(ID)
    }

    /// The field that follows an echo; none if the header is foreign or ends before it.
    pub(super) fn parse_echoed(header: &Header) -> Option<Self> {
        const AFTER_EXCESS: usize = size_of::<ExcessEcho>();
        const AFTER_RATE: usize = size_of::<LgccEcho>();
        let bytes = header.of(ID)?;
        let start = if bytes.len() < AFTER_EXCESS { AFTER_RATE } else { AFTER_EXCESS };
        Self::read_from_prefix(bytes.get(start..)?).ok().map(|(field, _)| field)
    }

    /// The sum in nats.
    pub(super) fn nats(&self) -> f64 {
        f64::from(self.units.get()) / UNITS_IN_NAT
    }

    /// Adds the price of a link in nats, rounded to the field's unit. The sum is at most the largest value.
    pub(super) fn add(&mut self, nats: f64) {
        // The conversion saturates.
        let units = libm::round(nats * UNITS_IN_NAT) as u16;
        self.units = self.units.get().saturating_add(units).into();
    }

    /// Writes it as the header of a data packet.
    pub(super) fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }

    /// Appends it to an echo.
    pub(super) fn append(&self, header: &mut Header) {
        header.extend(ID, self.as_bytes());
    }
}

/// The limit that a receiver echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRate {
    /// The rate of the downstream loop.
    Limit(Rate),
    /// The receiver is at the destination, which sets no limit.
    NoLimit,
}

/// The fields of the echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct LgccEcho {
    next_rate: U32,
}

/// The fields of an echo with the excess of the relay's backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct ExcessEcho {
    rate: LgccEcho,
    excess: I32,
}

impl ExcessEcho {
    /// An echo with this rate, with the excess in bytes, rounded and limited to the range of the field, and with whether
    /// the relay's send queue is above its target.
    pub(super) fn new(rate: Rate, excess: f64, holds_data: bool) -> Self {
        // The conversion saturates; clearing the last bit rounds down.
        let even = (2.0 * libm::round(excess / 2.0)) as i32 & !1;
        Self { rate: LgccEcho::new(NextRate::Limit(rate)), excess: (even | i32::from(holds_data)).into() }
    }

    /// The view of a header with an excess; none if the header is foreign or shorter.
    pub(super) fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// Backlog of the relay less its target, in bytes.
    pub(super) fn excess(&self) -> f64 {
        f64::from(self.excess.get() & !1)
    }

    /// Whether the relay's send queue is above its target.
    pub(super) fn holds_data(&self) -> bool {
        self.excess.get() & 1 == 1
    }

    /// Writes it as a header.
    pub(super) fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

impl LgccEcho {
    /// Replaces the echoed limit, if there is one; see [`millpond_law::RateField`].
    pub(super) fn replace_rate(header: &mut Header, carry: &mut dyn FnMut(f64) -> f64) {
        let Some(fields) = header.fields_mut::<Self>(ID) else { return };
        if let NextRate::Limit(rate) = fields.next_rate() {
            *fields = Self::new(NextRate::Limit(Rate::from_bps_f64(carry(rate.as_f64()))));
        }
    }

    /// The view of an LGCC header; none if the header is foreign or too short.
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// An echo with this limit. A rate is rounded to the field's unit, and is at most the largest value below all ones.
    pub fn new(next: NextRate) -> Self {
        let units = match next {
            NextRate::NoLimit => NO_LIMIT,
            NextRate::Limit(rate) => {
                let units = rate.bps().saturating_add(UNIT_BPS / 2) / UNIT_BPS;
                u32::try_from(units).unwrap_or(NO_LIMIT).min(NO_LIMIT - 1)
            }
        };
        Self { next_rate: units.into() }
    }

    /// The echoed limit.
    pub fn next_rate(&self) -> NextRate {
        match self.next_rate.get() {
            NO_LIMIT => NextRate::NoLimit,
            units => NextRate::Limit(Rate::from_bps(u64::from(units) * UNIT_BPS)),
        }
    }

    /// Writes it as a header.
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

impl fmt::Display for LgccEcho {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.next_rate() {
            NextRate::Limit(rate) => write!(f, "LGCC next {rate}"),
            NextRate::NoLimit => f.write_str("LGCC next unlimited"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 Mbit/s are 62.5 MB/s, 488281.25 units of 128 B/s: 488281 = 0x00077359.
    const AT_500_MBPS: [u8; 4] = [0x00, 0x07, 0x73, 0x59];

    #[test]
    fn a_rate_of_500_megabits_per_second_is_written_and_parsed_as_four_bytes() {
        let mut header = Header::NONE;
        LgccEcho::new(NextRate::Limit(Rate::from_mbps(500.0))).emit(&mut header);
        assert_eq!(header.of(ID), Some(&AT_500_MBPS[..]));
        let echo = LgccEcho::parse(&Header::new(ID, &AT_500_MBPS)).unwrap();
        assert_eq!(echo.next_rate(), NextRate::Limit(Rate::from_bps(488_281 * 1024)));
        assert_eq!(echo.to_string(), "LGCC next 499999.744kbps");
    }

    #[test]
    fn the_destination_sets_no_limit() {
        let mut header = Header::NONE;
        LgccEcho::new(NextRate::NoLimit).emit(&mut header);
        assert_eq!(header.bytes(), [0xff; 4]);
        assert_eq!(LgccEcho::parse(&header).map(|echo| echo.next_rate()), Some(NextRate::NoLimit));
        assert_eq!(LgccEcho::parse(&header).unwrap().to_string(), "LGCC next unlimited");
    }

    #[test]
    fn a_rate_is_kept_within_half_a_unit_and_never_parsed_as_no_limit() {
        for bps in [0, 1, 511, 512, 1_000_000, 158_000_000, 4_000_000_000_000, u64::MAX] {
            let NextRate::Limit(back) = LgccEcho::new(NextRate::Limit(Rate::from_bps(bps))).next_rate()
            else {
                panic!("{bps} became no limit");
            };
            let largest = u64::from(NO_LIMIT - 1) * UNIT_BPS;
            assert!(back.bps().abs_diff(bps.min(largest)) <= UNIT_BPS / 2, "{bps}");
        }
    }

    /// 3000 B below the target: the two's complement of 3000 = 0x0bb8 is 0xfffff448.
    #[test]
    fn the_excess_follows_the_rate_as_four_signed_bytes() {
        let mut header = Header::NONE;
        ExcessEcho::new(Rate::from_mbps(500.0), -3000.4, false).emit(&mut header);
        assert_eq!(header.of(ID), Some(&[0x00, 0x07, 0x73, 0x59, 0xff, 0xff, 0xf4, 0x48][..]));
        let holding = ExcessEcho::new(Rate::from_mbps(500.0), -3000.4, true);
        let both =
            [ExcessEcho::parse(&header).unwrap(), holding].map(|echo| (echo.excess(), echo.holds_data()));
        assert_eq!(both, [(-3000.0, false), (-3000.0, true)]);
        holding.emit(&mut header);
        assert_eq!(header.of(ID).unwrap()[4..], [0xff, 0xff, 0xf4, 0x49]);
        let rate = LgccEcho::parse(&header).unwrap().next_rate();
        assert_eq!(
            rate,
            NextRate::Limit(Rate::from_bps(488_281 * 1024)),
            "a reader of four bytes has the rate"
        );
        assert_eq!(ExcessEcho::parse(&Header::new(ID, &AT_500_MBPS)), None);
        assert_eq!(ExcessEcho::new(Rate::ZERO, 1e12, false).excess(), f64::from(i32::MAX - 1));
        assert_eq!(ExcessEcho::new(Rate::ZERO, f64::NAN, false).excess(), 0.0);
    }

    /// 1.5 nats are 3072 units, .25 are 512: 3584 = 0x0e00.
    #[test]
    fn prices_of_links_add_up_in_two_bytes() {
        let mut header = Header::NONE;
        PriceField::default().emit(&mut header);
        assert_eq!(header.of(ID), Some(&[0, 0][..]));
        for nats in [1.5, 0.25] {
            PriceField::parse_mut(&mut header).unwrap().add(nats);
        }
        assert_eq!(header.of(ID), Some(&[0x0e, 0x00][..]));
        assert_eq!(PriceField::parse(&header).unwrap().nats(), 1.75);
        let mut most = PriceField::default();
        for nats in [f64::NAN, -3.0, 31.0, 31.0, f64::INFINITY] {
            most.add(nats);
        }
        assert_eq!(most.units.get(), u16::MAX);
        assert_eq!(PriceField::parse(&Header::new(ID, &[1])), None);
        assert_eq!(PriceField::parse(&Header::new(HeaderId(99), &[1, 2])), None);
    }

    #[test]
    fn a_price_follows_the_rate_or_the_excess_of_an_echo() {
        let mut price = PriceField::default();
        price.add(1.75);
        let (mut rate, mut excess) = (Header::NONE, Header::NONE);
        LgccEcho::new(NextRate::Limit(Rate::from_mbps(500.0))).emit(&mut rate);
        ExcessEcho::new(Rate::from_mbps(500.0), -3000.4, false).emit(&mut excess);
        assert_eq!([&rate, &excess].map(PriceField::parse_echoed), [None, None], "an echo without a price");
        price.append(&mut rate);
        price.append(&mut excess);
        assert_eq!(rate.of(ID), Some(&[0x00, 0x07, 0x73, 0x59, 0x0e, 0x00][..]));
        assert_eq!(excess.of(ID), Some(&[0x00, 0x07, 0x73, 0x59, 0xff, 0xff, 0xf4, 0x48, 0x0e, 0x00][..]));
        for header in [&rate, &excess] {
            assert_eq!(PriceField::parse_echoed(header), Some(price));
            let limit = NextRate::Limit(Rate::from_bps(488_281 * 1024));
            assert_eq!(LgccEcho::parse(header).map(|echo| echo.next_rate()), Some(limit));
        }
        assert_eq!(ExcessEcho::parse(&rate), None);
        assert_eq!(PriceField::parse_echoed(&Header::new(HeaderId(99), &[1; 10])), None);
    }

    #[test]
    fn short_or_foreign_headers_are_rejected() {
        assert_eq!(LgccEcho::parse(&Header::NONE), None);
        assert_eq!(LgccEcho::parse(&Header::new(ID, &[1, 2, 3])), None);
        assert_eq!(LgccEcho::parse(&Header::new(HeaderId(99), &AT_500_MBPS)), None);
        assert!(
            LgccEcho::parse(&Header::new(ID, &[7; 30])).is_some(),
            "longer headers are accepted for future versions"
        );
    }
}
