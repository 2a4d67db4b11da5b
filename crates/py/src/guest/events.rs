//! The events of laws as objects of Python: whole numbers of bytes and packets, seconds, bit/s.

use super::ecn_name;
use millpond_law::{self as law, Cause, Ecn, Episode, Header, HeaderId, LimitedBy, PacketKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;

/// The bytes of a header of `header_id`, or none.
fn own_bytes(header: &Header, header_id: HeaderId) -> Option<Cow<'_, [u8]>> {
    header.of(header_id).filter(|_| header_id != HeaderId::NONE).map(Cow::Borrowed)
}

/// The start of a loop.
#[pyclass(frozen, module = "millpond._core")]
pub struct Start(pub(super) law::Start);

#[pymethods]
impl Start {
    #[getter]
    fn packet_bytes(&self) -> u64 {
        self.0.packet.get()
    }

    #[getter]
    fn capacity_bps(&self) -> Option<f64> {
        self.0.capacity.map(|rate| rate.as_f64())
    }

    #[getter]
    fn weight(&self) -> f64 {
        self.0.weight
    }
}

/// An acknowledgement of new data.
#[pyclass(frozen, module = "millpond._core")]
pub struct Ack {
    pub(super) ack: law::Ack,
    /// The header of the law.
    pub(super) header_id: HeaderId,
}

#[pymethods]
impl Ack {
    #[getter]
    fn bytes(&self) -> u64 {
        self.ack.bytes.get()
    }

    #[getter]
    fn packets(&self) -> u64 {
        self.ack.packets
    }

    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.ack.rtt.map(|rtt| rtt.secs())
    }

    #[getter]
    fn min_rtt_s(&self) -> f64 {
        self.ack.min_rtt.secs()
    }

    #[getter]
    fn smoothed_rtt_s(&self) -> f64 {
        self.ack.smoothed_rtt.secs()
    }

    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.ack.in_flight.get()
    }

    #[getter]
    fn prior_in_flight_bytes(&self) -> u64 {
        self.ack.prior_in_flight.get()
    }

    #[getter]
    fn ce_packets(&self) -> u64 {
        self.ack.ce_packets
    }

    #[getter]
    fn ce_bytes(&self) -> u64 {
        self.ack.ce_bytes.get()
    }

    #[getter]
    fn delivered_bytes(&self) -> u64 {
        self.ack.delivered.get()
    }

    #[getter]
    fn prior_delivered_bytes(&self) -> u64 {
        self.ack.prior_delivered.get()
    }

    #[getter]
    fn delivery_rate_bps(&self) -> Option<f64> {
        self.ack.delivery_rate().map(|rate| rate.as_f64())
    }

    #[getter]
    fn round(&self) -> u64 {
        self.ack.round
    }

    #[getter]
    fn newly_lost_bytes(&self) -> u64 {
        self.ack.newly_lost.get()
    }

    #[getter]
    fn lost_bytes(&self) -> u64 {
        self.ack.lost.get()
    }

    #[getter]
    fn app_limited(&self) -> bool {
        self.ack.app_limited
    }

    #[getter]
    fn window_unused(&self) -> bool {
        self.ack.window_unused()
    }

    #[getter]
    fn limited_by(&self) -> &'static str {
        match self.ack.limited_by {
            LimitedBy::Window => "window",
            LimitedBy::Pace => "pace",
            LimitedBy::Data => "data",
            LimitedBy::Credit => "credit",
            LimitedBy::NoFeedback => "no-feedback",
        }
    }

    #[getter]
    fn header(&self) -> Option<Cow<'_, [u8]>> {
        own_bytes(&self.ack.header, self.header_id)
    }
}

/// A loss, a timeout, ECN marks or persistent congestion.
#[pyclass(frozen, module = "millpond._core")]
pub struct Congestion(pub(super) law::Congestion);

#[pymethods]
impl Congestion {
    #[getter]
    fn cause(&self) -> &'static str {
        match self.0.cause {
            Cause::Loss => "loss",
            Cause::Timeout => "timeout",
            Cause::Ecn => "ecn",
            Cause::NoFeedback => "no-feedback",
        }
    }

    #[getter]
    fn is_new_episode(&self) -> bool {
        self.0.episode == Episode::New
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes.get()
    }

    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.0.in_flight.get()
    }

    #[getter]
    fn prior_in_flight_bytes(&self) -> u64 {
        self.0.prior_in_flight.get()
    }
}

/// A data packet at its receiver.
#[pyclass(frozen, module = "millpond._core")]
pub struct Data {
    pub(super) data: law::Data,
    /// The header of the law.
    pub(super) header_id: HeaderId,
}

#[pymethods]
impl Data {
    #[getter]
    fn bytes(&self) -> u64 {
        self.data.bytes.get()
    }

    #[getter]
    fn ecn(&self) -> &'static str {
        ecn_name(self.data.ecn)
    }

    #[getter]
    fn header(&self) -> Option<Cow<'_, [u8]>> {
        own_bytes(&self.data.header, self.header_id)
    }
}

/// A packet at a link.
#[pyclass(module = "millpond._core")]
pub struct LinkPacket {
    pub(super) bytes: u64,
    pub(super) kind: PacketKind,
    pub(super) ecn: Ecn,
    pub(super) header: Header,
    /// The header of the law.
    pub(super) header_id: HeaderId,
}

#[pymethods]
impl LinkPacket {
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    #[getter]
    fn is_data(&self) -> bool {
        self.kind == PacketKind::Data
    }

    #[getter]
    fn ecn(&self) -> &'static str {
        ecn_name(self.ecn)
    }

    #[getter]
    fn header(&self) -> Option<Cow<'_, [u8]>> {
        own_bytes(&self.header, self.header_id)
    }

    #[setter]
    fn set_header(&mut self, value: &[u8]) -> PyResult<()> {
        let written = self.header.of_mut(self.header_id).filter(|_| self.header_id != HeaderId::NONE);
        match written {
            Some(written) if written.len() == value.len() => {
                written.copy_from_slice(value);
                Ok(())
            }
            Some(written) => {
                let message = format!("the header has {} bytes, not {}", written.len(), value.len());
                Err(PyValueError::new_err(message))
            }
            None => Err(PyValueError::new_err("the packet has no header of this law")),
        }
    }
}

/// The queue of a link.
#[pyclass(frozen, module = "millpond._core")]
pub struct QueueState(pub(super) law::QueueView);

#[pymethods]
impl QueueState {
    #[getter]
    fn capacity_bps(&self) -> f64 {
        self.0.configured_capacity.as_f64()
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes.get()
    }

    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets
    }

    #[getter]
    fn head_sojourn_s(&self) -> f64 {
        self.0.head_sojourn.secs()
    }
}
