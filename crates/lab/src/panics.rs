//! Panics of laws in a run, as errors with protocol and simulated time.

use crate::error::{BACKTRACE, Error, RunPanic};
use millpond_units::Time;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// The message and the place of the last panic, on a thread whose panics are caught.
    static CAUGHT: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// The result of `run` on `state`. A panic becomes an error, with the protocols of the run and the simulated time that `facts`
/// returns for the state afterwards; nothing is printed, except with `RUST_BACKTRACE`.
///
/// # Errors
/// That of `run`, or its panic.
pub(crate) fn without_panic<S, T>(
    state: &mut S,
    run: impl FnOnce(&mut S) -> Result<T, Error>,
    facts: impl FnOnce(&S) -> (BTreeSet<String>, Time),
) -> Result<T, Error> {
    static HOOK: Once = Once::new();
    HOOK.call_once(keep_messages);
    let outer = CAUGHT.replace(Some(None));
    let result = panic::catch_unwind(AssertUnwindSafe(|| run(state)));
    let kept = CAUGHT.replace(outer).flatten();
    result.unwrap_or_else(|payload| {
        let (protocols, time) = facts(state);
        let message = kept.unwrap_or_else(|| text(payload.as_ref()));
        Err(Error::Panic(RunPanic { protocols: protocols.into_iter().collect(), time, message }))
    })
}

/// Makes a panic keep its message instead of printing it, on threads whose panics are caught.
fn keep_messages() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_caught = CAUGHT.with_borrow_mut(|caught| {
            caught.as_mut().map(|message| *message = Some(message_of(info))).is_some()
        });
        if !is_caught || env::var_os(BACKTRACE).is_some_and(|value| value != "0") {
            usual(info);
        }
    }));
}

fn message_of(info: &PanicHookInfo<'_>) -> String {
    let message = text(info.payload());
    info.location()
        .map_or_else(|| message.clone(), |place| format!("{message} ({}:{})", place.file(), place.line()))
}

/// The message of a panic, without its place.
fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(names: &[&str], run: impl FnOnce(&mut f64) -> Result<(), Error>) -> String {
        let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut seconds = 0.0;
        let facts = |seconds: &f64| (names, Time::from_secs(*seconds));
        without_panic(&mut seconds, run, facts).unwrap_err().to_string()
    }

    #[test]
    fn a_panic_is_an_error_with_protocol_time_message_and_line() {
        let error = caught(&["tortoise"], |seconds| {
            *seconds = 1.25;
            panic!("{} packets", 3)
        });
        let (before, after) = error.split_once(" (").unwrap();
        assert_eq!(before, "law \"tortoise\" at 1.25 s: panic: 3 packets");
        assert!(after.contains("panics.rs:"), "{error}");
        let error = caught(&["tortoise", "hare"], |_| panic!("a constant text"));
        assert!(
            error.starts_with("one of the laws \"hare\", \"tortoise\" at 0 s: panic: a constant text"),
            "{error}"
        );
    }

    #[test]
    fn other_errors_are_returned_as_they_are() {
        let error = caught(&["tortoise"], |_| Err(Error::Stopped { finished: 1, of: 2 }));
        assert_eq!(error, Error::Stopped { finished: 1, of: 2 }.to_string());
    }
}
