//! Waiting for another thread while other threads of Python run.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The time between two looks at Python's signals, and between two calls of a progress function.
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);

/// The message of another thread, or none if that thread has ended without one. Other threads of Python run meanwhile.
///
/// # Errors
/// The first one of `check`, which is called every 50 ms.
pub(crate) fn awaited<T: Send>(
    py: Python<'_>,
    receiver: &mut Receiver<T>,
    check: impl Fn() -> PyResult<()>,
) -> PyResult<Option<T>> {
    loop {
        match received(py, receiver, BETWEEN_CHECKS) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => check()?,
        }
    }
}

/// Waits for a message while other threads of Python run.
pub(crate) fn received<T: Send>(
    py: Python<'_>,
    receiver: &mut Receiver<T>,
    time: Duration,
) -> Result<T, RecvTimeoutError> {
    py.detach(move || receiver.recv_timeout(time))
}

/// The exception for a fault of Millpond itself; its message is on standard error.
pub(crate) fn broken() -> PyErr {
    PyRuntimeError::new_err(
        "a fault of Millpond, described on standard error; please report it with the scenario",
    )
}
