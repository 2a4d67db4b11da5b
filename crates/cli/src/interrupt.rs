//! Ctrl-C: a flag that runs poll.

use crate::failure::{Failure, INTERRUPTED};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user has pressed Ctrl-C.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs a handler: the first Ctrl-C (or SIGTERM) raises the flag instead of ending the process, the second one ends
    /// it. Installed after the input has been read, so that Ctrl-C ends a command that waits for its input.
    pub(crate) fn install() -> Result<Self, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        let handle = move || {
            if raised.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(INTERRUPTED));
            }
        };
        ctrlc::set_handler(handle).map_err(Failure::input)?;
        Ok(Self(flag))
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
