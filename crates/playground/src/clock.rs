//! Elapsed time, for progress and for the limits of a run; no result depends on it.

use std::time::{Duration, Instant};

/// Measures from its creation on.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "progress and limits of the playground are in elapsed time")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Whole milliseconds.
    pub(crate) fn milliseconds(self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
