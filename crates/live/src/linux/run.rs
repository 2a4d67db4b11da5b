//! `millpond link`: a command behind an emulated link, from the namespaces to the results.

use crate::direction::Direction;
use crate::linux::addresses::{DEEPEST, LinkNumber, NETWORKS};
use crate::linux::capture::Capture;
use crate::linux::channel::{Channel, EmulatorMessage, EndError, EndMessage};
use crate::linux::clock::{self, Clock};
use crate::linux::device::Device;
use crate::linux::emulator::Emulator;
use crate::linux::inside::{EndConfig, no_device};
use crate::linux::summary;
use crate::linux::sys::{self, Signals};
use crate::request::{LinkCapture, LinkError, LinkRun};
use millpond_results::EmulatedLink;
use millpond_results::files::AtomicFile;
use millpond_units::{Span, Time};
use rustix::event::{PollFd, PollFlags};
use std::ffi::OsString;
use std::io::{self, BufWriter};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Child;

/// How long the command at the other end may go on after the command has ended.
const SERVER_GRACE: Span = Span::from_millis(1500);

impl From<EndError> for LinkError {
    fn from(refusal: EndError) -> Self {
        match refusal {
            EndError::Command(name, reason) => Self::Command(name, reason),
            EndError::System(reason) => Self::System(reason),
        }
    }
}

impl From<io::Error> for LinkError {
    fn from(error: io::Error) -> Self {
        Self::System(format!("the emulator of the link stopped: {error}"))
    }
}

/// The processes of one end. When it is dropped, all of them are ended.
struct EndProcesses {
    keeper: Child,
    channel: Channel,
}

impl EndProcesses {
    /// Starts the processes of an end; returns it with its device.
    fn start(config: EndConfig, command: &[OsString]) -> Result<(Self, OwnedFd), LinkError> {
        let (keeper, channel) = config.spawn(command)?;
        let end = Self { keeper, channel };
        match end.channel.receive()? {
            Some((EndMessage::Ready, Some(device))) => Ok((end, device)),
            Some((EndMessage::Failed(refusal), _)) => Err(refusal.into()),
            _ => Err(LinkError::System(
                "a process of the network namespace ended before its device was ready".to_owned(),
            )),
        }
    }

    fn run_command(&self) -> Result<(), LinkError> {
        Ok(self.channel.send(&EmulatorMessage::Start, None)?)
    }
}

impl Drop for EndProcesses {
    fn drop(&mut self) {
        // The kernel ends the processes of the namespace with the keeper. It may have ended already.
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

/// What is outside the link.
enum OuterEnd {
    /// The namespace of the caller, with a device of ours, and the packets that it dropped while it was switched on.
    Caller { device: Device, descriptor: OwnedFd, dropped_before: u64 },
    /// A namespace with a command.
    Server { end: EndProcesses, descriptor: OwnedFd },
}

/// The command has ended.
struct EndedCommand {
    code: u8,
    /// Exit code of the command at the other end, if it ended first.
    server_code: Option<u8>,
    /// When it ended.
    at: Time,
    /// Packets that the devices inside and outside dropped because they were not read in time.
    overruns: [u64; 2],
}

impl LinkRun {
    /// Runs the command to its end. The process must have one thread. `version` and `typed`, the command line, are copied
    /// into the result.
    ///
    /// # Errors
    /// Missing permissions, a command that does not exist, a capture that cannot be written.
    pub fn run(self, version: &str, typed: &str) -> Result<EmulatedLink, LinkError> {
        let signals = Signals::block()?;
        let (capture, capture_name) = match self.capture {
            Some(LinkCapture { to, name }) => (Some(Capture::begin(BufWriter::new(to))?), name),
            None => (None, None),
        };
        let (outside, number) = outside(self.server.as_deref(), self.prints_to_stderr)?;
        let config = EndConfig::new(number, true, self.prints_to_stderr);
        let (inside, inner) = EndProcesses::start(config, &self.command)?;
        let outer = outside.descriptor()?;
        let real_time = prepare_thread(self.real_time);
        let seed = self.seed;
        let delays = self.directions.each_ref().map(|spec| spec.propagation.delay);
        let directions = self.directions.map(|spec| Direction::new(spec, seed));
        let mut session = LinkSession {
            emulator: Emulator::new([inner, outer], directions, Clock::start(), capture),
            inside,
            outside,
            signals,
            capture_name,
            named_capture: None,
        };
        let finished = session.run_captured()?;
        let mut result = summary::summary(&session.emulator, finished.at, finished.overruns);
        (result.exit_code, result.server_exit_code) = (finished.code, finished.server_code);
        for (direction, delay) in result.directions.iter_mut().zip(delays) {
            direction.delay_ms = delay.secs() * 1e3;
        }
        result.machine.real_time = real_time;
        (result.seed, result.version, result.command) = (seed, version.to_owned(), typed.to_owned());
        Ok(result)
    }
}

/// Precise timers, and real-time priority if it is wanted and permitted. Returns true if this thread has it.
fn prepare_thread(wanted: bool) -> bool {
    // Without them the emulator is less punctual, and no less right.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    wanted && sys::real_time().is_ok()
}

/// The place of a link that is not in a namespace with a server: inside the link around the caller, if there is one.
fn surrounding_link() -> Option<LinkNumber> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    Some(LinkNumber { network: number("MILLPOND_LINK_NETWORK")?, depth: number("MILLPOND_LINK_DEPTH")? })
}

/// Makes the end outside.
fn outside(server: Option<&[OsString]>, prints_to_stderr: bool) -> Result<(OuterEnd, LinkNumber), LinkError> {
    if let Some(command) = server {
        let number = LinkNumber { network: *NETWORKS.start(), depth: 0 };
        let config = EndConfig::new(number, false, prints_to_stderr);
        let (end, descriptor) = EndProcesses::start(config, command)?;
        return Ok((OuterEnd::Server { end, descriptor }, number));
    }
    let device = Device::make().map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => LinkError::System(format!(
            "cannot create a TUN device: {error}; without --server the outer end of the link is a device in your own network, \
             which needs root or CAP_NET_ADMIN"
        )),
        _ => no_device(&error).into(),
    })?;
    let number = free_number(&device)?;
    let descriptor = device.descriptor.try_clone()?;
    let dropped_before = device.netlink.dropped(device.index).unwrap_or(0);
    Ok((OuterEnd::Caller { device, descriptor, dropped_before }, number))
}

/// Configures the device with the first block of addresses that is not in use.
fn free_number(device: &Device) -> Result<LinkNumber, LinkError> {
    let configure = |number: LinkNumber| device.configure(number.outer(), number.inner(), number.blocks());
    let failed =
        |error: io::Error| LinkError::System(format!("cannot configure the outer end of the link: {error}"));
    if let Some(number) = surrounding_link() {
        if number.depth > DEEPEST {
            return Err(LinkError::System(format!("at most {} links can be nested", DEEPEST + 1)));
        }
        return configure(number).map(|()| number).map_err(failed);
    }
    for network in NETWORKS {
        let number = LinkNumber { network, depth: 0 };
        match configure(number) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|()| number).map_err(failed),
        }
    }
    Err(LinkError::System(
        "all blocks of addresses from 100.64.0.0/16 to 100.127.0.0/16 are in use".to_owned(),
    ))
}

impl OuterEnd {
    fn descriptor(&self) -> io::Result<OwnedFd> {
        match self {
            Self::Caller { descriptor, .. } | Self::Server { descriptor, .. } => descriptor.try_clone(),
        }
    }

    fn server(&self) -> Option<&EndProcesses> {
        if let Self::Server { end, .. } = self { Some(end) } else { None }
    }

    /// Packets that the device dropped while the link was there, if it is one of this namespace.
    fn overrun(&self) -> u64 {
        match self {
            Self::Caller { device, dropped_before, .. } => {
                device.netlink.dropped(device.index).unwrap_or(0).saturating_sub(*dropped_before)
            }
            Self::Server { .. } => 0,
        }
    }
}

/// A link at work.
struct LinkSession {
    emulator: Emulator,
    inside: EndProcesses,
    outside: OuterEnd,
    signals: Signals,
    /// The name of the capture, until the command runs.
    capture_name: Option<AtomicFile>,
    /// The capture, from then on.
    named_capture: Option<PathBuf>,
}

/// Which commands have ended.
struct CommandProgress {
    /// The end of the command, and when it was.
    command: Option<(CommandEnd, Time)>,
    server_runs: bool,
    /// Exit code of the command at the other end, if it ended first.
    server_code: Option<u8>,
    server_overrun: u64,
}

impl CommandProgress {
    fn begin(server_runs: bool) -> Self {
        Self { command: None, server_runs, server_code: None, server_overrun: 0 }
    }

    fn command_ended(&mut self, now: Time, end: CommandEnd) {
        self.command = Some((end, now));
    }

    fn server_ended(&mut self, end: CommandEnd) {
        self.server_runs = false;
        self.server_overrun = end.overrun;
        self.server_code = self.command.is_none().then_some(end.code);
    }

    /// When the time of the command at the other end is over.
    fn deadline(&self) -> Time {
        self.command.map_or(Time::NEVER, |(_, at)| at + SERVER_GRACE)
    }

    /// The result, if the command has ended and the other one has, too, or has used up its time.
    fn finished(&self, now: Time) -> Option<EndedCommand> {
        let (CommandEnd { code, overrun }, at) = self.command?;
        let is_over = !self.server_runs || now >= self.deadline();
        let overruns = [overrun, self.server_overrun];
        is_over.then_some(EndedCommand { code, server_code: self.server_code, at, overruns })
    }
}

/// What a wait has found.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// The devices inside and outside have packets.
    readable: [bool; 2],
    inside: bool,
    outside: bool,
    signal: bool,
}

impl LinkSession {
    /// Runs both commands, and completes the capture. After a failure no capture is left.
    fn run_captured(&mut self) -> Result<EndedCommand, LinkError> {
        let mut finished = self.start().and_then(|()| self.run());
        if finished.is_ok() {
            finished = self.emulator.finish_capture().and(finished);
        }
        if let (Err(_), Some(path)) = (&finished, &self.named_capture) {
            // Its absence is what is wanted.
            let _ = std::fs::remove_file(path);
        }
        finished
    }

    /// Runs both commands, that of the other end first.
    fn start(&self) -> Result<(), LinkError> {
        if let Some(server) = self.outside.server() {
            server.run_command()?;
        }
        self.inside.run_command()
    }

    /// Moves packets until the command has ended; then waits until the command at the other end has, too, or its time is over.
    fn run(&mut self) -> Result<EndedCommand, LinkError> {
        let mut progress = CommandProgress::begin(self.outside.server().is_some());
        loop {
            let found = self.wait(&progress)?;
            if progress.command.is_none() {
                self.emulator.step(found.readable)?;
            }
            let now = self.emulator.clock.now();
            if found.inside {
                self.handle_command(&mut progress, now)?;
            }
            if let (true, Some(server)) = (found.outside, self.outside.server())
                && let CommandState::Ended(end) = state(&server.channel)?
            {
                progress.server_ended(end);
            }
            if found.signal {
                self.handle_signal();
            }
            if let Some(mut finished) = progress.finished(now) {
                finished.overruns[1] += self.outside.overrun();
                return Ok(finished);
            }
        }
    }

    /// Handles a message of the command: from its start on, the capture has its name; after its end, the command at the other
    /// end is ended.
    fn handle_command(&mut self, progress: &mut CommandProgress, now: Time) -> Result<(), LinkError> {
        match state(&self.inside.channel)? {
            CommandState::Running => {
                let Some(file) = self.capture_name.take() else { return Ok(()) };
                let path = file.path().to_owned();
                file.finish().map_err(|error| LinkError::Capture(error.to_string()))?;
                self.named_capture = Some(path);
                Ok(())
            }
            CommandState::Ended(end) => {
                progress.command_ended(now, end);
                if let Some(server) = self.outside.server() {
                    server.channel.finish();
                }
                Ok(())
            }
        }
    }

    /// Waits for packets, for the next departure, for the end of a command, or for a signal.
    fn wait(&self, progress: &CommandProgress) -> io::Result<Found> {
        let (command_runs, server_runs) = (progress.command.is_none(), progress.server_runs);
        let [inner, outer] = self.emulator.devices();
        let mut watched = vec![PollFd::new(self.signals.descriptor(), PollFlags::IN)];
        if command_runs {
            watched.push(PollFd::from_borrowed_fd(inner, PollFlags::IN));
            watched.push(PollFd::from_borrowed_fd(outer, PollFlags::IN));
            watched.push(PollFd::new(&self.inside.channel, PollFlags::IN));
        }
        if let (true, Some(server)) = (server_runs, self.outside.server()) {
            watched.push(PollFd::new(&server.channel, PollFlags::IN));
        }
        let event = if command_runs { self.emulator.next_event() } else { progress.deadline() };
        let span = event.since(self.emulator.clock.now());
        match rustix::event::poll(&mut watched, Some(&clock::timeout(span))) {
            Err(error) if error != rustix::io::Errno::INTR => return Err(error.into()),
            _ => {}
        }
        let is_ready = |index: usize| watched.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let server = if command_runs { 4 } else { 1 };
        Ok(Found {
            signal: is_ready(0),
            readable: [command_runs && is_ready(1), command_runs && is_ready(2)],
            inside: command_runs && is_ready(3),
            outside: is_ready(server),
        })
    }

    /// The command has received a signal of the terminal itself, and the emulator goes on until the command ends. Any other
    /// signal ends the command: it receives SIGTERM, and SIGKILL a second later.
    fn handle_signal(&self) {
        if self.signals.next().is_some_and(|received| !received.from_terminal) {
            self.inside.channel.finish();
        }
    }
}

/// The end of a command.
#[derive(Clone, Copy)]
struct CommandEnd {
    code: u8,
    /// Packets that the device in its network namespace dropped.
    overrun: u64,
}

/// What the processes of an end have reported about their command.
enum CommandState {
    Running,
    Ended(CommandEnd),
}

/// The next message about the command of a network namespace.
fn state(channel: &Channel) -> Result<CommandState, LinkError> {
    match channel.receive()? {
        Some((EndMessage::Running, _)) => Ok(CommandState::Running),
        Some((EndMessage::Ended { code, overrun }, _)) => {
            Ok(CommandState::Ended(CommandEnd { code, overrun }))
        }
        Some((EndMessage::Failed(refusal), _)) => Err(refusal.into()),
        _ => Err(LinkError::System("the processes of the network namespace were ended".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_at_the_other_end_has_time_to_end_after_the_command() {
        let end = |code| CommandEnd { code, overrun: 0 };
        let at = Time::from_secs(2.0);
        let mut progress = CommandProgress::begin(true);
        assert_eq!(progress.deadline(), Time::NEVER);
        progress.command_ended(at, end(3));
        assert!(progress.finished(at + SERVER_GRACE.saturating_sub(Span::from_picos(1))).is_none());
        assert!(progress.finished(at + SERVER_GRACE).is_some_and(|ended| ended.code == 3 && ended.at == at));
        progress.server_ended(end(1));
        let ended = progress.finished(at).unwrap();
        assert_eq!(ended.server_code, None, "only that of a server that ended first is reported");
        let mut first = CommandProgress::begin(true);
        first.server_ended(end(1));
        assert!(first.finished(at).is_none());
        first.command_ended(at, end(0));
        assert_eq!(first.finished(at).unwrap().server_code, Some(1));
    }
}
