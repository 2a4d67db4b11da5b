//! Fields of headers, in network byte order.

use millpond_law::{Header, HeaderId};
use millpond_units::Span;
use std::ops::Range;

/// Picoseconds in the unit of a round-trip time.
const PICOS_PER_NANO: u64 = 1000;

/// The first `N` bytes of a header; none if it is not `protocol`'s or too short.
#[inline]
pub(crate) fn view<const N: usize>(header: &Header, protocol: HeaderId) -> Option<[u8; N]> {
    header.first(protocol).copied()
}

/// The field of `N` bytes at this place.
#[inline]
pub(crate) fn field<const N: usize>(bytes: &[u8], place: Range<usize>) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[place]);
    field
}

/// A round-trip time as a field: nanoseconds, rounded; 4.3 s is the longest.
#[inline]
pub(crate) fn from_rtt(rtt: Span) -> [u8; 4] {
    let nanos = rtt.picos().saturating_add(PICOS_PER_NANO / 2) / PICOS_PER_NANO;
    u32::try_from(nanos).unwrap_or(u32::MAX).to_be_bytes()
}

/// The round-trip time that such a field holds.
#[inline]
pub(crate) fn to_rtt(nanos: [u8; 4]) -> Span {
    Span::from_picos(u64::from(u32::from_be_bytes(nanos)) * PICOS_PER_NANO)
}
