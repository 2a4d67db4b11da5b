//! Threads of work that call laws in Python, and how Ctrl-C ends a law that does not return.

use crate::waiting::received;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long stopped work may take to end, and how long a law may take after each exception. Work that takes longer ends in the
/// background, and its result is dropped.
const GRACE: Duration = Duration::from_millis(500);

/// The number of exceptions that a law receives: it may catch the first one.
const ATTEMPTS: usize = 2;

/// The threads of some work, as Python numbers them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PythonThreads(Arc<Mutex<Vec<u64>>>);

impl PythonThreads {
    /// Adds the calling thread. Without a number, which Python always has, the thread is not interrupted.
    pub(crate) fn add_current(&self, py: Python<'_>) {
        let number = py.import("threading").and_then(|module| module.call_method0("get_ident")?.extract());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(number.ok().map(|number: u64| number));
    }

    /// Waits until stopped work has ended. If a law does not return, `KeyboardInterrupt` is raised in it.
    pub(crate) fn end<T: Send>(&self, py: Python<'_>, receiver: &mut Receiver<T>) {
        let numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for _ in 0..ATTEMPTS {
            if received(py, receiver, GRACE).is_ok() || numbers.is_empty() {
                return;
            }
            // Where an exception cannot be raised, nothing more can be done.
            let _ = interrupt(py, &numbers);
        }
        drop(received(py, receiver, GRACE));
    }
}

/// Raises `KeyboardInterrupt` in the code of Python that the threads execute, or execute next.
fn interrupt(py: Python<'_>, threads: &[u64]) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
    let exception = ctypes.getattr("py_object")?.call1((py.get_type::<PyKeyboardInterrupt>(),))?;
    threads.iter().try_for_each(|number| {
        let number = ctypes.getattr("c_ulong")?.call1((*number,))?;
        raise.call1((number, &exception)).map(drop)
    })
}
