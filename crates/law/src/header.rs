//! The header that carries explicit feedback of a protocol in each packet, and the two ECN bits.

use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Largest size of a header, in bytes: the in-band telemetry of five links.
pub const HEADER_BYTES: usize = 40;

/// The protocol of a header, as a number on the wire. Each protocol with a header has its own number: a scenario that runs two
/// protocols with one number is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeaderId(pub u8);

impl HeaderId {
    /// No header at all.
    pub const NONE: Self = Self(0);
}

/// A header in wire format. A protocol reads and writes it through its own checked view, and must accept arbitrary
/// bytes: headers that are too short or of another protocol are ignored and counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Header {
    protocol: HeaderId,
    len: u8,
    bytes: [u8; HEADER_BYTES],
}

impl Default for Header {
    fn default() -> Self {
        Self::NONE
    }
}

impl Header {
    /// No header.
    pub const NONE: Self = Self { protocol: HeaderId::NONE, len: 0, bytes: [0; HEADER_BYTES] };

    /// A header of `protocol` with these bytes, truncated to [`HEADER_BYTES`].
    pub fn new(protocol: HeaderId, bytes: &[u8]) -> Self {
        let mut header = Self::NONE;
        header.set(protocol, bytes);
        header
    }

    /// Replaces protocol and bytes, which are truncated to [`HEADER_BYTES`].
    #[inline]
    pub fn set(&mut self, protocol: HeaderId, bytes: &[u8]) {
        let len = bytes.len().min(HEADER_BYTES);
        self.protocol = protocol;
        self.len = len as u8;
        self.bytes[..len].copy_from_slice(&bytes[..len]);
    }

    /// Appends bytes, if it is a header of `protocol` and has room for all of them. Returns whether it has appended them.
    #[inline]
    pub fn extend(&mut self, protocol: HeaderId, bytes: &[u8]) -> bool {
        let (start, end) = (usize::from(self.len), usize::from(self.len) + bytes.len());
        if self.protocol != protocol || end > HEADER_BYTES {
            return false;
        }
        self.bytes[start..end].copy_from_slice(bytes);
        self.len = end as u8;
        true
    }

    /// Its protocol.
    #[inline]
    pub const fn protocol(&self) -> HeaderId {
        self.protocol
    }

    /// Its bytes, if it is a header of `protocol`.
    #[inline]
    pub fn of(&self, protocol: HeaderId) -> Option<&[u8]> {
        (self.protocol == protocol).then(|| &self.bytes[..usize::from(self.len)])
    }

    /// Its bytes for writing, if it is a header of `protocol`.
    #[inline]
    pub fn of_mut(&mut self, protocol: HeaderId) -> Option<&mut [u8]> {
        (self.protocol == protocol).then(|| &mut self.bytes[..usize::from(self.len)])
    }

    /// Its first `N` bytes, if it is a header of `protocol` and has as many.
    #[inline]
    pub fn first<const N: usize>(&self, protocol: HeaderId) -> Option<&[u8; N]> {
        if self.has(protocol, N) { self.bytes.first_chunk() } else { None }
    }

    /// A copy of its fields, which begin with the first byte; none if it is not a header of `protocol` or is too short.
    #[inline]
    pub fn fields<T: FromBytes>(&self, protocol: HeaderId) -> Option<T> {
        if !self.has(protocol, size_of::<T>()) {
            return None;
        }
        T::read_from_prefix(&self.bytes).ok().map(|(fields, _)| fields)
    }

    /// Its fields for writing, under the conditions of [`Self::fields`].
    #[inline]
    pub fn fields_mut<T>(&mut self, protocol: HeaderId) -> Option<&mut T>
    where
        T: FromBytes + IntoBytes + KnownLayout + Unaligned,
    {
        if !self.has(protocol, size_of::<T>()) {
            return None;
        }
        T::mut_from_prefix(&mut self.bytes).ok().map(|(fields, _)| fields)
    }

    /// Replaces protocol and bytes by these fields; bytes beyond [`HEADER_BYTES`] are cut off.
    #[inline]
    pub fn set_fields<T: IntoBytes + Immutable>(&mut self, protocol: HeaderId, fields: &T) {
        self.set(protocol, fields.as_bytes());
    }

    #[inline]
    fn has(&self, protocol: HeaderId, bytes: usize) -> bool {
        self.protocol == protocol && usize::from(self.len) >= bytes
    }

    /// Its bytes, of whichever protocol.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Replaces the rate of the feedback in a header, in bit/s, by what the function returns for it. A header without such a rate
/// stays as it is.
pub type RateField = fn(&mut Header, &mut dyn FnMut(f64) -> f64);

/// Number of headers that a law could not read: too short, of another protocol, or invalid. The law ignores them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread(u64);

impl Unread {
    /// Returns what was read from a header, and counts the header if that is none.
    #[inline]
    pub fn note<T>(&mut self, read: Option<T>) -> Option<T> {
        self.0 += u64::from(read.is_none());
        read
    }

    /// The same at a link that other protocols cross: counts only headers of the protocol `expected`.
    #[inline]
    pub fn note_own<T>(&mut self, expected: HeaderId, protocol: HeaderId, read: Option<T>) -> Option<T> {
        self.0 += u64::from(read.is_none() && protocol == expected);
        read
    }

    /// The number of unreadable headers.
    pub const fn count(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Header({}, {:02x?})", self.protocol.0, self.bytes())
    }
}

/// The two ECN bits of the IP header (RFC 3168, RFC 8311).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// 00: not ECN-capable; a marked packet is dropped.
    #[default]
    NotCapable = 0b00,
    /// 01: ECT(1); ABC calls it "accelerate".
    Ect1 = 0b01,
    /// 10: ECT(0); ABC calls it "brake".
    Ect0 = 0b10,
    /// 11: congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// May a queue mark this packet instead of dropping it?
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotCapable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_only_by_the_protocol_that_wrote_it() {
        let mut header = Header::new(HeaderId(7), &[1, 2, 3]);
        assert_eq!(header.of(HeaderId(7)), Some(&[1, 2, 3][..]));
        assert_eq!(header.of(HeaderId(8)), None);
        assert_eq!(header.first(HeaderId(7)), Some(&[1, 2]));
        assert_eq!(header.first(HeaderId(7)), None::<&[u8; 4]>);
        assert_eq!(header.fields(HeaderId(7)), Some([1_u8, 2, 3]));
        assert_eq!(header.fields_mut(HeaderId(7)), None::<&mut [u8; 4]>);
        assert_eq!(header.fields_mut(HeaderId(8)), None::<&mut [u8; 1]>);
        header.of_mut(HeaderId(7)).unwrap()[1] = 9;
        assert_eq!(header.bytes(), [1, 9, 3]);
        assert_eq!(Header::new(HeaderId(7), &[0xff; 64]).bytes().len(), HEADER_BYTES);
        assert_eq!(Header::NONE.bytes(), []);
    }

    #[test]
    fn a_header_grows_by_whole_reports_of_its_own_protocol() {
        let mut header = Header::new(HeaderId(7), &[1; HEADER_BYTES - 3]);
        assert!(!header.extend(HeaderId(8), &[2]) && !header.extend(HeaderId(7), &[2; 4]));
        assert!(header.extend(HeaderId(7), &[2, 3]) && header.extend(HeaderId(7), &[4]));
        assert_eq!(header.bytes()[HEADER_BYTES - 4..], [1, 2, 3, 4]);
        assert!(!header.extend(HeaderId(7), &[5]));
    }
}
