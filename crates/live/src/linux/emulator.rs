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
use crate::linux::clock::Clock;
use crate::linux::summary::processor_time;
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
