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

/// A file of packets.
pub(crate) struct Pcapng<W: Write> {
    to: W,
    block: Vec<u8>,
    interfaces: u32,
}

impl<W: Write> Pcapng<W> {
    /// Begins a file. `application`: the program that writes it.
    pub(crate) fn begin(to: W, application: &str) -> io::Result<Self> {
        let mut capture = Self { to, block: Vec::new(), interfaces: 0 };
        capture.start(SECTION_HEADER);
        capture.add(&BYTE_ORDER.to_ne_bytes());
        // Version 1.0, a section of unknown length.
        capture.add(&[1_u16.to_ne_bytes(), 0_u16.to_ne_bytes()].concat());
        capture.add(&(-1_i64).to_ne_bytes());
        capture.option(SHB_USERAPPL, application.as_bytes());
        capture.option(OPT_END, &[]);
        capture.finish_block()?;
        Ok(capture)
    }

    /// Adds an interface, and returns its number.
    pub(crate) fn interface(&mut self, name: &str) -> io::Result<u32> {
        self.start(INTERFACE_DESCRIPTION);
        // No limit of the captured length.
        self.add(&[LINKTYPE_RAW.to_ne_bytes(), [0; 2], [0; 2], [0; 2]].concat());
        self.option(IF_NAME, name.as_bytes());
        // Times in 10^-9 s.
        self.option(IF_TSRESOL, &[9]);
        self.option(OPT_END, &[]);
        self.finish_block()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Adds a packet of `length` bytes that was seen at an interface, of which `captured` are known. `nanos`: nanoseconds
    /// since 1970.
    pub(crate) fn packet(
        &mut self,
        interface: u32,
        nanos: u64,
        captured: &[u8],
        length: u32,
    ) -> io::Result<()> {
        self.start(ENHANCED_PACKET);
        for number in [interface, (nanos >> 32) as u32, nanos as u32, captured.len() as u32, length] {
            self.add(&number.to_ne_bytes());
        }
        self.add(captured);
        self.pad();
        self.finish_block()
    }

    /// Writes what is still in memory.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
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
pub(crate) mod tests {
    use super::*;

    /// Type and content of each block. The two lengths of each block agree, or there is none.
    pub(crate) fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
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
    fn a_file_has_a_section_its_interfaces_and_its_packets() {
        let mut file = Vec::new();
        let mut capture = Pcapng::begin(&mut file, "a test").unwrap();
        let interfaces = ["one", "two"].map(|name| capture.interface(name).unwrap());
        assert_eq!(interfaces, [0, 1]);
        let nanos = 1_700_000_000_123_456_789;
        capture.packet(1, nanos, &[1, 2, 3, 4, 5], 900).unwrap();
        capture.flush().unwrap();
        let blocks = blocks(&file);
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION_HEADER, 1, 1, ENHANCED_PACKET]);
        assert_eq!(blocks[0].1[..4], BYTE_ORDER.to_ne_bytes());
        assert_eq!(blocks[1].1[..2], 101_u16.to_ne_bytes());
        let expected = [1, (nanos >> 32) as u32, (nanos & 0xffff_ffff) as u32, 5, 900].map(u32::to_ne_bytes);
        assert_eq!(blocks[3].1[..20], expected.concat());
        assert_eq!(blocks[3].1[20..], [1, 2, 3, 4, 5, 0, 0, 0]);
    }
}
