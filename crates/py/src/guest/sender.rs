//! A sender whose callbacks are methods of an object in Python.

use super::base::{Base, SenderBase, check_header, report, unexpected};
use super::declaration::PartClass;
use super::events::{Ack, Congestion, Start};
use super::{CallbackOrigin, methods};
use millpond_law::{self as law, Context, Gauge, Header, HeaderId, Permit, Sender};
use millpond_units::{Bytes, Rate, Time};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The callbacks that the guest has written.
struct Callbacks {
    start: Option<Py<PyAny>>,
    ack: Option<Py<PyAny>>,
    congestion: Option<Py<PyAny>>,
    timer: Option<Py<PyAny>>,
    capacity: Option<Py<PyAny>>,
    sent: Option<Py<PyAny>>,
    recovery_end: Option<Py<PyAny>>,
    idle_restart: Option<Py<PyAny>>,
    spurious_loss: Option<Py<PyAny>>,
    header: Option<Py<PyAny>>,
    observe: Option<Py<PyAny>>,
}

impl Callbacks {
    fn new(object: &Bound<'_, PyAny>, class: &PartClass) -> PyResult<Self> {
        let [start, ack, congestion, timer, capacity, sent] = methods(
            object,
            class,
            ["on_start", "on_ack", "on_congestion", "on_timer", "on_capacity", "on_sent"],
        )?;
        let [recovery_end, idle_restart, spurious_loss, header, observe] = methods(
            object,
            class,
            ["on_recovery_end", "on_idle_restart", "on_spurious_loss", "header", "observe"],
        )?;
        Ok(Self {
            start,
            ack,
            congestion,
            timer,
            capacity,
            sent,
            recovery_end,
            idle_restart,
            spurious_loss,
            header,
            observe,
        })
    }
}

/// The permit before the start, and after a failure until the run ends: one packet per round trip.
fn idle() -> Permit {
    Permit { window: Some(Bytes::new(1)), ..Permit::default() }
}

/// The law of a guest at one sender.
pub(super) struct PythonSender {
    origin: CallbackOrigin,
    base: Py<SenderBase>,
    callbacks: Callbacks,
    header_id: HeaderId,
    permit: Permit,
    /// Set by the first failure; no callback is called any more. `observe` has no other access.
    has_failed: AtomicBool,
}

impl PythonSender {
    pub(super) fn new(
        origin: CallbackOrigin,
        object: &Bound<'_, PyAny>,
        class: &PartClass,
        header_id: HeaderId,
    ) -> PyResult<Self> {
        let base = object.cast::<SenderBase>()?.clone().unbind();
        let callbacks = Callbacks::new(object, class)?;
        let has_failed = AtomicBool::new(false);
        Ok(Self { origin, base, callbacks, header_id, permit: idle(), has_failed })
    }

    fn fail(&self, event: &'static str, time: Time, error: PyErr) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.origin.fail(event, time, error);
    }

    /// Calls a callback with arguments, and reads what it permits.
    #[inline]
    fn call<A>(
        &mut self,
        cx: &mut Context<'_>,
        event: &'static str,
        callback: fn(&Callbacks) -> &Option<Py<PyAny>>,
        arguments: impl FnOnce() -> A,
    ) where
        A: for<'py> PyCallArgs<'py>,
    {
        let Some(callback) = callback(&self.callbacks) else { return };
        if self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        let is_timer = event == "on_timer";
        let called = Python::attach(|py| -> PyResult<Permit> {
            let base = self.base.bind(py);
            {
                let mut base = base.borrow_mut();
                base.begin(cx);
                if is_timer {
                    base.permit.wake_s = f64::INFINITY;
                }
            }
            callback.bind(py).call1(arguments())?;
            let mut base = base.borrow_mut();
            base.end(cx);
            let checked = base.permit.check(cx.now, is_timer);
            checked.map_err(|nonsense| pyo3::exceptions::PyValueError::new_err(nonsense.to_string()))
        });
        match called {
            Ok(permit) => self.permit = permit,
            Err(error) => {
                self.permit = idle();
                self.fail(event, cx.now, error);
            }
        }
    }

    /// The bytes of the header of a packet.
    fn written_header(&self, py: Python<'_>, cx: &mut Context<'_>) -> PyResult<Option<Vec<u8>>> {
        let Some(callback) = &self.callbacks.header else { return Ok(None) };
        let base = self.base.bind(py);
        base.borrow_mut().begin(cx);
        let answer = callback.bind(py).call0()?;
        let bytes: Option<Vec<u8>> =
            answer.extract().map_err(|_| unexpected(&answer, "the bytes of a header, or None"))?;
        base.borrow_mut().end(cx);
        if let Some(bytes) = &bytes {
            check_header(bytes)?;
        }
        Ok(bytes)
    }
}

impl Sender for PythonSender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &law::Start) {
        self.call(cx, "on_start", |all| &all.start, || (Start(*start),));
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &law::Ack) {
        let header_id = self.header_id;
        self.call(cx, "on_ack", |all| &all.ack, || (Ack { ack: *ack, header_id },));
    }

    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &law::Congestion) {
        self.call(cx, "on_congestion", |all| &all.congestion, || (Congestion(*congestion),));
    }

    fn on_spurious_loss(&mut self, cx: &mut Context<'_>, loss: &law::SpuriousLoss) {
        let arguments = (loss.bytes.get(), loss.whole_episode);
        self.call(cx, "on_spurious_loss", |all| &all.spurious_loss, || arguments);
    }

    fn on_recovery_end(&mut self, cx: &mut Context<'_>) {
        self.call(cx, "on_recovery_end", |all| &all.recovery_end, || ());
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.call(cx, "on_idle_restart", |all| &all.idle_restart, || ());
    }

    fn on_capacity(&mut self, cx: &mut Context<'_>, capacity: Rate) {
        self.call(cx, "on_capacity", |all| &all.capacity, || (capacity.as_f64(),));
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.permit.wake = None;
        self.call(cx, "on_timer", |all| &all.timer, || ());
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, bytes: Bytes, in_flight: Bytes) {
        self.call(cx, "on_sent", |all| &all.sent, || (bytes.get(), in_flight.get()));
    }

    fn permit(&self) -> Permit {
        self.permit
    }

    fn stamp(&mut self, cx: &mut Context<'_>, header: &mut Header) {
        if self.callbacks.header.is_none() || self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        match Python::attach(|py| self.written_header(py, cx)) {
            Ok(Some(bytes)) => header.set(self.header_id, &bytes),
            Ok(None) => {}
            Err(error) => self.fail("header", cx.now, error),
        }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        let Some(callback) = &self.callbacks.observe else { return };
        if self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = Python::attach(|py| report(callback.bind(py), gauge)) {
            let now = Python::attach(|py| *self.base.bind(py).borrow_mut().present().0);
            self.fail("observe", now, error);
        }
    }
}
