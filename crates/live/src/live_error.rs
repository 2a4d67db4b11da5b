//! Why a live run has no results.

use std::fmt;

/// Why a live run has no results, in a sentence.
#[derive(Debug)]
pub struct LiveError(String);

impl LiveError {
    /// A sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The system refuses a socket.
    #[cfg(target_os = "linux")]
    pub(crate) fn sockets(error: std::io::Error) -> Self {
        let help = match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => {
                ": every host needs two sockets; permit more open files (ulimit -n)"
            }
            _ => "",
        };
        Self(format!("the live world cannot use a UDP socket of the loopback interface: {error}{help}"))
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LiveError {}
