//! Laws written in Python: they join the registry and run in the packet world.
//!
//! ```text
//!   register(class, declaration) --> PythonLaw in REGISTERED --> registry() of every call
//!   PythonLaw --sender, receiver, link--> an instance of the guest's class behind the trait of `millpond-law`
//! ```
//!
//! Each event takes Python's lock, makes one object for the event and calls one method. An exception and a value without
//! meaning become the failure of the [session](millpond_guest::Session), and `work` raises it.

mod base;
mod battery;
mod declaration;
mod events;
mod fluid;
mod link;
mod native;
mod receiver;
mod sender;

pub use base::{LinkBase, ReceiverBase, SenderBase};
pub use battery::conformance;
pub use events::{Ack, Congestion, Data, LinkPacket, QueueState, Start};

use crate::error::Failure;
use base::ecn_name;
use declaration::{Declaration, FluidClass, PartClass};
use millpond_guest::{Failure as GuestFailure, Part, Session, intern, value_in_si};
use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Domain, Link, LinkFacts, PlainReceiver, Protocol, Receiver, Sender, SettingError, Settings, Value,
};
use millpond_protocols::Registry;
use millpond_units::Time;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::{Mutex, PoisonError};

/// The registered laws of guests, and how often that list has changed.
struct Registered {
    laws: Vec<&'static dyn Protocol>,
    changes: u64,
}

static REGISTERED: Mutex<Registered> = Mutex::new(Registered { laws: Vec::new(), changes: 0 });

/// The built-in protocols and queues and the laws of guests, with the number of changes so far.
pub(crate) fn registry() -> (Registry, u64) {
    let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = registered.laws.iter().fold(Registry::builtin(), |all, law| all.with(*law));
    (all, registered.changes)
}

/// Whether any law of a guest is registered.
pub(crate) fn has_guests() -> bool {
    !REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).laws.is_empty()
}

/// Adds a law to the registry, or replaces one that was registered under the same name.
#[pyfunction]
pub fn register(class: Bound<'_, PyAny>, declaration: Declaration) -> PyResult<()> {
    let card = card(&declaration)?;
    let law: Box<dyn Protocol> = match declaration.native {
        Some(address) => Box::new(native::NativeProtocol::new(card, address).map_err(Failure::input)?),
        None => Box::new(PythonLaw::new(card, class.unbind(), declaration)),
    };
    let name = card.name;
    if Registry::builtin().protocol(name).is_ok() {
        let message = format!("the law \"{name}\" has the name of a built-in protocol: choose another one");
        return Err(Failure::input(message).into());
    }
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    registered.laws.retain(|law| law.card().name != name);
    registered.laws.push(Box::leak(law));
    registered.changes += 1;
    Ok(())
}

/// A law whose parts are classes in Python.
struct PythonLaw {
    card: &'static Card,
    /// The subclass of `millpond.Law`.
    class: Py<PyAny>,
    sender: PartClass,
    receiver: Option<PartClass>,
    link: Option<PartClass>,
    /// The class of its equations, and what they do not contain.
    fluid: Option<(Py<PyAny>, &'static [&'static str])>,
}

/// The card of a law.
fn card(declaration: &Declaration) -> PyResult<&'static Card> {
    let refused = |error: SettingError| Failure::input(format!("law \"{}\": {error}", declaration.name));
    Ok(declaration.describe()?.card().map_err(refused)?)
}

impl PythonLaw {
    fn new(card: &'static Card, class: Py<PyAny>, declaration: Declaration) -> Self {
        let Declaration { sender, receiver, link, fluid, .. } = declaration;
        let fluid = fluid.map(|FluidClass { class, left_out }| {
            let left_out: Vec<&'static str> = left_out.iter().map(|part| intern(part)).collect();
            (class, &*left_out.leak())
        });
        Self { card, class, sender, receiver, link, fluid }
    }

    /// The instance of the law with these settings, as its parts receive it.
    fn instance<'py>(&self, py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyAny>> {
        let values = PyDict::new(py);
        for parameter in self.card.parameters.iter().map(|key| key.parameter()) {
            let Some((name, value)) = settings.written().find(|(name, _)| *name == parameter.name) else {
                continue;
            };
            match (parameter.domain, value) {
                (Domain::Flag, Value::Flag(flag)) => values.set_item(name, flag)?,
                (Domain::Word(_), Value::Text(word)) => values.set_item(name, word.as_ref())?,
                (domain, value) => values.set_item(name, value_in_si(domain, value))?,
            }
        }
        self.class.bind(py).call_method1("_with", (values,))
    }

    /// A part of the law, made by `make` from an instance of its class.
    fn part<T>(
        &self,
        part: Part,
        class: &PartClass,
        settings: &Settings,
        make: impl FnOnce(CallbackOrigin, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, SettingError> {
        let origin = CallbackOrigin { law: self.card.name, part, session: Session::current() };
        Python::attach(|py| {
            let made = self
                .instance(py, settings)
                .and_then(|law| class.class.bind(py).call1((law,)))
                .and_then(|object| make(origin.clone(), &object));
            made.map_err(|error| {
                let text = format!("{} __init__: {}", part.name(), text_of(py, &error));
                origin.fail("__init__", Time::ZERO, error);
                SettingError::new(self.card.name, text)
            })
        })
    }
}

impl Protocol for PythonLaw {
    /// What the class reads is not known.
    fn reads_weight(&self) -> bool {
        true
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        let Some((class, left_out)) = &self.fluid else { return Ok(None) };
        let origin = CallbackOrigin { law: self.card.name, part: Part::Fluid, session: Session::current() };
        let model = Python::attach(|py| -> PyResult<fluid::PythonModel> {
            let (law, class) = (self.instance(py, settings)?.unbind(), class.clone_ref(py));
            Ok(fluid::PythonModel { origin: origin.clone(), class, law, left_out })
        });
        match model {
            Ok(model) => Ok(Some(Box::new(model))),
            Err(error) => {
                let text = Python::attach(|py| text_of(py, &error));
                origin.fail("__init__", Time::ZERO, error);
                Err(SettingError::new(self.card.name, text))
            }
        }
    }

    fn card(&self) -> &'static Card {
        self.card
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        let (class, header_id) = (&self.sender, self.card.needs.header);
        let sender = self.part(Part::Sender, class, settings, |origin, object: &Bound<'_, PyAny>| {
            sender::PythonSender::new(origin, object, class, header_id)
        })?;
        Ok(Box::new(sender))
    }

    fn receiver(&self, settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        let Some(class) = &self.receiver else { return Ok(Box::new(PlainReceiver)) };
        let header_id = self.card.needs.header;
        let receiver = self.part(Part::Receiver, class, settings, |origin, object: &Bound<'_, PyAny>| {
            receiver::PythonReceiver::new(origin, object, class, header_id)
        })?;
        Ok(Box::new(receiver))
    }

    fn link(&self, settings: &Settings, facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        let Some(class) = &self.link else { return Ok(None) };
        let header_id = self.card.needs.header;
        let link = self.part(Part::Link, class, settings, |origin, object: &Bound<'_, PyAny>| {
            link::PythonLink::new(origin, object, class, header_id, facts)
        })?;
        Ok(Some(Box::new(link)))
    }
}

/// Whose callbacks these are, and where their failure goes.
#[derive(Clone)]
struct CallbackOrigin {
    law: &'static str,
    part: Part,
    session: Session,
}

impl CallbackOrigin {
    /// Ends the run with an exception of the guest.
    fn fail(&self, event: &'static str, time: Time, error: PyErr) {
        let message = Python::attach(|py| text_of(py, &error));
        let Self { law, part, session } = self;
        let cause = Some(Box::new(error) as _);
        session.fail(GuestFailure { law, part: *part, event, time, message, cause });
    }
}

/// An exception as the last line of a traceback shows it, with the line of the code that raised it.
fn text_of(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| String::from("exception"), |name| name.to_string());
    let value = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
    let place = place_of(py, error).map_or_else(|_| String::new(), |place| format!(" ({place})"));
    format!("{kind}: {value}{place}")
}

/// File and line of the innermost function of a traceback.
fn place_of(py: Python<'_>, error: &PyErr) -> PyResult<String> {
    let mut innermost = error.traceback(py).map(Bound::into_any);
    let mut place = None;
    while let Some(traceback) = innermost.filter(|one| !one.is_none()) {
        let code = traceback.getattr("tb_frame")?.getattr("f_code")?;
        let file = code.getattr("co_filename")?.cast_into::<PyString>()?;
        place = Some(format!("{}:{}", file.to_str()?, traceback.getattr("tb_lineno")?));
        innermost = Some(traceback.getattr("tb_next")?);
    }
    place.ok_or_else(|| pyo3::exceptions::PyValueError::new_err("no traceback"))
}

/// The methods of an object that the guest has written, by their names; none for each that it has not.
fn methods<const N: usize>(
    object: &Bound<'_, PyAny>,
    class: &PartClass,
    names: [&'static str; N],
) -> PyResult<[Option<Py<PyAny>>; N]> {
    let mut found = [const { None }; N];
    for (method, name) in found.iter_mut().zip(names) {
        if class.callbacks.iter().any(|written| written == name) {
            *method = Some(object.getattr(name)?.unbind());
        }
    }
    Ok(found)
}
