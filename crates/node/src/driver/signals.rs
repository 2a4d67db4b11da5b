//! Signals, as bytes of pipes that the event loop waits for.

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::low_level::pipe;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// SIGTERM and SIGINT: end now.
    End,
    /// SIGHUP: read the configuration again.
    Reload,
    /// SIGUSR1: end after the last flow.
    Drain,
}

/// The pipes of the signals.
pub(super) struct Signals {
    pipes: [(Signal, UnixStream); 3],
}

impl Signals {
    /// Catches the signals of this process.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            pipes: [
                (Signal::End, caught(&[SIGTERM, SIGINT])?),
                (Signal::Reload, caught(&[SIGHUP])?),
                (Signal::Drain, caught(&[SIGUSR1])?),
            ],
        })
    }

    /// What the event loop waits for.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().map(|(_, pipe)| pipe.as_fd())
    }

    /// The signals that have come.
    pub(super) fn received(&mut self) -> Vec<Signal> {
        let mut bytes = [0; 16];
        let has_come =
            |pipe: &mut UnixStream, bytes: &mut [u8]| pipe.read(bytes).is_ok_and(|count| count > 0);
        let pipes = self.pipes.iter_mut();
        pipes.filter_map(|(signal, pipe)| has_come(pipe, &mut bytes).then_some(*signal)).collect()
    }
}

/// The reading end of a pipe into which these signals write.
fn caught(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}
