//! The four quantities of Millpond, each a type: [`Time`], [`Span`], [`Bytes`] and [`Rate`].
//!
//! All four are whole numbers: picoseconds, bytes, bits per second. The **one rounding rule**: a value
//! that is not whole is rounded to the nearest whole number, halves up. Where rounding errors would accumulate (a link
//! that serves packets) nothing is rounded: the element keeps the remainder.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod arithmetic;
pub mod format;
mod parse;
mod pattern;
mod show;
mod spelling;

pub use arithmetic::evaluate;
pub use parse::ParseError;
pub use pattern::glob;
pub use show::Readable;
pub use spelling::{all_nearest, nearest};

use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// Picoseconds in a second.
pub const PICOS: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the run; at most 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time in picoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// The rounding rule: nearest, halves up. A value out of range becomes the nearer limit, NaN becomes zero.
#[inline]
fn round(x: f64) -> u64 {
    (x + 0.5) as u64
}

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The latest instant, which stands for "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// From picoseconds since the start.
    #[inline]
    pub const fn from_picos(picos: u64) -> Self {
        Self(picos)
    }
    /// Picoseconds since the start.
    #[inline]
    pub const fn picos(self) -> u64 {
        self.0
    }
    /// From seconds since the start.
    #[inline]
    pub fn from_secs(seconds: f64) -> Self {
        Self(round(seconds * PICOS as f64))
    }
    /// Seconds since the start.
    #[inline]
    pub fn secs(self) -> f64 {
        self.0 as f64 / PICOS as f64
    }
    /// The span from `earlier` to this instant; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// The span of zero length.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// From picoseconds.
    #[inline]
    pub const fn from_picos(picos: u64) -> Self {
        Self(picos)
    }
    /// From whole microseconds.
    #[inline]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000_000)
    }
    /// From whole milliseconds.
    #[inline]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000_000)
    }
    /// From seconds.
    #[inline]
    pub fn from_secs(seconds: f64) -> Self {
        Self(round(seconds * PICOS as f64))
    }
    /// In picoseconds.
    #[inline]
    pub const fn picos(self) -> u64 {
        self.0
    }
    /// In seconds.
    #[inline]
    pub fn secs(self) -> f64 {
        self.0 as f64 / PICOS as f64
    }
    /// In milliseconds.
    #[inline]
    pub fn millis(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Whether the span is zero.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// The span multiplied by `factor`.
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        Self(round(self.0 as f64 * factor))
    }
    /// The difference, zero if `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);
    /// The largest amount, which stands for "unlimited".
    pub const MAX: Self = Self(u64::MAX);

    /// From a count of bytes.
    #[inline]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }
    /// From a number of bytes that need not be whole.
    #[inline]
    pub fn from_f64(bytes: f64) -> Self {
        Self(round(bytes))
    }
    /// As a count of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
    /// As a floating-point number of bytes.
    #[inline]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }
    /// In bits.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }
    /// The difference, zero if `other` is more.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The rate that carries this amount in `span`; [`Rate::MAX`] if `span` is zero.
    #[inline]
    pub fn per(self, span: Span) -> Rate {
        if span.0 == 0 {
            return Rate::MAX;
        }
        Rate(round(self.bits() as f64 * (PICOS as f64 / span.0 as f64)))
    }
}

impl Rate {
    /// The rate of zero: an outage.
    pub const ZERO: Self = Self(0);
    /// The highest rate.
    pub const MAX: Self = Self(u64::MAX);

    /// From bits per second.
    #[inline]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// From bits per second that need not be whole.
    #[inline]
    pub fn from_bps_f64(bps: f64) -> Self {
        Self(round(bps))
    }
    /// From megabits (10^6 bits) per second.
    #[inline]
    pub fn from_mbps(mbps: f64) -> Self {
        Self(round(mbps * 1e6))
    }
    /// In bits per second.
    #[inline]
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// In bits per second, as a floating-point number.
    #[inline]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }
    /// In bytes per second.
    #[inline]
    pub const fn bytes_per_sec(self) -> f64 {
        self.0 as f64 / 8.0
    }
    /// Whether the rate is zero.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// The rate multiplied by `factor`.
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        Self(round(self.0 as f64 * factor))
    }
    /// The time that `bytes` take at this rate, rounded; [`Span::MAX`] if the rate is zero.
    #[inline]
    pub fn time_for(self, bytes: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        let work = u128::from(bytes.bits()) * u128::from(PICOS);
        let rate = u128::from(self.0);
        Span(u64::try_from((work + rate / 2) / rate).unwrap_or(u64::MAX))
    }
    /// The amount that passes in `span` at this rate, rounded.
    #[inline]
    pub fn bytes_in(self, span: Span) -> Bytes {
        let unit = 8 * u128::from(PICOS);
        let bits = u128::from(self.0) * u128::from(span.0);
        Bytes(u64::try_from((bits + unit / 2) / unit).unwrap_or(u64::MAX))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

/// Sums saturate: "never" plus a second is still "never". Differences of unsigned amounts are `saturating_sub`.
macro_rules! amount {
    ($type:ident) => {
        impl Add for $type {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }
        impl AddAssign for $type {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl Sub for $type {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self {
                debug_assert!(self.0 >= other.0, "negative {}: {} - {}", stringify!($type), self.0, other.0);
                Self(self.0.saturating_sub(other.0))
            }
        }
        impl SubAssign for $type {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }
        impl Mul<u64> for $type {
            type Output = Self;
            #[inline]
            fn mul(self, times: u64) -> Self {
                Self(self.0.saturating_mul(times))
            }
        }
        impl Div<u64> for $type {
            type Output = Self;
            #[inline]
            fn div(self, parts: u64) -> Self {
                Self(self.0 / parts.max(1))
            }
        }
        impl core::iter::Sum for $type {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self(0), Add::add)
            }
        }
    };
}
amount!(Span);
amount!(Bytes);
amount!(Rate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_megabit_takes_a_second_at_a_megabit_per_second() {
        assert_eq!(Rate::from_mbps(1.0).time_for(Bytes::new(125_000)), Span::from_secs(1.0));
        assert_eq!(Rate::from_mbps(1.0).bytes_in(Span::from_secs(1.0)), Bytes::new(125_000));
        assert_eq!(Bytes::new(125_000).per(Span::from_secs(1.0)), Rate::from_mbps(1.0));
    }

    #[test]
    fn halves_are_rounded_up() {
        // 3 bps: one byte takes 2.666... s; 16 Tbps: one byte takes 0.5 ps.
        assert_eq!(Rate::from_bps(3).time_for(Bytes::new(1)), Span::from_picos(2_666_666_666_667));
        assert_eq!(Rate::from_bps(16_000_000_000_000).time_for(Bytes::new(1)), Span::from_picos(1));
        assert_eq!(Bytes::from_f64(2.5), Bytes::new(3));
        assert_eq!(Bytes::from_f64(f64::NAN), Bytes::ZERO);
        assert_eq!(Bytes::from_f64(-3.0), Bytes::ZERO);
    }

    #[test]
    fn a_rate_of_zero_takes_the_longest_span() {
        assert_eq!(Rate::ZERO.time_for(Bytes::new(1)), Span::MAX);
        assert_eq!(Time::from_secs(1.0) + Span::MAX, Time::NEVER);
        assert_eq!(Time::ZERO.since(Time::from_secs(1.0)), Span::ZERO);
    }
}
