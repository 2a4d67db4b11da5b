//! The JSON texts of a file: a header, then one for each event.

use serde::Serialize;

/// The first text of a file.
#[derive(Serialize)]
pub(crate) struct FileHeader<'a> {
    pub(crate) qlog_version: &'static str,
    pub(crate) qlog_format: &'static str,
    pub(crate) title: &'a str,
    pub(crate) trace: Trace<'a>,
}

/// What all events have in common.
#[derive(Serialize)]
pub(crate) struct Trace<'a> {
    pub(crate) title: &'a str,
    pub(crate) common_fields: CommonFields,
    pub(crate) vantage_point: VantagePoint<'a>,
}

/// Times are relative to the start of the run.
#[derive(Serialize)]
pub(crate) struct CommonFields {
    pub(crate) protocol_type: [&'static str; 1],
    pub(crate) time_format: &'static str,
    /// In milliseconds.
    pub(crate) reference_time: f64,
}

/// Who recorded the events.
#[derive(Serialize)]
pub(crate) struct VantagePoint<'a> {
    pub(crate) name: &'a str,
    pub(crate) r#type: &'static str,
}

/// An event.
#[derive(Serialize)]
pub(crate) struct Event<D> {
    /// In milliseconds.
    pub(crate) time: f64,
    pub(crate) name: &'static str,
    pub(crate) data: D,
}

/// `transport:packet_sent` and `transport:packet_received`.
#[derive(Serialize)]
pub(crate) struct Packet {
    pub(crate) header: PacketHeader,
    pub(crate) frames: [Frame; 1],
    pub(crate) raw: RawInfo,
}

#[derive(Serialize)]
pub(crate) struct PacketHeader {
    packet_type: &'static str,
    packet_number: u64,
}

impl PacketHeader {
    pub(crate) fn of(packet_number: u64) -> Self {
        Self { packet_type: "1RTT", packet_number }
    }
}

#[derive(Serialize)]
pub(crate) struct RawInfo {
    /// Size on the wire in bytes.
    pub(crate) length: u32,
}

#[derive(Serialize)]
#[serde(tag = "frame_type", rename_all = "lowercase")]
pub(crate) enum Frame {
    Stream {
        stream_id: u16,
        offset: u64,
        length: u32,
        #[serde(skip_serializing_if = "is_false")]
        fin: bool,
    },
    /// A packet without data.
    Ping,
    Ack {
        /// In milliseconds.
        ack_delay: f64,
        acked_ranges: Vec<[u64; 2]>,
        /// Number of packets with a CE mark since the loop began.
        ce: u64,
    },
}

/// `recovery:packet_lost`.
#[derive(Serialize)]
pub(crate) struct PacketLost {
    pub(crate) header: PacketHeader,
    pub(crate) trigger: &'static str,
}

/// `recovery:congestion_state_updated`.
#[derive(Serialize)]
pub(crate) struct CongestionState {
    pub(crate) new: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trigger: Option<&'static str>,
}

/// `recovery:loss_timer_updated`.
#[derive(Serialize)]
pub(crate) struct LossTimer {
    pub(crate) timer_type: &'static str,
    pub(crate) event_type: &'static str,
}

/// `recovery:metrics_updated`: those that have changed. Times in milliseconds, the pacing rate in bit/s.
#[derive(Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) smoothed_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) latest_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rtt_variance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) congestion_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes_in_flight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pacing_rate: Option<u64>,
}

impl Metrics {
    /// Those that differ from `before`.
    pub(crate) fn changed_since(self, before: Self) -> Self {
        Self {
            min_rtt: changed(self.min_rtt, before.min_rtt),
            smoothed_rtt: changed(self.smoothed_rtt, before.smoothed_rtt),
            latest_rtt: changed(self.latest_rtt, before.latest_rtt),
            rtt_variance: changed(self.rtt_variance, before.rtt_variance),
            congestion_window: changed(self.congestion_window, before.congestion_window),
            bytes_in_flight: changed(self.bytes_in_flight, before.bytes_in_flight),
            pacing_rate: changed(self.pacing_rate, before.pacing_rate),
        }
    }
}

fn changed<T: PartialEq>(now: Option<T>, before: Option<T>) -> Option<T> {
    now.filter(|now| Some(now) != before.as_ref())
}

fn is_false(value: &bool) -> bool {
    !value
}
