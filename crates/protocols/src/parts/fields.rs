//! Fields of headers, in network byte order.

use millpond_units::{Rate, Span};
use zerocopy::byteorder::network_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Picoseconds per unit of a round-trip time field.
const PICOS_PER_NANO: u64 = 1000;

/// A round-trip time as a field: rounded nanoseconds, at most 4.3 s.
#[inline]
pub(crate) fn from_rtt(rtt: Span) -> U32 {
    let nanos = rtt.picos().saturating_add(PICOS_PER_NANO / 2) / PICOS_PER_NANO;
    u32::try_from(nanos).unwrap_or(u32::MAX).into()
}

/// The round-trip time of such a field.
#[inline]
pub(crate) fn to_rtt(nanos: U32) -> Span {
    Span::from_picos(u64::from(nanos.get()) * PICOS_PER_NANO)
}

/// The least of the rates that the routers on a path have written, in bit/s; all ones before the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(transparent)]
pub struct LeastRate(U64);

impl LeastRate {
    /// No router has written a rate.
    pub(crate) const NONE: Self = Self(U64::MAX_VALUE);

    /// The rate; none if no router has written one.
    #[inline]
    pub(crate) fn get(self) -> Option<Rate> {
        Some(self.0.get()).filter(|bps| *bps != u64::MAX).map(Rate::from_bps)
    }

    /// Replaces the rate, if a router has written one, by what the function returns for it, in bit/s.
    pub(crate) fn replace(&mut self, carry: &mut dyn FnMut(f64) -> f64) {
        if let Some(rate) = self.get() {
            self.0 = Rate::from_bps_f64(carry(rate.as_f64())).bps().min(u64::MAX - 1).into();
        }
    }

    /// Lowers it to the rate of a router, if that is smaller.
    #[inline]
    pub(crate) fn lower_to(&mut self, rate: Rate) {
        self.0 = self.0.get().min(rate.bps()).into();
    }
}
