//! The structures of `include/millpond.h`. `tests/header.rs` compares their layout with that of a C compiler.

use crate::RawPermit;
use millpond_law::{
    Ack, Cause, Congestion, Ecn, Episode, HEADER_BYTES, Header, HeaderId, LimitedBy, QueueView, Start,
};
use std::ffi::{c_char, c_void};

/// `MILLPOND_VERSION`.
pub const VERSION: u32 = 1;

/// `MILLPOND_PARAMETERS`.
pub const PARAMETERS: usize = 32;

/// `millpond_context`.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawContext {
    pub now_s: f64,
    pub sample: f64,
    pub parameters: [f64; PARAMETERS],
}

/// `millpond_header`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawHeader {
    pub length: u64,
    pub bytes: [u8; HEADER_BYTES],
}

/// `millpond_start`.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawStart {
    pub packet_bytes: u64,
    pub capacity_bps: f64,
    pub weight: f64,
}

/// `millpond_ack`.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawAck {
    pub bytes: u64,
    pub packets: u64,
    pub rtt_s: f64,
    pub min_rtt_s: f64,
    pub smoothed_rtt_s: f64,
    pub in_flight_bytes: u64,
    pub prior_in_flight_bytes: u64,
    pub ce_packets: u64,
    pub ce_bytes: u64,
    pub delivered_bytes: u64,
    pub prior_delivered_bytes: u64,
    pub delivery_rate_bps: f64,
    pub round: u64,
    pub newly_lost_bytes: u64,
    pub lost_bytes: u64,
    pub app_limited: u64,
    pub limited_by: u64,
    pub window_unused: u64,
    pub header: RawHeader,
}

/// `millpond_congestion`.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawCongestion {
    pub cause: u64,
    pub is_new_episode: u64,
    pub bytes: u64,
    pub in_flight_bytes: u64,
    pub prior_in_flight_bytes: u64,
}

/// `millpond_packet`.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawPacket {
    pub bytes: u64,
    pub is_data: u64,
    pub ecn: u64,
    pub header: RawHeader,
}

/// `millpond_queue`.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawQueue {
    pub capacity_bps: f64,
    pub bytes: u64,
    pub packets: u64,
    pub head_sojourn_s: f64,
}

/// `millpond_echo`.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawEcho {
    pub header: RawHeader,
    pub mark: u64,
}

/// A callback about an event of a sender.
pub type OnEvent<E> = unsafe extern "C" fn(*mut c_void, *const RawContext, *const E, *mut RawPermit) -> i32;

/// `on_timer` of a sender.
pub type OnTimer = unsafe extern "C" fn(*mut c_void, *const RawContext, *mut RawPermit) -> i32;

/// `on_capacity` of a sender.
pub type OnCapacity = unsafe extern "C" fn(*mut c_void, *const RawContext, f64, *mut RawPermit) -> i32;

/// `header` of a sender.
pub type WriteHeader = unsafe extern "C" fn(*mut c_void, *const RawContext, *mut RawHeader) -> i32;

/// A callback about a packet at a link.
pub type OnPacket =
    unsafe extern "C" fn(*mut c_void, *const RawContext, *mut RawPacket, *const RawQueue, *mut u64) -> i32;

/// `on_tick` of a link.
pub type OnTick = unsafe extern "C" fn(*mut c_void, *const RawContext, *const RawQueue, *mut f64) -> i32;

/// `on_data` of a receiver.
pub type OnData = unsafe extern "C" fn(*mut c_void, *const RawContext, *const RawPacket, *mut RawEcho) -> i32;

/// The beginning of every table.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawTable {
    pub version: u32,
    pub struct_bytes: u32,
}

/// `millpond_sender`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawSender {
    pub table: RawTable,
    pub state_bytes: u64,
    pub on_start: Option<OnEvent<RawStart>>,
    pub on_ack: Option<OnEvent<RawAck>>,
    pub on_congestion: Option<OnEvent<RawCongestion>>,
    pub on_timer: Option<OnTimer>,
    pub on_capacity: Option<OnCapacity>,
    pub header: Option<WriteHeader>,
}

/// `millpond_link`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawLink {
    pub table: RawTable,
    pub state_bytes: u64,
    pub on_arrival: Option<OnPacket>,
    pub on_departure: Option<OnPacket>,
    pub on_tick: Option<OnTick>,
}

/// `millpond_receiver`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawReceiver {
    pub table: RawTable,
    pub state_bytes: u64,
    pub on_data: Option<OnData>,
}

/// `millpond_law`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in the header")]
pub struct RawLaw {
    pub table: RawTable,
    pub sender: *const RawSender,
    pub link: *const RawLink,
    pub receiver: *const RawReceiver,
    pub error_text: Option<unsafe extern "C" fn(i32) -> *const c_char>,
}

impl Default for RawHeader {
    fn default() -> Self {
        Self { length: 0, bytes: [0; HEADER_BYTES] }
    }
}

impl RawHeader {
    /// A header if it is one of `header_id`, else none.
    #[inline]
    pub(crate) fn of(header: &Header, header_id: HeaderId) -> Self {
        let mut raw = Self::default();
        if header_id != HeaderId::NONE
            && let Some(bytes) = header.of(header_id)
        {
            raw.length = bytes.len() as u64;
            raw.bytes[..bytes.len()].copy_from_slice(bytes);
        }
        raw
    }

    /// The bytes, or none if the length is not that of a header.
    pub(crate) fn written(&self) -> Option<&[u8]> {
        self.bytes.get(..self.length as usize).filter(|bytes| bytes.len() <= HEADER_BYTES)
    }
}

impl From<&Start> for RawStart {
    fn from(start: &Start) -> Self {
        Self {
            packet_bytes: start.packet.get(),
            capacity_bps: start.capacity.map_or(f64::NAN, |rate| rate.as_f64()),
            weight: start.weight,
        }
    }
}

impl RawAck {
    #[inline]
    pub(crate) fn of(ack: &Ack, header_id: HeaderId) -> Self {
        Self {
            bytes: ack.bytes.get(),
            packets: ack.packets,
            rtt_s: ack.rtt.map_or(f64::NAN, |rtt| rtt.secs()),
            min_rtt_s: ack.min_rtt.secs(),
            smoothed_rtt_s: ack.smoothed_rtt.secs(),
            in_flight_bytes: ack.in_flight.get(),
            prior_in_flight_bytes: ack.prior_in_flight.get(),
            ce_packets: ack.ce_packets,
            ce_bytes: ack.ce_bytes.get(),
            delivered_bytes: ack.delivered.get(),
            prior_delivered_bytes: ack.prior_delivered.get(),
            delivery_rate_bps: ack.delivery_rate().map_or(f64::NAN, |rate| rate.as_f64()),
            round: ack.round,
            newly_lost_bytes: ack.newly_lost.get(),
            lost_bytes: ack.lost.get(),
            app_limited: u64::from(ack.app_limited),
            limited_by: match ack.limited_by {
                LimitedBy::Window => 0,
                LimitedBy::Pace => 1,
                LimitedBy::Data => 2,
                LimitedBy::Credit => 3,
                LimitedBy::NoFeedback => 4,
            },
            window_unused: u64::from(ack.window_unused()),
            header: RawHeader::of(&ack.header, header_id),
        }
    }
}

impl From<&Congestion> for RawCongestion {
    fn from(congestion: &Congestion) -> Self {
        Self {
            cause: match congestion.cause {
                Cause::Loss => 0,
                Cause::Timeout => 1,
                Cause::Ecn => 2,
                Cause::NoFeedback => 3,
            },
            is_new_episode: u64::from(congestion.episode == Episode::New),
            bytes: congestion.bytes.get(),
            in_flight_bytes: congestion.in_flight.get(),
            prior_in_flight_bytes: congestion.prior_in_flight.get(),
        }
    }
}

impl From<&QueueView> for RawQueue {
    fn from(queue: &QueueView) -> Self {
        Self {
            capacity_bps: queue.configured_capacity.as_f64(),
            bytes: queue.bytes.get(),
            packets: queue.packets,
            head_sojourn_s: queue.head_sojourn.secs(),
        }
    }
}

/// The number of the ECN bits in the header file.
pub(crate) fn ecn_number(ecn: Ecn) -> u64 {
    match ecn {
        Ecn::NotCapable => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}
