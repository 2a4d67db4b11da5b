//! The base classes of senders, receivers and links in Python: the present time, random numbers, and what the law sets.

use millpond_guest::{Nonsense, RawPermit, intern};
use millpond_law::{Context, Ecn, Gauge, HEADER_BYTES, Random};
use millpond_units::Time;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The ECN bits in words.
pub(super) fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotCapable => "not-ect",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}

/// Time and random stream of a callback. The stream is that of the run: it is copied in before, and back after a callback.
struct Present {
    now: Time,
    random: Random,
}

impl Present {
    fn new() -> Self {
        Self { now: Time::ZERO, random: Random::stream(0, "a guest that has not started") }
    }
}

/// What the base classes have in common.
pub(super) trait Base {
    fn present(&mut self) -> (&mut Time, &mut Random);

    /// Before a callback.
    fn begin(&mut self, cx: &Context<'_>) {
        let (now, random) = self.present();
        *now = cx.now;
        random.clone_from(cx.random);
    }

    /// After a callback.
    fn end(&mut self, cx: &mut Context<'_>) {
        cx.random.clone_from(self.present().1);
    }
}

macro_rules! base {
    ($($class:ident),+) => { $(
        impl Base for $class {
            fn present(&mut self) -> (&mut Time, &mut Random) {
                (&mut self.present.now, &mut self.present.random)
            }
        }
    )+ };
}
base!(SenderBase, ReceiverBase, LinkBase);

fn refused(nonsense: Nonsense) -> PyErr {
    PyValueError::new_err(nonsense.to_string())
}

/// The base class of senders.
#[pyclass(subclass, module = "millpond._core")]
pub struct SenderBase {
    present: Present,
    pub(super) permit: RawPermit,
}

#[pymethods]
impl SenderBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        Self { present: Present::new(), permit: RawPermit::default() }
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.present.now.secs()
    }

    fn random(&mut self) -> f64 {
        self.present.random.uniform()
    }

    #[getter]
    fn window_bytes(&self) -> f64 {
        self.permit.window_bytes
    }

    #[setter]
    fn set_window_bytes(&mut self, value: f64) -> PyResult<()> {
        let permit = RawPermit { window_bytes: value, ..self.permit };
        permit.window().map_err(refused)?;
        self.permit = permit;
        Ok(())
    }

    #[getter]
    fn pace_bps(&self) -> f64 {
        self.permit.pace_bps
    }

    #[setter]
    fn set_pace_bps(&mut self, value: f64) -> PyResult<()> {
        let permit = RawPermit { pace_bps: value, ..self.permit };
        permit.pace().map_err(refused)?;
        self.permit = permit;
        Ok(())
    }

    #[getter]
    fn quantum_bytes(&self) -> f64 {
        self.permit.quantum_bytes
    }

    #[setter]
    fn set_quantum_bytes(&mut self, value: f64) -> PyResult<()> {
        let permit = RawPermit { quantum_bytes: value, ..self.permit };
        permit.quantum().map_err(refused)?;
        self.permit = permit;
        Ok(())
    }

    #[getter]
    fn feedback_within_s(&self) -> f64 {
        self.permit.feedback_within_s
    }

    #[setter]
    fn set_feedback_within_s(&mut self, value: f64) -> PyResult<()> {
        let permit = RawPermit { feedback_within_s: value, ..self.permit };
        permit.feedback_within().map_err(refused)?;
        self.permit = permit;
        Ok(())
    }

    #[getter]
    fn wake_s(&self) -> f64 {
        self.permit.wake_s
    }

    #[setter]
    fn set_wake_s(&mut self, value: f64) -> PyResult<()> {
        let permit = RawPermit { wake_s: value, ..self.permit };
        permit.wake(self.present.now, false).map_err(refused)?;
        self.permit = permit;
        Ok(())
    }
}

/// The base class of receivers.
#[pyclass(subclass, module = "millpond._core")]
pub struct ReceiverBase {
    present: Present,
    /// The header of the next acknowledgement.
    pub(super) echo: Option<Vec<u8>>,
    pub(super) mark: bool,
}

#[pymethods]
impl ReceiverBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        Self { present: Present::new(), echo: None, mark: false }
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.present.now.secs()
    }

    fn random(&mut self) -> f64 {
        self.present.random.uniform()
    }

    #[getter]
    fn echo(&self) -> Option<Cow<'_, [u8]>> {
        self.echo.as_deref().map(Cow::Borrowed)
    }

    #[setter]
    fn set_echo(&mut self, bytes: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes: Option<Vec<u8>> =
            bytes.extract().map_err(|_| unexpected(bytes, "the bytes of an echo, or None"))?;
        if let Some(bytes) = &bytes {
            check_header(bytes)?;
        }
        self.echo = bytes;
        Ok(())
    }

    #[getter]
    fn mark(&self) -> bool {
        self.mark
    }

    #[setter]
    fn set_mark(&mut self, mark: bool) {
        self.mark = mark;
    }
}

/// The base class of links.
#[pyclass(subclass, module = "millpond._core")]
pub struct LinkBase {
    present: Present,
    pub(super) capacity_bps: f64,
    pub(super) buffer_bytes: Option<u64>,
    pub(super) packet_bytes: u64,
}

#[pymethods]
impl LinkBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        Self { present: Present::new(), capacity_bps: 0.0, buffer_bytes: None, packet_bytes: 0 }
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.present.now.secs()
    }

    fn random(&mut self) -> f64 {
        self.present.random.uniform()
    }

    #[getter]
    fn capacity_bps(&self) -> f64 {
        self.capacity_bps
    }

    #[getter]
    fn buffer_bytes(&self) -> Option<u64> {
        self.buffer_bytes
    }

    #[getter]
    fn packet_bytes(&self) -> u64 {
        self.packet_bytes
    }
}

/// Refuses a header that no packet can carry.
/// Reports what `observe` returns; values that are not numbers have no meaning at this time and are left out.
pub(super) fn report(observe: &Bound<'_, PyAny>, gauge: &mut dyn Gauge) -> PyResult<()> {
    let answer = observe.call0()?;
    let all: BTreeMap<String, (f64, String)> = answer.extract().map_err(|_| {
        unexpected(
            &answer,
            "a dictionary with a number and a unit for each name, such as {\"load\": (0.5, \"1\")}",
        )
    })?;
    for (name, (value, unit)) in all.iter().filter(|(_, (value, _))| !value.is_nan()) {
        gauge.quantity(intern(name), intern(unit), *value);
    }
    Ok(())
}

/// The error for what a callback has returned, or written, in place of something else.
pub(super) fn unexpected(found: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = found.repr().map_or_else(|_| "an object without a text".to_owned(), |text| text.to_string());
    PyTypeError::new_err(format!("expected {expected}, found {found}"))
}

pub(super) fn check_header(bytes: &[u8]) -> PyResult<()> {
    if bytes.len() > HEADER_BYTES {
        let message = format!("a header has at most {HEADER_BYTES} bytes, not {}", bytes.len());
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}
