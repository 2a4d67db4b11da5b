//! Ctrl-C: a flag that runs poll.

use crate::failure::{Failure, INTERRUPTED};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals within this time of the first one are the same interrupt: programs such as timeout(1) send it to the process and to
/// its group.
const SAME_INTERRUPT: Duration = Duration::from_millis(500);

/// Whether the user has pressed Ctrl-C.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs a handler: the first Ctrl-C (or SIGTERM) raises the flag instead of ending the process, the second one ends
    /// it, unless it comes within [`SAME_INTERRUPT`]. Installed after the input has been read, so that Ctrl-C ends a command that waits for its input.
    #[allow(clippy::disallowed_methods, reason = "two signals at once are one interrupt")]
    pub(crate) fn install() -> Result<Self, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        let mut first = None;
        let handle = move || {
            raised.store(true, Ordering::Relaxed);
            if first.get_or_insert_with(Instant::now).elapsed() > SAME_INTERRUPT {
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
