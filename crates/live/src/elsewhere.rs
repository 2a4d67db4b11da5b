//! Systems without network namespaces and TUN devices.

use crate::request::{LinkError, LinkRun};
use millpond_results::EmulatedLink;
use std::process::ExitCode;

/// No process of an end runs here.
pub fn run_inside() -> Option<ExitCode> {
    None
}

impl LinkRun {
    /// Always an error on this system.
    ///
    /// # Errors
    /// The system is not Linux.
    pub fn run(self, _version: &str, _typed: &str) -> Result<EmulatedLink, LinkError> {
        Err(LinkError::System(
            "an emulated link needs the network namespaces and TUN devices of Linux".to_owned(),
        ))
    }
}
