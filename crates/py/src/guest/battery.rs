//! The public conformance battery on a registered law.

use super::{has_guests, registry};
use crate::error::Failure;
use crate::python_threads::PythonThreads;
use crate::waiting::{awaited, broken};
use millpond_conformance::{Laws, check};
use millpond_guest::Session;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::mpsc::channel;

/// Panics of checks are results: the thread of the battery, by its name, prints none.
const THREAD: &str = "millpond conformance";

static QUIET: Once = Once::new();

fn quiet_in_the_battery() {
    QUIET.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().name() != Some(THREAD) {
                usual(info);
            }
        }));
    });
}

/// The message of a failed check.
fn message(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    text.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

/// Runs the battery; returns the message of the first failed check, or none if all hold.
#[pyfunction]
pub fn conformance(py: Python<'_>, name: &str) -> PyResult<Option<String>> {
    let protocol = registry().0.protocol(name).map_err(|unknown| {
        let known = unknown.known.join(", ");
        Failure::input(format!("there is no law \"{name}\"; there are: {known}"))
    })?;
    quiet_in_the_battery();
    let threads = PythonThreads::default();
    let session = Session::unwinding();
    let (of_battery, entered) = (threads.clone(), session.clone());
    let battery = move || {
        entered.enter();
        if has_guests() {
            Python::attach(|py| of_battery.add_current(py));
        }
        catch_unwind(AssertUnwindSafe(|| check(&Laws::new([protocol], []))))
    };
    let (sender, mut receiver) = channel();
    let thread = std::thread::Builder::new().name(THREAD.into());
    thread.spawn(move || sender.send(battery())).map_err(Failure::input)?;
    let checked = awaited(py, &mut receiver, || py.check_signals());
    // After Ctrl-C the battery ends in the background, unless a law does not return.
    let checked = checked.inspect_err(|_| {
        session.stop();
        threads.end(py, &mut receiver);
    });
    let checked = checked?.ok_or_else(broken)?;
    Ok(checked.err().map(|cause| message(&*cause)))
}
