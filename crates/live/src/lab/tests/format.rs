//! The format of datagrams: literal bytes, every frame comes back, every damage is noticed.

use crate::lab::wire::{DATA_HEAD, Datagram, Payload, WireError, parse, write};
use millpond_endpoint::{AckRanges, Acknowledgement, Frame, Segment};
use millpond_law::{Ecn, HEADER_BYTES, Header, HeaderId, Random};
use millpond_units::{Span, Time};
use proptest::prelude::*;

const ECN: [Ecn; 4] = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

fn bytes_of(run: u64, loop_id: u32, ecn: Ecn, frame: &Frame, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(run, loop_id, ecn, frame, Payload::new(payload), &mut bytes);
    bytes
}

fn segment() -> Segment {
    Segment {
        number: 0x0102,
        floor: 0x0100,
        offset: 0x0a0b_0c0d,
        payload: 4,
        bytes: 1500,
        sent_at: Time::from_picos(0x11),
        origin_time: Time::from_picos(0x12),
        queueing: Span::from_picos(0x13),
        ecn: Ecn::Ect0,
        last: true,
        stream_id: 3,
        marked_upstream: false,
        header: Header::new(HeaderId(7), &[0xca, 0xfe]),
    }
}

fn acknowledgement() -> Acknowledgement {
    Acknowledgement {
        ranges: AckRanges::newest_first([9..=12, 2..=6]),
        delay: Span::from_picos(5),
        ce_packets: 6,
        not_ect_packets: 3,
        ce_bytes: 9000,
        credit: u64::MAX,
        stream_id: 0,
        bytes: 40,
        echo: Header::NONE,
    }
}

/// Fields as big-endian bytes.
fn joined(fields: &[&[u8]]) -> Vec<u8> {
    fields.concat()
}

#[test]
fn the_bytes_of_data_are_those_of_the_table() {
    let bytes = bytes_of(0xabcd, 5, Ecn::Ect0, &Frame::Data(segment()), b"data");
    let head = joined(&[b"MP", &[2, 1]]);
    let rest = joined(&[
        &0xabcd_u64.to_be_bytes(),
        &5_u32.to_be_bytes(),
        &1500_u32.to_be_bytes(),
        &3_u16.to_be_bytes(),
        &[0b10, 0b01, 7, 2, 0xca, 0xfe],
        &[0; 38],
        &0x0102_u64.to_be_bytes(),
        &0x0100_u64.to_be_bytes(),
        &0x0a0b_0c0d_u64.to_be_bytes(),
        &0x11_u64.to_be_bytes(),
        &0x12_u64.to_be_bytes(),
        &0x13_u64.to_be_bytes(),
        &4_u32.to_be_bytes(),
    ]);
    assert_eq!(bytes[..4], head);
    assert_eq!(bytes[8..122], rest);
    assert_eq!((bytes.len(), &bytes[DATA_HEAD..]), (130, &b"data"[..]));
    let unsigned = joined(&[&head, &[0; 4], &bytes[8..DATA_HEAD]]);
    assert_eq!(bytes[4..8], crate::lab::checksum::crc32c(&[&unsigned]).to_be_bytes());
    assert_eq!(bytes[122..126], crate::lab::checksum::crc32c(&[b"data"]).to_be_bytes());
}

#[test]
fn the_bytes_of_an_acknowledgement_are_those_of_the_table() {
    let bytes = bytes_of(0xabcd, 5, Ecn::NotCapable, &Frame::Ack(acknowledgement()), b"");
    let rest = joined(&[
        &0xabcd_u64.to_be_bytes(),
        &5_u32.to_be_bytes(),
        &40_u32.to_be_bytes(),
        &0_u16.to_be_bytes(),
        &[0, 2, 0, 0],
        &[0; 40],
        &5_u64.to_be_bytes(),
        &6_u32.to_be_bytes(),
        &3_u32.to_be_bytes(),
        &9000_u64.to_be_bytes(),
        &[0xff; 8],
        &9_u64.to_be_bytes(),
        &12_u64.to_be_bytes(),
        &2_u64.to_be_bytes(),
        &6_u64.to_be_bytes(),
        &[0; 32],
    ]);
    assert_eq!((&bytes[..4], &bytes[8..]), (&b"MP\x02\x02"[..], &rest[..]));
}

fn frames() -> impl Strategy<Value = (Frame, Vec<u8>)> {
    prop_oneof![segments(), acknowledgements().prop_map(|ack| (Frame::Ack(ack), Vec::new()))]
}

fn headers() -> impl Strategy<Value = Header> {
    (any::<u8>(), prop::collection::vec(any::<u8>(), 0..=HEADER_BYTES))
        .prop_map(|(protocol, bytes)| Header::new(HeaderId(protocol), &bytes))
}

fn segments() -> impl Strategy<Value = (Frame, Vec<u8>)> {
    let numbers = (0..1_u64 << 62, any::<u64>(), any::<u64>(), any::<[u64; 3]>());
    let payload = prop::collection::vec(any::<u8>(), 0..300);
    (numbers, payload, 1..u32::MAX, any::<(bool, bool, u16)>(), headers()).prop_map(
        |((number, floor, offset, times), payload, bytes, (last, marked_upstream, stream_id), header)| {
            let segment = Segment {
                number,
                floor: floor % (number + 1),
                offset: offset >> 1,
                payload: payload.len() as u32,
                bytes,
                sent_at: Time::from_picos(times[0]),
                origin_time: Time::from_picos(times[1]),
                queueing: Span::from_picos(times[2]),
                ecn: ECN[usize::from(stream_id % 4)],
                last,
                stream_id,
                marked_upstream,
                header,
            };
            (Frame::Data(segment), payload)
        },
    )
}

fn acknowledgements() -> impl Strategy<Value = Acknowledgement> {
    let steps = prop::collection::vec((1..70_000_u64, 1..70_000_u64), 0..=AckRanges::MAX);
    (steps, any::<[u64; 4]>(), any::<u16>(), 1..u32::MAX, headers()).prop_map(
        |(steps, counts, stream_id, bytes, echo)| {
            let mut next = 0;
            let mut ranges: Vec<_> = steps
                .iter()
                .map(|(gap, length)| {
                    let first = next + gap;
                    next = first + length;
                    first..=next - 1
                })
                .collect();
            ranges.reverse();
            Acknowledgement {
                ranges: AckRanges::newest_first(ranges),
                delay: Span::from_picos(counts[0]),
                ce_packets: counts[1] as u32,
                not_ect_packets: (counts[1] >> 32) as u32,
                ce_bytes: counts[2],
                credit: counts[3],
                stream_id,
                bytes,
                echo,
            }
        },
    )
}

proptest! {
    #[test]
    fn every_frame_comes_back(run in any::<u64>(), loop_id in any::<u32>(), (frame, payload) in frames()) {
        let ecn = if let Frame::Data(segment) = &frame { segment.ecn } else { Ecn::Ect0 };
        let bytes = bytes_of(run, loop_id, ecn, &frame, &payload);
        let parsed = parse(&bytes).unwrap();
        prop_assert!(parsed.payload.is_intact());
        let sent = Datagram { run, loop_id, ecn, frame, payload: parsed.payload };
        prop_assert_eq!(parsed, sent);
        prop_assert_eq!(parsed.payload.bytes, payload);
    }
}

/// True if a receiver notices that these bytes are damaged.
fn is_noticed(bytes: &[u8]) -> bool {
    parse(bytes).map_or(true, |datagram| !datagram.payload.is_intact())
}

#[test]
fn every_flip_of_one_or_two_bits_is_noticed() {
    // The least distance of two code words of CRC-32C is at least four up to 2^31 bits (Castagnoli, Braeuer and Herrmann 1993),
    // so that a flip of three bits is noticed too; two are tested with a distance of each length.
    for frame in [Frame::Data(segment()), Frame::Ack(acknowledgement())] {
        let payload: &[u8] = if matches!(frame, Frame::Data(_)) { b"data" } else { b"" };
        let intact = bytes_of(1, 2, Ecn::Ect0, &frame, payload);
        assert!(!is_noticed(&intact));
        let bits = 8 * intact.len();
        for first in 0..bits {
            for second in first..bits {
                let mut damaged = intact.clone();
                damaged[first / 8] ^= 1 << (first % 8);
                if second > first {
                    damaged[second / 8] ^= 1 << (second % 8);
                }
                assert!(is_noticed(&damaged), "bits {first} and {second}");
            }
        }
    }
}

#[test]
fn every_truncation_and_extension_is_noticed() {
    for frame in [Frame::Data(segment()), Frame::Ack(acknowledgement())] {
        let payload: &[u8] = if matches!(frame, Frame::Data(_)) { b"data" } else { b"" };
        let intact = bytes_of(1, 2, Ecn::Ect0, &frame, payload);
        for length in 0..intact.len() {
            assert!(is_noticed(&intact[..length]), "{length} bytes");
        }
        assert_eq!(parse(&[&intact[..], &[0]].concat()), Err(WireError::Length));
    }
}

#[test]
fn a_datagram_of_another_kind_or_version_has_a_message_of_its_own() {
    let intact = bytes_of(1, 2, Ecn::Ect0, &Frame::Data(segment()), b"data");
    let with = |at: usize, byte: u8| {
        let mut bytes = intact.clone();
        bytes[at] = byte;
        parse(&bytes).unwrap_err().to_string()
    };
    assert_eq!(with(0, b'X'), "it is no lab datagram");
    assert_eq!(with(2, 9), "version 9; this is version 2");
    assert_eq!(with(3, 9), "its field \"kind\" has an invalid value");
    assert_eq!(with(40, 1), "the checksum of its head does not match");
}

#[test]
fn ten_million_random_inputs_are_refused_or_come_back() {
    // A third are random bytes, a third damaged datagrams, a third have random bytes under a correct checksum.
    let mut random = Random::stream(5, "inputs");
    let data = bytes_of(1, 2, Ecn::Ect0, &Frame::Data(segment()), b"data");
    let ack = bytes_of(1, 2, Ecn::Ect0, &Frame::Ack(acknowledgement()), b"");
    let mut accepted = 0;
    for input in 0..10_000_000 {
        let mut bytes = if input % 2 == 0 { data.clone() } else { ack.clone() };
        for _ in 0..=random.bits() % 4 {
            let at = random.bits() as usize % bytes.len();
            bytes[at] = random.bits() as u8;
        }
        match input % 3 {
            0 => bytes.iter_mut().skip(3).for_each(|byte| *byte = random.bits() as u8),
            1 => bytes.truncate(random.bits() as usize % (bytes.len() + 1)),
            _ => sign(&mut bytes),
        }
        if let Ok(datagram) = parse(&bytes) {
            accepted += 1;
            let Datagram { run, loop_id, ecn, frame, payload } = datagram;
            let mut again = Vec::new();
            write(run, loop_id, ecn, &frame, payload, &mut again);
            assert_eq!(parse(&again), Ok(datagram));
        }
    }
    assert!(accepted > 1_000_000, "{accepted}");
}

/// Writes the checksum of the head.
fn sign(bytes: &mut [u8]) {
    let head = if bytes[3] == 1 { DATA_HEAD } else { bytes.len() };
    bytes[4..8].fill(0);
    let checksum = crate::lab::checksum::crc32c(&[&bytes[..head.min(bytes.len())]]);
    bytes[4..8].copy_from_slice(&checksum.to_be_bytes());
}
