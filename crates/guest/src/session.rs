//! Where the guests of one run leave their failure.

use crate::Failure;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the guests of one or several runs share with their caller: the first failure.
///
/// A law is built inside of the simulation, which has no place for a session. The thread of the run therefore
/// [enters](Self::enter) one, and laws that are built on it take the [current](Self::current) one.
#[derive(Clone, Debug, Default)]
pub struct Session(Arc<SharedFailure>);

#[derive(Debug, Default)]
struct SharedFailure {
    has_failed: AtomicBool,
    /// In tests of laws a failure unwinds, so that the test sees the events that led to it.
    unwinds: bool,
    /// Whether laws are no longer built, because the caller does not wait for the test of laws any more.
    is_stopped: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

thread_local! {
    static CURRENT: RefCell<Session> = RefCell::new(Session::default());
}

impl Session {
    /// A session in which a failure unwinds the thread with its message, as a failed assertion does.
    pub fn unwinding() -> Self {
        Self(Arc::new(SharedFailure { unwinds: true, ..SharedFailure::default() }))
    }

    /// Ends a test of laws: each law that it builds from now on unwinds the thread. A test that searches for the shortest list
    /// of events would otherwise call a law again and again.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Makes this the current session of the thread.
    pub fn enter(&self) {
        CURRENT.with_borrow_mut(|current| *current = self.clone());
    }

    /// The current session of the thread, for a law that is built; by default one of its own, whose failures are not read. A
    /// [stopped](Self::stop) session unwinds the thread.
    pub fn current() -> Self {
        let session = CURRENT.with_borrow(Self::clone);
        if session.0.is_stopped.load(Ordering::Relaxed) {
            resume_unwind(Box::new(String::from("the test was stopped")));
        }
        session
    }

    /// Keeps a failure if it is the first one.
    pub fn fail(&self, failure: Failure) {
        if self.0.unwinds {
            resume_unwind(Box::new(failure.to_string()));
        }
        let mut kept = self.0.failure.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(failure);
        self.0.has_failed.store(true, Ordering::Relaxed);
    }

    /// Whether a guest has failed, so that the runs of the session are to end.
    pub fn has_failed(&self) -> bool {
        self.0.has_failed.load(Ordering::Relaxed)
    }

    /// The failure, which is removed.
    pub fn take(&self) -> Option<Failure> {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;
    use millpond_units::Time;

    fn failure(message: &str) -> Failure {
        Failure {
            law: "tortoise",
            part: Part::Sender,
            event: "on_ack",
            time: Time::ZERO,
            message: message.into(),
            cause: None,
        }
    }

    #[test]
    fn the_first_failure_is_kept() {
        let session = Session::default();
        assert!(!session.has_failed());
        session.fail(failure("one"));
        session.fail(failure("two"));
        assert!(session.has_failed());
        assert_eq!(session.take().unwrap().message, "one");
    }

    #[test]
    fn laws_of_a_thread_take_the_session_that_it_entered() {
        let session = Session::default();
        let entered = session.clone();
        let thread = std::thread::spawn(move || {
            entered.enter();
            Session::current().fail(failure("here"));
        });
        thread.join().unwrap();
        Session::current().fail(failure("elsewhere"));
        assert_eq!(session.take().unwrap().message, "here");
    }

    #[test]
    fn a_test_that_was_stopped_builds_no_law() {
        let session = Session::unwinding();
        let entered = session.clone();
        let thread = std::thread::spawn(move || {
            entered.enter();
            let builds = || std::panic::catch_unwind(Session::current).is_ok();
            let before = builds();
            session.stop();
            (before, builds())
        });
        assert_eq!(thread.join().unwrap(), (true, false));
    }

    #[test]
    fn in_tests_of_laws_a_failure_unwinds_with_its_message() {
        let caught = std::panic::catch_unwind(|| Session::unwinding().fail(failure("a reason")));
        let message = *caught.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("a reason"), "{message}");
    }
}
