//! Fields of headers, in network byte order.

use millpond_units::Span;
use zerocopy::byteorder::network_endian::U32;

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
