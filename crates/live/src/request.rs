//! What `millpond link` is asked to do, and why it does not.

use millpond_results::files::AtomicFile;
use millpond_sim::LinkSpec;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;

/// A command and the link behind which it runs.
pub struct LinkRun {
    /// The direction to the command, and that from the command.
    pub directions: [LinkSpec; 2],
    /// Seed of the random numbers of the link.
    pub seed: u64,
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// A command at the other end, in a network namespace of its own; none: the other end is in the network namespace of the
    /// caller.
    pub server: Option<Vec<OsString>>,
    /// Where all packets are written to.
    pub capture: Option<LinkCapture>,
    /// What the commands print goes to standard error, so that standard output is left to the results.
    pub prints_to_stderr: bool,
    /// Use real-time priority, if the system permits it.
    pub real_time: bool,
}

/// A pcapng file of the packets of a link.
pub struct LinkCapture {
    /// The open file.
    pub to: File,
    /// The name that the file receives when the command runs, so that an older file stays if it cannot; none if it has its
    /// name.
    pub name: Option<AtomicFile>,
}

/// Why a command did not run behind a link.
#[derive(Debug)]
pub enum LinkError {
    /// A command cannot be run: its name, and the reason.
    Command(String, String),
    /// The capture cannot be written, for this reason.
    Capture(String),
    /// The system refuses something, in a sentence.
    System(String),
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(name, reason) => write!(f, "cannot run \"{name}\": {reason}"),
            Self::Capture(reason) => write!(f, "cannot write the packets: {reason}"),
            Self::System(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for LinkError {}
