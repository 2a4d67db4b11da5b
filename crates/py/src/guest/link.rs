//! A router whose callbacks are methods of an object in Python.

use super::base::{Base, LinkBase, report, unexpected};
use super::declaration::PartClass;
use super::events::{LinkPacket, QueueState};
use super::{CallbackOrigin, methods};
use millpond_guest::next_tick;
use millpond_law::{
    Context, Gauge, Header, HeaderId, Hooks, Link, LinkFacts, PacketView, QueueView, Verdict,
};
use millpond_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The law of a guest at one link.
pub(super) struct PythonLink {
    origin: CallbackOrigin,
    base: Py<LinkBase>,
    arrive: Option<Py<PyAny>>,
    depart: Option<Py<PyAny>>,
    tick: Option<Py<PyAny>>,
    observe: Option<Py<PyAny>>,
    header_id: HeaderId,
    has_failed: AtomicBool,
}

/// A verdict in words; none for a packet that is forwarded.
fn verdict(text: Option<&str>) -> PyResult<Verdict> {
    match text {
        None => Ok(Verdict::Keep),
        Some("mark") => Ok(Verdict::Mark),
        Some("drop") => Ok(Verdict::Drop),
        Some(other) => {
            let message = format!("a verdict is \"mark\", \"drop\" or None, not \"{other}\"");
            Err(PyValueError::new_err(message))
        }
    }
}

impl PythonLink {
    pub(super) fn new(
        origin: CallbackOrigin,
        object: &Bound<'_, PyAny>,
        class: &PartClass,
        header_id: HeaderId,
        facts: &LinkFacts,
    ) -> PyResult<Self> {
        let base = object.cast::<LinkBase>()?.clone().unbind();
        {
            let mut base = base.bind(object.py()).borrow_mut();
            base.capacity_bps = facts.capacity.as_f64();
            base.buffer_bytes = facts.buffer.map(|bytes| bytes.get());
            base.packet_bytes = facts.packet.get();
        }
        let [arrive, depart, tick, observe] =
            methods(object, class, ["on_arrival", "on_departure", "on_tick", "observe"])?;
        let has_failed = AtomicBool::new(false);
        Ok(Self { origin, base, arrive, depart, tick, observe, header_id, has_failed })
    }

    fn fail(&self, event: &'static str, time: Time, error: PyErr) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.origin.fail(event, time, error);
    }

    /// Calls a callback about a packet, and writes the header that it has set.
    fn judge(
        &self,
        callback: &Py<PyAny>,
        cx: &mut Context<'_>,
        packet: &mut PacketView<'_>,
        queue: &QueueView,
    ) -> PyResult<Verdict> {
        Python::attach(|py| {
            let base = self.base.bind(py);
            base.borrow_mut().begin(cx);
            let (bytes, kind, ecn) = (packet.bytes.get(), packet.kind, *packet.ecn);
            let seen = LinkPacket { bytes, kind, ecn, header: *packet.header, header_id: self.header_id };
            let seen = Bound::new(py, seen)?;
            let answer = callback.bind(py).call1((&seen, QueueState(*queue)))?;
            let text = answer.extract::<Option<&str>>();
            let verdict =
                verdict(text.map_err(|_| unexpected(&answer, "a verdict: \"mark\", \"drop\" or None"))?)?;
            base.borrow_mut().end(cx);
            let written: Header = seen.borrow().header;
            *packet.header = written;
            Ok(verdict)
        })
    }

    fn about_packet(
        &self,
        event: &'static str,
        callback: Option<&Py<PyAny>>,
        cx: &mut Context<'_>,
        packet: &mut PacketView<'_>,
        queue: &QueueView,
    ) -> Verdict {
        let Some(callback) = callback else { return Verdict::Keep };
        if self.has_failed.load(Ordering::Relaxed) {
            return Verdict::Keep;
        }
        self.judge(callback, cx, packet, queue).unwrap_or_else(|error| {
            self.fail(event, cx.now, error);
            Verdict::Keep
        })
    }

    fn next_tick(&self, cx: &mut Context<'_>, queue: &QueueView) -> PyResult<Option<Time>> {
        let Some(callback) = &self.tick else { return Ok(None) };
        Python::attach(|py| {
            let base = self.base.bind(py);
            base.borrow_mut().begin(cx);
            let answer = callback.bind(py).call1((QueueState(*queue),))?;
            let after: Option<f64> =
                answer.extract().map_err(|_| unexpected(&answer, "a number of seconds, or None"))?;
            base.borrow_mut().end(cx);
            let next = next_tick(cx.now, after.unwrap_or(f64::INFINITY));
            next.map_err(|nonsense| PyValueError::new_err(nonsense.to_string()))
        })
    }
}

impl Link for PythonLink {
    fn hooks(&self) -> Hooks {
        let (arrive, depart, tick) = (self.arrive.is_some(), self.depart.is_some(), self.tick.is_some());
        Hooks { arrive, depart, tick, sojourn: arrive, release: false, flow: false }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.about_packet("on_arrival", self.arrive.as_ref(), cx, packet, queue)
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.about_packet("on_departure", self.depart.as_ref(), cx, packet, queue)
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        if self.has_failed.load(Ordering::Relaxed) {
            return None;
        }
        self.next_tick(cx, queue).unwrap_or_else(|error| {
            self.fail("on_tick", cx.now, error);
            None
        })
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        let Some(callback) = &self.observe else { return };
        if self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = Python::attach(|py| report(callback.bind(py), gauge)) {
            let now = Python::attach(|py| *self.base.bind(py).borrow_mut().present().0);
            self.fail("observe", now, error);
        }
    }
}
