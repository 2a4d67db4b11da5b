//! Captures of packets as pcapng files (draft-ietf-opsawg-pcapng), which Wireshark and tcpdump read.

use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// IP packets without a header before them.
const LINKTYPE_RAW: u16 = 101;

const OPT_END: u16 = 0;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;

/// Where a packet was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CapturePoint {
    /// At the start of this direction (0: down, 1: up), before its queue.
    Entering(usize),
    /// At the end of this direction.
    Leaving(usize),
}

/// The names of the interfaces of a file, in the order of [`CapturePoint::interface`].
const INTERFACES: [&str; 4] =
    ["down: before the link", "down: behind the link", "up: before the link", "up: behind the link"];

impl CapturePoint {
    fn interface(self) -> u32 {
        match self {
            Self::Entering(direction) => 2 * direction as u32,
            Self::Leaving(direction) => 2 * direction as u32 + 1,
        }
    }
}

/// A file of packets.
pub(crate) struct Capture<W: Write> {
    to: W,
    block: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// Begins a file.
    pub(crate) fn begin(to: W) -> io::Result<Self> {
        let mut capture = Self { to, block: Vec::new() };
        capture.start(SECTION_HEADER);
        capture.add(&BYTE_ORDER.to_ne_bytes());
        // Version 1.0, a section of unknown length.
        capture.add(&[1_u16.to_ne_bytes(), 0_u16.to_ne_bytes()].concat());
        capture.add(&(-1_i64).to_ne_bytes());
        capture.option(SHB_USERAPPL, b"millpond link");
        capture.option(OPT_END, &[]);
        capture.finish_block()?;
        for name in INTERFACES {
            capture.start(INTERFACE_DESCRIPTION);
            // No limit of the captured length.
            capture.add(&[LINKTYPE_RAW.to_ne_bytes(), [0; 2], [0; 2], [0; 2]].concat());
            capture.option(IF_NAME, name.as_bytes());
            // Times in 10^-9 s.
            capture.option(IF_TSRESOL, &[9]);
            capture.option(OPT_END, &[]);
            capture.finish_block()?;
        }
        Ok(capture)
    }

    /// Adds a packet; `nanos`: nanoseconds since 1970.
    pub(crate) fn packet(&mut self, place: CapturePoint, nanos: u64, packet: &[u8]) -> io::Result<()> {
        let length = packet.len() as u32;
        self.start(ENHANCED_PACKET);
        for number in [place.interface(), (nanos >> 32) as u32, nanos as u32, length, length] {
            self.add(&number.to_ne_bytes());
        }
        self.add(packet);
        self.pad();
        self.finish_block()
    }

    /// Writes what is still in memory.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// A block begins with its type and its length, and ends with its length.
    fn start(&mut self, kind: u32) {
        self.block.clear();
        self.add(&kind.to_ne_bytes());
        self.add(&[0; 4]);
    }

    fn add(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.add(&code.to_ne_bytes());
        self.add(&(value.len() as u16).to_ne_bytes());
        self.add(value);
        self.pad();
    }

    fn finish_block(&mut self) -> io::Result<()> {
        let length = (self.block.len() as u32 + 4).to_ne_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.add(&length);
        self.to.write_all(&self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Type and content of each block. The two lengths of each block agree, or there is none.
    fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
        let number = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().unwrap());
        let mut blocks = Vec::new();
        while !file.is_empty() {
            let length = number(&file[4..8]) as usize;
            assert!(length.is_multiple_of(4) && number(&file[length - 4..length]) as usize == length);
            blocks.push((number(&file[..4]), &file[8..length - 4]));
            file = &file[length..];
        }
        blocks
    }

    #[test]
    fn a_file_has_a_section_four_interfaces_and_its_packets() {
        let mut file = Vec::new();
        let mut capture = Capture::begin(&mut file).unwrap();
        let nanos = 1_700_000_000_123_456_789;
        capture.packet(CapturePoint::Leaving(1), nanos, &[1, 2, 3, 4, 5]).unwrap();
        capture.finish().unwrap();
        let blocks = blocks(&file);
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION_HEADER, 1, 1, 1, 1, ENHANCED_PACKET]);
        assert_eq!(blocks[0].1[..4], BYTE_ORDER.to_ne_bytes());
        assert_eq!(blocks[1].1[..2], 101_u16.to_ne_bytes());
        let expected = [3, (nanos >> 32) as u32, (nanos & 0xffff_ffff) as u32, 5, 5].map(u32::to_ne_bytes);
        assert_eq!(blocks[5].1[..20], expected.concat());
        assert_eq!(blocks[5].1[20..], [1, 2, 3, 4, 5, 0, 0, 0]);
    }
}
