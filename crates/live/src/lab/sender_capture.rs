//! The packets at the senders of a run, as a pcapng file.

use super::wire::{self, ACK_BYTES, DATA_HEAD, Payload};
use crate::ip::ipv4_checksum;
use crate::pcapng::Pcapng;
use millpond_endpoint::{Acknowledgement, Frame, LossThreshold, Segment, SenderObserver, SenderState};
use millpond_law::{Congestion, Ecn};
use millpond_units::Time;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the headers of IPv4 and UDP before a lab datagram.
const UNDER: usize = 28;

/// The UDP port of all hosts: the first one that no service has (RFC 6335, section 6).
const PORT: u16 = 49_152;

/// A file that the senders of a run share. Each has an interface. A packet is the lab datagram of `docs/wire.md` over UDP and
/// IPv4; its stream bytes are left out, as the bytes of the simulator's packets do not exist. Sender `n` has the address
/// 10.1.n, its receiver 10.2.n. Times count from the start of the run, written as that of 1970.
#[derive(Clone)]
pub struct SenderCaptures<W: Write>(Arc<Mutex<SharedFile<W>>>);

struct SharedFile<W: Write> {
    file: Pcapng<W>,
    /// After an error nothing more is written.
    failure: Option<io::Error>,
}

impl<W: Write> SenderCaptures<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn begin(to: W) -> io::Result<Self> {
        let file = Pcapng::begin(to, "millpond run")?;
        Ok(Self(Arc::new(Mutex::new(SharedFile { file, failure: None }))))
    }

    /// The observer of one sender; `name`: its loop.
    ///
    /// # Errors
    /// Those of writing.
    pub fn sender(&self, name: &str) -> io::Result<SenderCapture<W>> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let interface = shared.file.interface(name)?;
        Ok(SenderCapture { shared: self.0.clone(), interface, bytes: Vec::new() })
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> io::Result<()> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.failure.take().map_or_else(|| shared.file.flush(), Err)
    }
}

/// Captures the packets that leave and arrive at one sender.
pub struct SenderCapture<W: Write> {
    shared: Arc<Mutex<SharedFile<W>>>,
    interface: u32,
    bytes: Vec<u8>,
}

/// Whether a packet leaves the sender or arrives there.
#[derive(Clone, Copy)]
enum Way {
    Out,
    In,
}

impl<W: Write> SenderCapture<W> {
    fn packet(&mut self, now: Time, way: Way, ecn: Ecn, frame: &Frame) {
        let datagram = match frame {
            Frame::Data(segment) => DATA_HEAD + segment.payload as usize,
            Frame::Ack(_) => ACK_BYTES,
        };
        let length = UNDER + datagram;
        self.bytes.clear();
        self.bytes.extend(headers(self.interface, way, ecn, length));
        wire::write(0, self.interface, ecn, frame, Payload::default(), &mut self.bytes);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.failure.is_none() {
            let written = shared.file.packet(self.interface, now.picos() / 1000, &self.bytes, length as u32);
            shared.failure = written.err();
        }
    }
}

/// The headers of IPv4 (RFC 791) and UDP (RFC 768, without checksum) of a packet of `length` bytes. Longer packets than IPv4 has
/// are written as the longest.
fn headers(sender: u32, way: Way, ecn: Ecn, length: usize) -> [u8; UNDER] {
    let [high, low] = [(sender >> 8) as u8, sender as u8];
    let (source, destination) = ([10, 1, high, low], [10, 2, high, low]);
    let (source, destination) = match way {
        Way::Out => (source, destination),
        Way::In => (destination, source),
    };
    let total = u16::try_from(length).unwrap_or(u16::MAX);
    let mut bytes = [0; UNDER];
    bytes[0] = 0x45;
    bytes[1] = ecn as u8;
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    bytes[8] = 64;
    bytes[9] = 17;
    bytes[12..16].copy_from_slice(&source);
    bytes[16..20].copy_from_slice(&destination);
    let checksum = ipv4_checksum(&bytes[..20]);
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    bytes[20..22].copy_from_slice(&PORT.to_be_bytes());
    bytes[22..24].copy_from_slice(&PORT.to_be_bytes());
    bytes[24..26].copy_from_slice(&(total - 20).to_be_bytes());
    bytes
}

impl<W: Write + Send> SenderObserver for SenderCapture<W> {
    fn on_sent(&mut self, now: Time, segment: &Segment) {
        self.packet(now, Way::Out, segment.ecn, &Frame::Data(*segment));
    }

    fn on_ack(&mut self, now: Time, ack: &Acknowledgement) {
        self.packet(now, Way::In, Ecn::NotCapable, &Frame::Ack(*ack));
    }

    fn on_lost(&mut self, _: Time, _: u64, _: LossThreshold) {}
    fn on_congestion(&mut self, _: Time, _: &Congestion) {}
    fn on_recovery_end(&mut self, _: Time) {}
    fn on_state(&mut self, _: Time, _: &SenderState) {}
}
