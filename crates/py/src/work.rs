//! Work that leaves Python's lock to other threads and ends at Ctrl-C.

use crate::error::{Failure, guest_error};
use crate::guest::has_guests;
use crate::python_threads::PythonThreads;
use crate::waiting::{awaited, broken};
use millpond_guest::Session;
use millpond_lab::ThreadCount;
use millpond_results::Watch;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

/// What the calling thread and the threads of the work share.
struct WorkState {
    is_stopped: AtomicBool,
    /// The share of each run that is done.
    done: Mutex<Vec<f64>>,
    /// Where laws of guests leave their failure.
    session: Session,
}

impl WorkState {
    fn new(runs: usize) -> Self {
        let done = Mutex::new(vec![0.0; runs.max(1)]);
        Self { is_stopped: AtomicBool::new(false), done, session: Session::default() }
    }

    /// The share of all runs that is done, from 0 to 1.
    fn share(&self) -> f64 {
        self.done.lock().map_or(0.0, |done| done.iter().sum::<f64>() / done.len() as f64)
    }
}

impl Watch for WorkState {
    fn progress(&self, run: usize, done: f64) {
        if let Ok(mut all) = self.done.lock()
            && let Some(one) = all.get_mut(run)
        {
            *one = done;
        }
    }

    fn stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed) || self.session.has_failed()
    }
}

/// How work is done.
pub(crate) struct Conditions<'py> {
    /// The number of runs that report their progress.
    pub(crate) runs: usize,
    /// The number of threads, at most one per core; 0 for `RAYON_NUM_THREADS`, else one per core.
    pub(crate) threads: usize,
    /// Called with the share that is done, from 0 to 1; an exception that it raises stops the work.
    pub(crate) progress: Option<Bound<'py, PyAny>>,
}

impl Conditions<'_> {
    /// One thread, no progress.
    pub(crate) const PLAIN: Self = Self { runs: 1, threads: 1, progress: None };
}

/// The result of `work`, which runs on a pool of threads of its own: a pool for the whole process would not survive a fork.
///
/// # Errors
/// That of the work, an exception of a signal handler (Ctrl-C) or of the progress function.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    conditions: &Conditions<'_>,
    work: impl FnOnce(&dyn Watch) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(WorkState::new(conditions.runs));
    let threads = PythonThreads::default();
    let pool = pool(conditions.threads, &shared.session, &threads)
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?;
    let (sender, mut receiver) = channel();
    let watch = Arc::clone(&shared);
    pool.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&*watch)));
        // Nobody receives the result of work that was stopped and took too long.
        let _ = sender.send(result);
    });
    match awaited(py, &mut receiver, || check(py, conditions, &shared)) {
        Ok(Some(Ok(result))) => {
            let failure = shared.session.take();
            failure.map_or(Ok(()), |failure| Err(guest_error(py, failure))).and(result.map_err(PyErr::from))
        }
        Ok(Some(Err(_)) | None) => Err(broken()),
        Err(exception) => {
            shared.is_stopped.store(true, Ordering::Relaxed);
            threads.end(py, &mut receiver);
            Err(exception)
        }
    }
}

/// A pool whose threads have this session. With laws of guests each thread is attached to Python until it ends, because
/// making Python's state of a thread for each callback would take longer than the callback.
fn pool(
    threads: usize,
    session: &Session,
    python_threads: &PythonThreads,
) -> Result<ThreadPool, ThreadPoolBuildError> {
    let (session, python_threads) = (session.clone(), python_threads.clone());
    let is_known_to_python = has_guests();
    let spawn = move |thread: ThreadBuilder| {
        let (session, python_threads) = (session.clone(), python_threads.clone());
        let run = move || {
            session.enter();
            match is_known_to_python {
                true => Python::attach(|py| {
                    python_threads.add_current(py);
                    py.detach(|| thread.run());
                }),
                false => thread.run(),
            }
        };
        std::thread::Builder::new().spawn(run).map(|_| ())
    };
    let ThreadCount { threads, .. } = ThreadCount::of(Some(("threads", threads)));
    ThreadPoolBuilder::new().num_threads(threads).spawn_handler(spawn).build()
}

/// Runs Python's signal handlers and the progress function.
fn check(py: Python<'_>, conditions: &Conditions<'_>, shared: &WorkState) -> PyResult<()> {
    py.check_signals()?;
    match &conditions.progress {
        Some(progress) => progress.call1((shared.share(),)).map(|_| ()),
        None => Ok(()),
    }
}
