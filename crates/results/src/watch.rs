//! Who looks on while runs run: a progress bar, a Ctrl-C.

/// Looks on; called from the threads that run.
pub trait Watch: Sync {
    /// So much of run number `run` is done, 0 to 1.
    fn progress(&self, _run: usize, _done: f64) {}

    /// Should everything stop as soon as it can?
    fn stopped(&self) -> bool {
        false
    }
}

/// Nobody looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
