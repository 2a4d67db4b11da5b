//! Writes the events of one sender.

use crate::record::{
    CommonFields, CongestionState, Event, FileHeader, Frame, LossTimer, Metrics, Packet, PacketHeader,
    PacketLost, RawInfo, Trace, VantagePoint,
};
use millpond_endpoint::{Acknowledgement, LossThreshold, Segment, SenderObserver, SenderState};
use millpond_law::{Cause, Congestion, Episode};
use millpond_units::{Span, Time};
use serde::Serialize;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Precedes each JSON text (RFC 7464).
const RECORD_SEPARATOR: u8 = 0x1e;

/// The first error of the writers that share it. An observer has nobody to whom it could return one.
#[derive(Clone, Default)]
pub struct WriteFailure(Arc<Mutex<Option<io::Error>>>);

impl WriteFailure {
    /// The error, if there was one.
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: io::Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Writes the events of a sender to `W`. After an error it writes nothing more.
pub struct QlogWriter<W: Write> {
    to: Option<W>,
    failure: WriteFailure,
    metrics: Metrics,
    /// Acknowledgements have no number of their own: they are counted.
    acks: u64,
}

impl<W: Write> QlogWriter<W> {
    /// Begins a file. `title`: the run; `name`: the loop.
    pub fn new(to: W, title: &str, name: &str, failure: WriteFailure) -> Self {
        let mut writer = Self { to: Some(to), failure, metrics: Metrics::default(), acks: 0 };
        writer.write(&FileHeader {
            qlog_version: "0.3",
            qlog_format: "JSON-SEQ",
            title,
            trace: Trace {
                title: name,
                common_fields: CommonFields {
                    protocol_type: ["QUIC"],
                    time_format: "relative",
                    reference_time: 0.0,
                },
                vantage_point: VantagePoint { name, r#type: "client" },
            },
        });
        writer
    }

    fn write(&mut self, record: &impl Serialize) {
        let Some(to) = &mut self.to else { return };
        if let Err(error) = write_record(to, record) {
            self.failure.keep(error);
            self.to = None;
        }
    }

    fn event(&mut self, now: Time, name: &'static str, data: impl Serialize) {
        self.write(&Event { time: now.secs() * 1e3, name, data });
    }
}

impl<W: Write> Drop for QlogWriter<W> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.to.as_mut().map(Write::flush) {
            self.failure.keep(error);
        }
    }
}

fn write_record(to: &mut impl Write, record: &impl Serialize) -> io::Result<()> {
    to.write_all(&[RECORD_SEPARATOR])?;
    serde_json::to_writer(&mut *to, record)?;
    to.write_all(b"\n")
}

fn millis(span: Span) -> f64 {
    span.secs() * 1e3
}

impl<W: Write + Send> SenderObserver for QlogWriter<W> {
    fn on_sent(&mut self, now: Time, segment: &Segment) {
        let frame = match segment.payload {
            0 => Frame::Ping,
            length => Frame::Stream {
                stream_id: segment.stream_id,
                offset: segment.offset,
                length,
                fin: segment.last,
            },
        };
        let header = PacketHeader::of(segment.number);
        let raw = RawInfo { length: segment.bytes };
        self.event(now, "transport:packet_sent", Packet { header, frames: [frame], raw });
    }

    fn on_ack(&mut self, now: Time, ack: &Acknowledgement) {
        let acked_ranges = ack.ranges.iter().map(|range| [*range.start(), *range.end()]).collect();
        let frame = Frame::Ack { ack_delay: millis(ack.delay), acked_ranges, ce: ack.ce_packets.into() };
        let (header, raw) = (PacketHeader::of(self.acks), RawInfo { length: ack.bytes });
        self.acks += 1;
        self.event(now, "transport:packet_received", Packet { header, frames: [frame], raw });
    }

    fn on_lost(&mut self, now: Time, number: u64, threshold: LossThreshold) {
        let trigger = match threshold {
            LossThreshold::Packets => "reordering_threshold",
            LossThreshold::Time => "time_threshold",
        };
        self.event(now, "recovery:packet_lost", PacketLost { header: PacketHeader::of(number), trigger });
    }

    fn on_congestion(&mut self, now: Time, congestion: &Congestion) {
        let trigger = match congestion.cause {
            Cause::Timeout => {
                let timer = LossTimer { timer_type: "pto", event_type: "expired" };
                return self.event(now, "recovery:loss_timer_updated", timer);
            }
            Cause::Loss => None,
            Cause::Ecn => Some("ECN"),
            Cause::NoFeedback => Some("persistent_congestion"),
        };
        if congestion.episode == Episode::New {
            let state = CongestionState { new: "recovery", trigger };
            self.event(now, "recovery:congestion_state_updated", state);
        }
    }

    fn on_recovery_end(&mut self, now: Time) {
        let state = CongestionState { new: "congestion_avoidance", trigger: None };
        self.event(now, "recovery:congestion_state_updated", state);
    }

    fn on_state(&mut self, now: Time, state: &SenderState) {
        let rtt = |value: fn(&millpond_endpoint::RttState) -> Span| state.rtt.as_ref().map(value).map(millis);
        let metrics = Metrics {
            min_rtt: rtt(|rtt| rtt.min),
            smoothed_rtt: rtt(|rtt| rtt.smoothed),
            latest_rtt: rtt(|rtt| rtt.latest),
            rtt_variance: rtt(|rtt| rtt.variation),
            congestion_window: state.window.map(|window| window.get()),
            bytes_in_flight: Some(state.in_flight.get()),
            pacing_rate: state.pace.map(|pace| pace.as_f64() as u64),
        };
        let changed = metrics.changed_since(self.metrics);
        self.metrics = metrics;
        if changed != Metrics::default() {
            self.event(now, "recovery:metrics_updated", changed);
        }
    }
}
