//! A receiver whose callback is a method of an object in Python.

use super::base::{Base, ReceiverBase};
use super::declaration::PartClass;
use super::events::Data;
use super::{CallbackOrigin, methods};
use millpond_law::{self as law, Context, Echo, Header, HeaderId, Receiver, RelayView};
use pyo3::prelude::*;

/// The law of a guest at one receiver.
pub(super) struct PythonReceiver {
    origin: CallbackOrigin,
    base: Py<ReceiverBase>,
    on_data: Option<Py<PyAny>>,
    header_id: HeaderId,
    has_failed: bool,
}

impl PythonReceiver {
    pub(super) fn new(
        origin: CallbackOrigin,
        object: &Bound<'_, PyAny>,
        class: &PartClass,
        header_id: HeaderId,
    ) -> PyResult<Self> {
        let base = object.cast::<ReceiverBase>()?.clone().unbind();
        let [on_data] = methods(object, class, ["on_data"])?;
        Ok(Self { origin, base, on_data, header_id, has_failed: false })
    }

    fn call(&self, cx: &mut Context<'_>, data: &law::Data, echo: &mut Echo) -> PyResult<()> {
        let Some(callback) = &self.on_data else { return Ok(()) };
        Python::attach(|py| {
            let base = self.base.bind(py);
            {
                let mut base = base.borrow_mut();
                base.begin(cx);
                base.echo = echo.header.of(self.header_id).map(<[u8]>::to_vec);
                base.mark = false;
            }
            callback.bind(py).call1((Data { data: *data, header_id: self.header_id },))?;
            let mut base = base.borrow_mut();
            base.end(cx);
            if self.header_id != HeaderId::NONE {
                echo.header =
                    base.echo.as_ref().map_or(Header::NONE, |bytes| Header::new(self.header_id, bytes));
            }
            echo.mark = base.mark;
            Ok(())
        })
    }
}

impl Receiver for PythonReceiver {
    fn on_data(
        &mut self,
        cx: &mut Context<'_>,
        data: &law::Data,
        _relay: Option<&RelayView>,
        echo: &mut Echo,
    ) {
        echo.header = data.header;
        if self.has_failed {
            return;
        }
        if let Err(error) = self.call(cx, data, echo) {
            self.has_failed = true;
            self.origin.fail("on_data", cx.now, error);
        }
    }
}
