//! Signals, as flags and as bytes of a pipe that the event loop waits for.

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use signal_hook::low_level::pipe;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The signals that have come, and a pipe that has a byte for each.
pub(super) struct Signals {
    pipe: UnixStream,
    came: [(Signal, Arc<AtomicBool>); 3],
}

impl Signals {
    /// Catches the signals of this process.
    pub(super) fn new() -> io::Result<Self> {
        let (pipe, writer) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        Ok(Self {
            pipe,
            came: [
                (Signal::End, caught(&[SIGTERM, SIGINT], &writer)?),
                (Signal::Reload, caught(&[SIGHUP], &writer)?),
                (Signal::Drain, caught(&[SIGUSR1], &writer)?),
            ],
        })
    }

    /// What the event loop waits for.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// The signals that have come, when the pipe has bytes.
    pub(super) fn received(&mut self) -> Vec<Signal> {
        drain(&mut self.pipe);
        let came = self.came.iter();
        came.filter(|(_, came)| came.swap(false, Ordering::AcqRel)).map(|(signal, _)| *signal).collect()
    }
}

/// A flag that these signals set before they write into the pipe.
fn caught(signals: &[i32], writer: &UnixStream) -> io::Result<Arc<AtomicBool>> {
    let came = Arc::new(AtomicBool::new(false));
    for signal in signals {
        flag::register(*signal, came.clone())?;
        pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(came)
}

/// Reads what a pipe has that only wakes the event loop.
pub(super) fn drain(pipe: &mut UnixStream) {
    let mut bytes = [0; 64];
    while pipe.read(&mut bytes).is_ok_and(|count| count == bytes.len()) {}
}
