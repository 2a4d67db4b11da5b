//! The interface for progress bars, for results of unfinished runs, and for stopping runs.

use crate::run::Run;

/// Receives the progress of runs and can stop them; called from the threads of the runs.
pub trait Watch: Sync {
    /// The fraction `done` (0 to 1) of run number `run` is simulated.
    fn progress(&self, _run: usize, _done: f64) {}

    /// Whether [`Self::results_so_far`] is to receive the results of a run up to now. It is asked after each sample of the
    /// series, in the worlds of packets and of equations.
    fn wants_results(&self) -> bool {
        false
    }

    /// The results of an unfinished run up to `run.summary.simulated_s`. Until the time of the measurement begins, they are
    /// measured from time zero.
    fn results_so_far(&self, _run: &Run) {}

    /// Whether all runs are to stop as soon as possible.
    fn stopped(&self) -> bool {
        false
    }
}

/// No progress is shown, and no run is stopped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
