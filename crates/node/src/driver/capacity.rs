//! The capacity of the outgoing link while a node runs: the content of a file, or what a command prints.

use crate::config::{CapacitySource, read_rate};
use millpond_units::{Rate, Span, Time};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// From one reading of the file to the next, and from the end of a command to its next start.
const INTERVAL: Span = Span::from_millis(1000);
/// The longest line with a rate.
const LONGEST_LINE: usize = 256;
/// What is read of a command's output before the node does other work.
const MOST_BYTES: usize = 4096;

/// Reads the capacity from its source.
pub(super) struct CapacityReader {
    source: Option<CapacitySource>,
    /// When the file is read, or the command started.
    due: Time,
    running: Option<RunningCommand>,
}

impl CapacityReader {
    /// Reads the source for the first time at once.
    pub(super) fn new(source: Option<CapacitySource>) -> Self {
        let due = if source.is_some() { Time::ZERO } else { Time::NEVER };
        Self { source, due, running: None }
    }

    /// Reads another source from now on. A command that has not changed goes on.
    pub(super) fn set(&mut self, source: Option<CapacitySource>) {
        if self.source != source {
            *self = Self::new(source);
        }
    }

    /// When [`read`](Self::read) has something to do, apart from what a command prints.
    pub(super) fn deadline(&self) -> Time {
        self.due
    }

    /// The output of a command, which the event loop waits for.
    pub(super) fn output(&self) -> Option<BorrowedFd<'_>> {
        self.running.as_ref().map(|running| running.output.as_fd())
    }

    /// The newest capacity, if there is one. What cannot be read is logged, and the old value stays.
    pub(super) fn read(&mut self, now: Time) -> Option<Rate> {
        if self.due <= now {
            match &self.source {
                Some(CapacitySource::File(path)) => {
                    self.due = now + INTERVAL;
                    return read_file(path);
                }
                Some(CapacitySource::Command(words)) => self.start(words.clone(), now),
                None => self.due = Time::NEVER,
            }
        }
        let running = self.running.as_mut()?;
        let (rate, has_ended) = running.read();
        if has_ended {
            // Dropped: what is left of the command is ended.
            self.running = None;
            self.due = now + INTERVAL;
        }
        rate
    }

    fn start(&mut self, words: Vec<String>, now: Time) {
        match RunningCommand::start(&words) {
            Ok(running) => (self.running, self.due) = (Some(running), Time::NEVER),
            Err(error) => {
                self.due = now + INTERVAL;
                tracing::warn!(command = ?words, %error, "the command for the capacity does not start");
            }
        }
    }
}

fn read_file(path: &Path) -> Option<Rate> {
    read_rate(path).inspect_err(|error| tracing::warn!(error, "capacity not read")).ok()
}

/// A command in a process group of its own, which ends with it.
struct RunningCommand {
    child: Child,
    output: ChildStdout,
    /// The beginning of a line.
    line: Vec<u8>,
    /// A line had a rate.
    has_rate: bool,
}

impl RunningCommand {
    fn start(words: &[String]) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        rustix::io::ioctl_fionbio(&output, true)?;
        Ok(Self { child, output, line: Vec::new(), has_rate: false })
    }

    /// The rate of the last complete line that has come, and whether the command has ended.
    fn read(&mut self) -> (Option<Rate>, bool) {
        let mut bytes = [0; MOST_BYTES];
        match self.output.read(&mut bytes) {
            Ok(0) => {
                let rate = self.take_line();
                self.log_end();
                (rate, true)
            }
            Ok(count) => (bytes.iter().take(count).fold(None, |rate, byte| self.push(*byte).or(rate)), false),
            Err(error) => (None, !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)),
        }
    }

    /// Takes a byte of the output; the rate of the line that it completes.
    fn push(&mut self, byte: u8) -> Option<Rate> {
        if byte == b'\n' {
            return self.take_line();
        }
        // What is longer is no rate; its beginning is reported.
        if self.line.len() < LONGEST_LINE {
            self.line.push(byte);
        }
        None
    }

    fn take_line(&mut self) -> Option<Rate> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).trim().to_owned();
        if line.is_empty() {
            return None;
        }
        match line.parse::<Rate>() {
            Ok(rate) => {
                self.has_rate = true;
                Some(rate)
            }
            Err(error) => {
                tracing::warn!(line, %error, "the command for the capacity prints a line that is no rate");
                None
            }
        }
    }

    /// A command that prints a rate and succeeds is repeated without a word.
    fn log_end(&mut self) {
        let status = self.child.try_wait().ok().flatten();
        let is_success = status.is_none_or(|status| status.success());
        if !self.has_rate || !is_success {
            let status = status.map_or_else(|| "it has closed its output".to_owned(), |one| one.to_string());
            tracing::warn!(status, has_rate = self.has_rate, "the command for the capacity has ended");
        }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use std::time::Duration;

    fn of(script: &str) -> CapacityReader {
        CapacityReader::new(Some(CapacitySource::Command(["sh", "-c", script].map(str::to_owned).to_vec())))
    }

    /// All rates that are read until there are as many as wanted, or for two seconds.
    fn rates(reader: &mut CapacityReader, wanted: usize) -> Vec<u64> {
        let mut found = Vec::new();
        for step in 0..200 {
            // A virtual second passes in each step: a command that has ended starts again.
            found.extend(reader.read(Time::ZERO + Span::from_millis(1000 * step)).map(Rate::bps));
            if found.len() >= wanted {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        found
    }

    #[test]
    fn each_line_of_a_command_is_a_capacity_and_a_line_that_is_no_rate_changes_nothing() {
        let mut reader = of("echo 5Mbps; echo fast; sleep 0.05; echo 7Mbps; exec sleep 60");
        assert_eq!(rates(&mut reader, 2), [5_000_000, 7_000_000]);
        assert!(reader.output().is_some());
    }

    #[test]
    fn a_command_that_ends_starts_again_after_a_second() {
        let mut reader = of("echo 3Mbps");
        assert_eq!(rates(&mut reader, 3), [3_000_000; 3]);
        let mut missing = CapacityReader::new(Some(CapacitySource::Command(vec!["/nonexistent".to_owned()])));
        assert_eq!(missing.read(Time::ZERO), None);
        assert_eq!(missing.deadline(), Time::ZERO + INTERVAL);
    }

    #[test]
    fn an_endless_line_takes_no_memory_and_the_command_ends_with_its_reader() {
        let mut reader = of("yes 0 | tr -d '\\n'");
        assert_eq!(reader.read(Time::ZERO), None);
        for _ in 0..100 {
            assert_eq!(reader.read(Time::ZERO), None);
            std::thread::sleep(Duration::from_millis(1));
        }
        let running = reader.running.as_ref().unwrap();
        assert!((1..=LONGEST_LINE).contains(&running.line.len()), "{}", running.line.len());
        let group = running.child.id();
        assert_eq!(alive(group), 3, "a shell with two programs");
        drop(reader);
        // Killed processes end when the kernel runs them, on a busy machine later than this test.
        let ended = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            alive(group) == 0
        });
        assert!(ended, "{} processes are alive after five seconds", alive(group));
    }

    /// Processes of a group that have not ended: those that nobody has collected do not count.
    fn alive(group: u32) -> usize {
        let is_alive = |stat: &str| {
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
            fields[2] == group.to_string() && !"ZX".contains(fields[0])
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        stats.filter(|stat| is_alive(stat)).count()
    }

    #[test]
    fn the_same_command_goes_on_after_a_reload_and_another_one_replaces_it() {
        let mut reader = of("echo 5Mbps; exec sleep 60");
        assert_eq!(rates(&mut reader, 1), [5_000_000]);
        let id = reader.running.as_ref().unwrap().child.id();
        reader.set(reader.source.clone());
        assert_eq!(reader.running.as_ref().unwrap().child.id(), id);
        reader.set(None);
        assert!(reader.running.is_none() && reader.deadline() == Time::NEVER);
    }
}
