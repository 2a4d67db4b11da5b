//! The format of a lab datagram: a frame of the `endpoint` crate with its stream bytes. `docs/wire.md` documents it.
//!
//! ```text
//!   | head, 70 bytes: checksum, run, loop, size, ECN, header of the law | data: 56 bytes, then stream bytes          |
//!   |                                                                   | acknowledgement: 96 bytes                  |
//! ```
//!
//! There is no encryption: the format is for experiments within one machine.

use super::checksum::crc32c;
use millpond_endpoint::{AckRanges, Acknowledgement, Frame, Segment};
use millpond_law::{Ecn, HEADER_BYTES, Header, HeaderId};
use millpond_units::{Span, Time};
use std::fmt;
use std::ops::RangeInclusive;
use zerocopy::byteorder::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The first two bytes of every datagram.
const MAGIC: [u8; 2] = *b"MP";

/// The version of this format.
const VERSION: u8 = 2;

/// The offsets of `docs/wire.md` are those of a header of this size: another size needs another version.
const _: () = assert!(HEADER_BYTES == 40 && VERSION == 2);

const DATA: u8 = 1;
const ACKNOWLEDGEMENT: u8 = 2;

/// Flags of data.
const LAST: u8 = 0b01;
const MARKED_UPSTREAM: u8 = 0b10;

/// Packet numbers stay below this, as in QUIC (RFC 9000, section 12.3).
const NUMBERS: u64 = 1 << 62;

/// The longest datagram: that of a UDP datagram over IPv4.
pub(crate) const LONGEST: usize = 65_507;

/// Bytes of a datagram with data before its stream bytes.
pub(crate) const DATA_HEAD: usize = size_of::<HeadFields>() + size_of::<DataFields>();

/// Bytes of a datagram with an acknowledgement.
pub(crate) const ACK_BYTES: usize = size_of::<HeadFields>() + size_of::<AckFields>();

/// The fields that data and acknowledgements share.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct HeadFields {
    magic: [u8; 2],
    version: u8,
    kind: u8,
    checksum: U32,
    run: U64,
    loop_id: U32,
    size: U32,
    stream_id: U16,
    ecn: u8,
    flags: u8,
    header_protocol: u8,
    header_length: u8,
    header: [u8; HEADER_BYTES],
}

/// The further fields of data.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct DataFields {
    number: U64,
    floor: U64,
    offset: U64,
    sent_at: U64,
    origin_time: U64,
    queueing: U64,
    payload: U32,
    payload_checksum: U32,
}

/// The further fields of an acknowledgement.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct AckFields {
    delay: U64,
    ce_packets: U32,
    not_ect_packets: U32,
    ce_bytes: U64,
    credit: U64,
    ranges: [[U64; 2]; AckRanges::MAX],
}

/// A datagram that has been parsed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Datagram<'a> {
    /// The run that sent it.
    pub(crate) run: u64,
    /// Its loop.
    pub(crate) loop_id: u32,
    /// The ECN field that its last writer gave to the IP header.
    pub(crate) ecn: Ecn,
    /// The frame. The ECN field of data is `ecn`.
    pub(crate) frame: Frame,
    /// The stream bytes of data.
    pub(crate) payload: Payload<'a>,
}

/// Stream bytes with the checksum that their first sender computed. Routers forward both unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Payload<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) checksum: u32,
}

impl<'a> Payload<'a> {
    /// Stream bytes and their checksum.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, checksum: crc32c(&[bytes]) }
    }

    /// True if the bytes are those that the sender wrote.
    pub(crate) fn is_intact(&self) -> bool {
        self.checksum == crc32c(&[self.bytes])
    }
}

/// Why bytes are not a lab datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireError {
    /// Too short, or longer than its fields say.
    Length,
    /// It does not begin with `MP`.
    Magic,
    /// Another version.
    Version(u8),
    /// The checksum of the head does not match.
    Checksum,
    /// A field has a value that no sender writes.
    Field(&'static str),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("its length is not that of its fields"),
            Self::Magic => f.write_str("it is no lab datagram"),
            Self::Version(version) => write!(f, "version {version}; this is version {VERSION}"),
            Self::Checksum => f.write_str("the checksum of its head does not match"),
            Self::Field(name) => write!(f, "its field \"{name}\" has an invalid value"),
        }
    }
}

/// Writes a datagram to the end of `into`. `payload`: the stream bytes of data, as many as its `payload`.
pub(crate) fn write(
    run: u64,
    loop_id: u32,
    ecn: Ecn,
    frame: &Frame,
    payload: Payload<'_>,
    into: &mut Vec<u8>,
) {
    let head = |kind, size: u32, stream_id: u16, flags, header: &Header| {
        let mut fields = HeadFields {
            magic: MAGIC,
            version: VERSION,
            kind,
            checksum: U32::ZERO,
            run: run.into(),
            loop_id: loop_id.into(),
            size: size.into(),
            stream_id: stream_id.into(),
            ecn: ecn as u8,
            flags,
            header_protocol: header.protocol().0,
            header_length: header.bytes().len() as u8,
            header: [0; HEADER_BYTES],
        };
        fields.header[..header.bytes().len()].copy_from_slice(header.bytes());
        fields
    };
    match frame {
        Frame::Data(segment) => {
            let flags = (if segment.last { LAST } else { 0 })
                | (if segment.marked_upstream { MARKED_UPSTREAM } else { 0 });
            let head = head(DATA, segment.bytes, segment.stream_id, flags, &segment.header);
            append(head, data_fields(segment, payload.checksum).as_bytes(), into);
            into.extend_from_slice(payload.bytes);
        }
        Frame::Ack(ack) => {
            let ranges = ack.ranges.iter().count() as u8;
            let head = head(ACKNOWLEDGEMENT, ack.bytes, ack.stream_id, ranges, &ack.echo);
            append(head, ack_fields(ack).as_bytes(), into);
        }
    }
}

/// Appends head and fields, with their checksum.
fn append(mut head: HeadFields, fields: &[u8], into: &mut Vec<u8>) {
    head.checksum = crc32c(&[head.as_bytes(), fields]).into();
    into.extend_from_slice(head.as_bytes());
    into.extend_from_slice(fields);
}

fn data_fields(segment: &Segment, payload_checksum: u32) -> DataFields {
    DataFields {
        number: segment.number.into(),
        floor: segment.floor.into(),
        offset: segment.offset.into(),
        sent_at: segment.sent_at.picos().into(),
        origin_time: segment.origin_time.picos().into(),
        queueing: segment.queueing.picos().into(),
        payload: segment.payload.into(),
        payload_checksum: payload_checksum.into(),
    }
}

fn ack_fields(ack: &Acknowledgement) -> AckFields {
    let mut ranges = [[U64::ZERO; 2]; AckRanges::MAX];
    for (pair, range) in ranges.iter_mut().zip(ack.ranges.iter()) {
        *pair = [(*range.start()).into(), (*range.end()).into()];
    }
    AckFields {
        delay: ack.delay.picos().into(),
        ce_packets: ack.ce_packets.into(),
        not_ect_packets: ack.not_ect_packets.into(),
        ce_bytes: ack.ce_bytes.into(),
        credit: ack.credit.into(),
        ranges,
    }
}

/// Parses a datagram. Stream bytes are not checked: [`Payload::is_intact`] does.
pub(crate) fn parse(bytes: &[u8]) -> Result<Datagram<'_>, WireError> {
    let (head, rest) = HeadFields::ref_from_prefix(bytes).map_err(|_| WireError::Length)?;
    if head.magic != MAGIC {
        return Err(WireError::Magic);
    }
    if head.version != VERSION {
        return Err(WireError::Version(head.version));
    }
    let ecn = ecn_of(head.ecn)?;
    let (frame, payload) = match head.kind {
        DATA => {
            let (fields, payload) = DataFields::ref_from_prefix(rest).map_err(|_| WireError::Length)?;
            check(head, fields.as_bytes())?;
            let payload = Payload { bytes: payload, checksum: fields.payload_checksum.get() };
            (Frame::Data(segment(head, ecn, fields, payload)?), payload)
        }
        ACKNOWLEDGEMENT => {
            let fields = AckFields::ref_from_bytes(rest).map_err(|_| WireError::Length)?;
            check(head, fields.as_bytes())?;
            (Frame::Ack(acknowledgement(head, fields)?), Payload::default())
        }
        _ => return Err(WireError::Field("kind")),
    };
    Ok(Datagram { run: head.run.get(), loop_id: head.loop_id.get(), ecn, frame, payload })
}

/// Compares the checksum of the head with its bytes.
fn check(head: &HeadFields, fields: &[u8]) -> Result<(), WireError> {
    let unsigned = HeadFields { checksum: U32::ZERO, ..*head };
    let matches = crc32c(&[unsigned.as_bytes(), fields]) == head.checksum.get();
    if matches { Ok(()) } else { Err(WireError::Checksum) }
}

fn ecn_of(bits: u8) -> Result<Ecn, WireError> {
    [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]
        .into_iter()
        .find(|ecn| *ecn as u8 == bits)
        .ok_or(WireError::Field("ecn"))
}

fn header(head: &HeadFields) -> Result<Header, WireError> {
    let bytes =
        head.header.get(..usize::from(head.header_length)).ok_or(WireError::Field("header length"))?;
    Ok(Header::new(HeaderId(head.header_protocol), bytes))
}

fn segment(
    head: &HeadFields,
    ecn: Ecn,
    fields: &DataFields,
    payload: Payload<'_>,
) -> Result<Segment, WireError> {
    if payload.bytes.len() as u64 != u64::from(fields.payload.get()) {
        return Err(WireError::Length);
    }
    let (number, offset) = (fields.number.get(), fields.offset.get());
    let ends = |name, is_valid: bool| if is_valid { Ok(()) } else { Err(WireError::Field(name)) };
    ends("flags", head.flags & !(LAST | MARKED_UPSTREAM) == 0)?;
    ends("number", number < NUMBERS && fields.floor.get() <= number)?;
    ends("offset", offset.checked_add(fields.payload.get().into()).is_some())?;
    ends("size", head.size.get() > 0)?;
    Ok(Segment {
        number,
        floor: fields.floor.get(),
        offset,
        payload: fields.payload.get(),
        bytes: head.size.get(),
        sent_at: Time::from_picos(fields.sent_at.get()),
        origin_time: Time::from_picos(fields.origin_time.get()),
        queueing: Span::from_picos(fields.queueing.get()),
        ecn,
        last: head.flags & LAST != 0,
        stream_id: head.stream_id.get(),
        marked_upstream: head.flags & MARKED_UPSTREAM != 0,
        header: header(head)?,
    })
}

fn acknowledgement(head: &HeadFields, fields: &AckFields) -> Result<Acknowledgement, WireError> {
    let count = usize::from(head.flags);
    let pairs = fields.ranges.get(..count).ok_or(WireError::Field("ranges"))?;
    let ranges = pairs.iter().map(|[first, last]| first.get()..=last.get());
    let is_range = |range: &RangeInclusive<u64>| range.start() <= range.end() && *range.end() < NUMBERS;
    let ranges: Vec<_> = ranges.filter(is_range).collect();
    let kept = AckRanges::newest_first(ranges.iter().cloned());
    // Ranges that touch, are not in descending order or are too long come out differently.
    if ranges.len() != count || !kept.iter().eq(ranges) {
        return Err(WireError::Field("ranges"));
    }
    if head.size.get() == 0 {
        return Err(WireError::Field("size"));
    }
    Ok(Acknowledgement {
        ranges: kept,
        delay: Span::from_picos(fields.delay.get()),
        ce_packets: fields.ce_packets.get(),
        not_ect_packets: fields.not_ect_packets.get(),
        ce_bytes: fields.ce_bytes.get(),
        credit: fields.credit.get(),
        stream_id: head.stream_id.get(),
        bytes: head.size.get(),
        echo: header(head)?,
    })
}
