//! The thread that moves packets between two devices.
//!
//! ```text
//!   ppoll: both devices, the channels of both ends, signals; until the next departure
//!     |
//!     +--> read a batch from each device --> Direction::enter, with the time of the clock
//!     |
//!     +--> Direction::run_to(now): every packet that was due, with its exact time --> write to the other device
//! ```
//!
//! A late wake-up changes no queue, mark or drop, because those are computed at the exact times of the departures; it only
//! delays the packets, which is recorded as lateness.

use crate::direction::Direction;
use crate::linux::capture::{Capture, CapturePoint};
use crate::linux::clock::{Clock, processor_time};
use crate::request::LinkError;
use millpond_stats::Histogram;
use millpond_units::Time;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Most packets that are read from a device before packets are written again.
const BATCH: usize = 32;

/// Larger than any IP packet.
const LARGEST: usize = 65_536;

/// One direction with its devices and its statistics.
pub(crate) struct Lane {
    pub(crate) direction: Direction,
    /// The device from which packets come, and that to which they go: 0 inside, 1 outside.
    from: usize,
    to: usize,
    pub(crate) lateness: Histogram,
    pub(crate) delivered: u64,
    /// Packets that the device did not accept.
    pub(crate) refused: u64,
}

impl Lane {
    /// The lane from one device to another.
    pub(crate) fn new(direction: Direction, from: usize, to: usize) -> Self {
        Self { direction, from, to, lateness: Histogram::of_delays(), delivered: 0, refused: 0 }
    }
}

/// Both directions of a link between two devices.
pub(crate) struct Emulator {
    /// Inside, outside.
    devices: [OwnedFd; 2],
    /// Down, up.
    pub(crate) lanes: [Lane; 2],
    pub(crate) clock: Clock,
    /// Processor time of this thread when the link started, in seconds.
    processor_time: f64,
    capture: Option<Capture<BufWriter<File>>>,
    buffer: Vec<u8>,
}

impl Emulator {
    /// A link that starts now.
    pub(crate) fn new(
        devices: [OwnedFd; 2],
        [down, up]: [Direction; 2],
        clock: Clock,
        capture: Option<Capture<BufWriter<File>>>,
    ) -> Self {
        let lanes = [Lane::new(down, 1, 0), Lane::new(up, 0, 1)];
        let processor_time = processor_time();
        Self { devices, lanes, clock, processor_time, capture, buffer: vec![0; LARGEST] }
    }

    /// The devices, inside and outside.
    pub(crate) fn devices(&self) -> [BorrowedFd<'_>; 2] {
        [self.devices[0].as_fd(), self.devices[1].as_fd()]
    }

    /// The share of a processor that this thread has used since the link started.
    pub(crate) fn processor_share(&self) -> f64 {
        let used = processor_time() - self.processor_time;
        used / self.clock.now().since(Time::ZERO).secs().max(1e-9)
    }

    /// When the emulator must be called next, whatever arrives.
    pub(crate) fn next_event(&self) -> Time {
        self.lanes.iter().map(|lane| lane.direction.next_event()).min().unwrap_or(Time::NEVER)
    }

    /// Reads a batch of packets from each device that has some, and delivers all packets that are due. `readable`: which
    /// devices have packets.
    pub(crate) fn step(&mut self, readable: [bool; 2]) -> Result<(), LinkError> {
        for number in 0..self.lanes.len() {
            if readable[self.lanes[number].from] {
                self.read(number)?;
            }
        }
        for number in 0..self.lanes.len() {
            self.deliver(number)?;
        }
        Ok(())
    }

    /// Reads up to [`BATCH`] packets for a lane.
    fn read(&mut self, number: usize) -> Result<(), LinkError> {
        let Self { devices, lanes, clock, capture, buffer, .. } = self;
        let lane = &mut lanes[number];
        for _ in 0..BATCH {
            let bytes = match rustix::io::read(&devices[lane.from], buffer.as_mut_slice()) {
                Ok(bytes) => bytes,
                // EBADFD: the namespace of the device is being removed, because its command has just ended.
                Err(Errno::AGAIN | Errno::INTR | Errno::BADFD) => break,
                Err(error) => return Err(io::Error::from(error).into()),
            };
            let now = clock.now();
            let packet = &buffer[..bytes];
            if lane.direction.enter(now, packet)
                && let Some(capture) = capture
            {
                capture.packet(CapturePoint::Entering(number), clock.since_1970(now), packet)?;
            }
        }
        Ok(())
    }

    /// Writes all packets of a lane that are due.
    fn deliver(&mut self, number: usize) -> Result<(), LinkError> {
        let Self { devices, lanes, clock, capture, .. } = self;
        let Lane { direction, to, lateness, delivered, refused, .. } = &mut lanes[number];
        let mut captured = Ok(());
        let now = clock.now();
        direction.run_to(now, |leaving| {
            let written = rustix::io::write(&devices[*to], leaving.packet);
            let now = clock.now();
            lateness.add(now.since(leaving.at).picos(), 1);
            match written {
                Ok(_) => *delivered += 1,
                Err(_) => *refused += 1,
            }
            if let Some(capture) = capture
                && captured.is_ok()
            {
                captured =
                    capture.packet(CapturePoint::Leaving(number), clock.since_1970(now), leaving.packet);
            }
        });
        captured
    }

    /// Writes what is left of the capture.
    pub(crate) fn finish_capture(&mut self) -> Result<(), LinkError> {
        self.capture.take().map_or(Ok(()), Capture::finish)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::LinkOptions;
    use crate::ip::tests::packet;
    use crate::pcapng::tests::blocks;
    use millpond_law::Ecn;
    use millpond_protocols::Registry;
    use millpond_units::Span;
    use std::os::unix::net::UnixDatagram;

    /// A link of 100 Mbit/s with 1 ms to the command and 50 ms from it, whose devices are sockets; and the other ends of these,
    /// inside and outside.
    pub(crate) fn link(capture: Option<Capture<BufWriter<File>>>) -> (Emulator, [UnixDatagram; 2]) {
        let text = |text: &str| Some(text.to_owned());
        let sets = vec!["back.delay=50ms".to_owned()];
        let options =
            LinkOptions { rate: text("100Mbps"), delay: text("1ms"), sets, ..LinkOptions::default() };
        let directions =
            options.directions(&Registry::builtin()).unwrap().map(|spec| Direction::new(spec, 1));
        let [(inner, inside), (outer, outside)] = [(); 2].map(|()| UnixDatagram::pair().unwrap());
        for socket in [&inner, &inside, &outer, &outside] {
            socket.set_nonblocking(true).unwrap();
        }
        let emulator = Emulator::new([inner.into(), outer.into()], directions, Clock::start(), capture);
        (emulator, [inside, outside])
    }

    /// Steps until the packet has left the lane, at most for ten seconds.
    fn run_until_empty(emulator: &mut Emulator, lane: usize) {
        while emulator.lanes[lane].direction.packets() > 0 && emulator.clock.now() < Time::from_secs(10.0) {
            emulator.step([false; 2]).unwrap();
            std::thread::yield_now();
        }
    }

    #[test]
    fn each_direction_has_its_own_delay_and_asks_for_its_next_call() {
        // A packet of 1250 bytes is served in 0.1 ms.
        for (from, lane, millis) in [(0, 1, 50.1), (1, 0, 1.1)] {
            let (mut emulator, ends) = link(None);
            assert_eq!(emulator.next_event(), Time::NEVER);
            ends[from].send(&packet(1250, Ecn::Ect0, 1)).unwrap();
            let begin = emulator.clock.now();
            emulator.step([true; 2]).unwrap();
            assert!(emulator.next_event() <= emulator.clock.now() + Span::from_millis(51));
            run_until_empty(&mut emulator, lane);
            assert!(
                emulator.clock.now() >= begin + Span::from_secs(millis / 1e3),
                "lane {lane} is too early"
            );
            assert_eq!((emulator.lanes[lane].delivered, emulator.lanes[1 - lane].delivered), (1, 0));
            assert_eq!(ends[1 - from].recv(&mut [0; 2000]).unwrap(), 1250);
            assert_eq!(emulator.next_event(), Time::NEVER);
        }
    }

    #[test]
    fn a_packet_that_the_device_does_not_accept_is_counted() {
        let (mut emulator, [inside, outside]) = link(None);
        drop(inside);
        outside.send(&packet(1250, Ecn::Ect0, 1)).unwrap();
        emulator.step([false, true]).unwrap();
        run_until_empty(&mut emulator, 0);
        assert_eq!((emulator.lanes[0].delivered, emulator.lanes[0].refused), (0, 1));
    }

    #[test]
    fn a_capture_has_each_packet_at_both_ends_of_its_direction() {
        let path = std::env::temp_dir().join(format!("millpond-capture-{}.pcapng", std::process::id()));
        let capture = Capture::begin(BufWriter::new(File::create(&path).unwrap())).unwrap();
        let (mut emulator, [inside, outside]) = link(Some(capture));
        outside.send(&packet(1250, Ecn::Ect0, 1)).unwrap();
        emulator.step([false, true]).unwrap();
        run_until_empty(&mut emulator, 0);
        inside.send(&packet(1250, Ecn::Ect0, 1)).unwrap();
        emulator.step([true, false]).unwrap();
        run_until_empty(&mut emulator, 1);
        emulator.finish_capture().unwrap();
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let packets = blocks(&file).into_iter().filter(|(kind, _)| *kind == 6);
        let interfaces: Vec<u8> =
            packets.map(|(_, content)| u32::from_ne_bytes(content[..4].try_into().unwrap()) as u8).collect();
        assert_eq!(interfaces, [0, 1, 2, 3]);
    }
}
