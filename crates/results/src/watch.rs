//! The interface for progress bars and for stopping runs.

/// Receives the progress of runs and can stop them; called from the threads of the runs.
pub trait Watch: Sync {
    /// The fraction `done` (0 to 1) of run number `run` is simulated.
    fn progress(&self, _run: usize, _done: f64) {}

    /// Whether all runs are to stop as soon as possible.
    fn stopped(&self) -> bool {
        false
    }
}

/// No progress is shown, and no run is stopped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
