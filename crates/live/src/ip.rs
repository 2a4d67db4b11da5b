//! The fields of an IP packet that a router reads and writes: size, flow, ECN bits.

use millpond_law::Ecn;

/// What identifies the flow of a packet: both addresses, protocol, both ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowKey {
    source: [u8; 16],
    destination: [u8; 16],
    protocol: u8,
    /// Source and destination port; zero for protocols without ports and for fragments.
    ports: [u8; 4],
}

impl FlowKey {
    /// A hash of all fields: FNV-1a of 64 bits, folded to 32 (draft-eastlake-fnv).
    pub(crate) fn hash(&self) -> u32 {
        let fields = [&self.source[..], &self.destination, &[self.protocol], &self.ports];
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let hash = fields.into_iter().flatten().fold(0xcbf2_9ce4_8422_2325, step);
        (hash ^ (hash >> 32)) as u32
    }
}

/// The checksum of an IPv4 header whose checksum field is zero (RFC 1071).
pub(crate) fn ipv4_checksum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// The fields of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) flow: FlowKey,
    pub(crate) ecn: Ecn,
}

/// TCP, UDP, DCCP, SCTP and UDP-Lite begin with both ports.
const WITH_PORTS: &[u8] = &[6, 17, 33, 132, 136];

/// Reads a packet; none if it has no complete IPv4 or IPv6 header.
pub(crate) fn read(packet: &[u8]) -> Option<Facts> {
    match packet.first()? >> 4 {
        4 => read_v4(packet),
        6 => read_v6(packet),
        _ => None,
    }
}

/// RFC 791, section 3.1.
fn read_v4(packet: &[u8]) -> Option<Facts> {
    let header: &[u8; 20] = packet.first_chunk()?;
    let length = usize::from(header[0] & 0xf) * 4;
    if length < 20 || packet.len() < length {
        return None;
    }
    let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    let ports = if fragment { [0; 4] } else { ports(header[9], &packet[length..]) };
    let wide = |from: usize| {
        let mut address = [0; 16];
        address[..4].copy_from_slice(&header[from..from + 4]);
        address
    };
    let flow = FlowKey { source: wide(12), destination: wide(16), protocol: header[9], ports };
    Some(Facts { flow, ecn: ecn(header[1]) })
}

/// RFC 8200, section 3. Ports behind extension headers are not read.
fn read_v6(packet: &[u8]) -> Option<Facts> {
    let header: &[u8; 40] = packet.first_chunk()?;
    let (mut source, mut destination) = ([0; 16], [0; 16]);
    source.copy_from_slice(&header[8..24]);
    destination.copy_from_slice(&header[24..40]);
    let ports = ports(header[6], &packet[40..]);
    Some(Facts {
        flow: FlowKey { source, destination, protocol: header[6], ports },
        ecn: ecn(header[1] >> 4),
    })
}

fn ports(protocol: u8, payload: &[u8]) -> [u8; 4] {
    let first = if WITH_PORTS.contains(&protocol) { payload.first_chunk() } else { None };
    first.copied().unwrap_or_default()
}

/// The ECN codepoint in the two low bits (RFC 3168, section 5).
fn ecn(bits: u8) -> Ecn {
    match bits & 0b11 {
        0b00 => Ecn::NotCapable,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// True for IPv6 packets to all nodes or routers of a link (ff02::/16, RFC 4291), such as router solicitations: no router
/// forwards them.
pub(crate) fn is_link_local_multicast(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| first >> 4 == 6) && packet.get(24..26) == Some(&[0xff, 0x02])
}

/// Writes the ECN bits of a packet that [`read`] accepted. The checksum of an IPv4 header stays as right or wrong as it was.
pub(crate) fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    let bits = ecn as u8;
    match packet {
        [first, second, rest @ ..] if *first >> 4 == 4 && rest.len() >= 18 => {
            let old = u16::from_be_bytes([*first, *second]);
            *second = (*second & !0b11) | bits;
            let new = u16::from_be_bytes([*first, *second]);
            let checksum = u16::from_be_bytes([rest[8], rest[9]]);
            rest[8..10].copy_from_slice(&updated_checksum(checksum, old, new).to_be_bytes());
        }
        [first, second, ..] if *first >> 4 == 6 => *second = (*second & !0b11_0000) | bits << 4,
        _ => {}
    }
}

/// The checksum of a header after one 16-bit word has changed: `HC' = ~(~HC + ~m + m')` in one's complement arithmetic
/// (RFC 1624, Eq. 3).
fn updated_checksum(checksum: u16, old: u16, new: u16) -> u16 {
    let mut sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The one's complement sum of RFC 1071; 0xffff for a header with a right checksum.
    fn sum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
        let sum = words.sum::<u32>();
        let sum = (sum & 0xffff) + (sum >> 16);
        ((sum & 0xffff) + (sum >> 16)) as u16
    }

    /// An IPv4 packet with a right checksum: UDP from 10.0.0.1 to 10.0.0.2, `bytes` long, from this source port.
    pub(crate) fn packet(bytes: usize, ecn: Ecn, port: u16) -> Vec<u8> {
        let mut packet = vec![0; bytes];
        packet[..4].copy_from_slice(&[0x45, ecn as u8, (bytes >> 8) as u8, bytes as u8]);
        packet[8..10].copy_from_slice(&[64, 17]);
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        packet[20..22].copy_from_slice(&port.to_be_bytes());
        let checksum = !sum(&packet[..20]);
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    #[test]
    fn the_example_of_rfc_1624_has_its_checksum() {
        // Section 4: HC = 0xDD2F, m = 0x5555, m' = 0x3285 give 0x0000.
        assert_eq!(updated_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn a_changed_ecn_field_leaves_a_right_checksum_and_all_other_bits(
            bytes in prop::collection::vec(any::<u8>(), 20..60), ecn_bits in 0_u8..4,
        ) {
            let mut packet = bytes;
            packet[0] = 0x45;
            packet[10..12].copy_from_slice(&[0, 0]);
            let checksum = !sum(&packet[..20]);
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
            let before = packet.clone();
            set_ecn(&mut packet, ecn(ecn_bits));
            prop_assert_eq!(sum(&packet[..20]), 0xffff);
            prop_assert_eq!(read(&packet).unwrap().ecn as u8, ecn_bits);
            prop_assert_eq!(packet[1] & !0b11, before[1] & !0b11);
            prop_assert_eq!((&packet[2..10], &packet[12..]), (&before[2..10], &before[12..]));
        }

        #[test]
        fn any_bytes_can_be_read_and_marked(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut packet = bytes;
            let known = read(&packet);
            set_ecn(&mut packet, Ecn::Ce);
            prop_assert!(known.is_none() || read(&packet).is_some_and(|facts| facts.ecn == Ecn::Ce));
        }
    }

    #[test]
    fn the_traffic_class_of_ipv6_holds_the_ecn_bits() {
        // Traffic class 0xb9 (DSCP 46, ECT(1)), flow label 0x12345.
        let mut packet = vec![0; 48];
        packet[..4].copy_from_slice(&[0x6b, 0x91, 0x23, 0x45]);
        assert_eq!(read(&packet).unwrap().ecn, Ecn::Ect1);
        set_ecn(&mut packet, Ecn::Ce);
        assert_eq!(packet[..4], [0x6b, 0xb1, 0x23, 0x45]);
        assert!(!is_link_local_multicast(&packet));
        packet[24..26].copy_from_slice(&[0xff, 0x02]);
        assert!(is_link_local_multicast(&packet));
    }

    #[test]
    fn flows_differ_in_their_ports_and_fragments_have_none() {
        let flow = |packet: &[u8]| read(packet).unwrap().flow;
        assert_ne!(flow(&packet(100, Ecn::Ect0, 1)), flow(&packet(100, Ecn::Ect0, 2)));
        assert_eq!(flow(&packet(100, Ecn::Ect0, 1)), flow(&packet(900, Ecn::Ce, 1)).with_ports_of(1));
        let fragment = |port| {
            let mut packet = packet(100, Ecn::Ect0, port);
            packet[6] = 0x20;
            packet
        };
        assert_eq!(flow(&fragment(1)), flow(&fragment(2)));
    }

    impl FlowKey {
        fn with_ports_of(self, port: u16) -> Self {
            let [high, low] = port.to_be_bytes();
            Self { ports: [high, low, 0, 0], ..self }
        }
    }

    #[test]
    fn flows_fill_queues_no_less_evenly_than_random_numbers() {
        // 10000 flows that differ in the port alone, in 1024 queues: chi-squared with 1023 degrees of freedom has a mean of
        // 1023 and a standard deviation of 45; five of them.
        let mut queues = vec![0_u32; 1024];
        for port in 0..10_000 {
            let flow = read(&packet(100, Ecn::Ect0, port)).unwrap().flow;
            queues[flow.hash() as usize % 1024] += 1;
        }
        let expected = 10_000.0 / 1024.0;
        let squares = queues.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected);
        let chi_squared = squares.sum::<f64>();
        assert!(chi_squared < 1023.0 + 226.0, "{chi_squared}");
    }

    #[test]
    fn what_is_no_ip_packet_is_not_read() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[0x45; 19]), None);
        assert_eq!(read(&[0x44; 40]), None, "a header of 16 bytes");
        assert_eq!(read(&[0x60; 39]), None);
        assert_eq!(read(&[0x50; 60]), None);
    }
}
