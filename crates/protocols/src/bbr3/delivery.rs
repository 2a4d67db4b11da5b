//! What acknowledgements say about the delivery: samples, round trips, the latest round with loss, aggregation.

use crate::parts::windowed_max::WindowedMax;
use millpond_law::Ack;
use millpond_units::{Span, Time};

/// The sample of one acknowledgement (RS, section 2.3). Bytes are counted on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    /// RS.delivery_rate, in bytes/s; zero if there is no valid sample.
    pub(super) rate: f64,
    /// RS.delivered, in bytes.
    pub(super) delivered: f64,
    /// RS.newly_acked, in bytes.
    pub(super) newly_acked: f64,
    /// RS.tx_in_flight, in bytes.
    pub(super) in_flight_at_send: f64,
    /// RS.lost, in bytes.
    pub(super) lost: f64,
    /// RS.prior_delivered, in bytes.
    pub(super) prior_delivered: f64,
    /// C.delivered, in bytes.
    pub(super) total_delivered: f64,
    /// C.inflight, in bytes.
    pub(super) in_flight: f64,
    /// RS.is_app_limited.
    pub(super) app_limited: bool,
    /// RS.rtt.
    pub(super) rtt: Option<Span>,
}

impl RateSample {
    /// The sample of `ack`; `ignored`: it stems from a time at which the sender itself sent less than it could.
    pub(super) fn new(ack: &Ack, ignored: bool) -> Self {
        Self {
            rate: ack.delivery_rate().map_or(0.0, |rate| rate.bytes_per_sec()),
            delivered: ack.delivered.saturating_sub(ack.prior_delivered).as_f64(),
            newly_acked: ack.bytes.as_f64(),
            in_flight_at_send: ack.in_flight_at_send.as_f64(),
            lost: ack.lost.saturating_sub(ack.prior_lost).as_f64(),
            prior_delivered: ack.prior_delivered.as_f64(),
            total_delivered: ack.delivered.as_f64(),
            in_flight: ack.in_flight.as_f64(),
            app_limited: ack.app_limited || ignored,
            rtt: ack.rtt,
        }
    }
}

/// Round trips, which some phases restart (section 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundCounter {
    /// The round trip ends with a packet that was sent after this many bytes had been delivered.
    ends_after: f64,
    /// BBR.round_count.
    pub(super) count: u64,
    /// BBR.round_start: the last acknowledgement ended a round trip.
    pub(super) started: bool,
}

impl RoundCounter {
    /// UpdateRound().
    pub(super) fn update(&mut self, sample: &RateSample) {
        self.started = sample.prior_delivered >= self.ends_after;
        if self.started {
            self.begin(sample.total_delivered);
            self.count += 1;
        }
    }

    /// StartRound(), with this many bytes delivered so far.
    pub(super) fn begin(&mut self, delivered: f64) {
        self.ends_after = delivered;
    }
}

/// The largest delivery of the current round trip, and whether a packet was lost in it (sections 2.10 and 5.5.10.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LatestDelivery {
    /// BBR.bw_latest, in bytes/s.
    pub(super) rate: f64,
    /// BBR.inflight_latest, in bytes.
    pub(super) volume: f64,
    /// BBR.is_loss_in_round.
    pub(super) has_loss: bool,
    /// Acknowledgements, or expired timers, that reported new losses in the round trip.
    pub(super) losses: u64,
    /// BBR.loss_round_start: the last acknowledgement ended the round trip.
    pub(super) round_ended: bool,
    ends_after: f64,
}

impl LatestDelivery {
    /// UpdateLatestDeliverySignals().
    pub(super) fn update(&mut self, sample: &RateSample) {
        self.rate = self.rate.max(sample.rate);
        self.volume = self.volume.max(sample.delivered);
        self.round_ended = sample.prior_delivered >= self.ends_after;
        if self.round_ended {
            self.ends_after = sample.total_delivered;
        }
    }

    /// AdvanceLatestDeliverySignals().
    pub(super) fn advance(&mut self, sample: &RateSample) {
        if self.round_ended {
            (self.rate, self.volume) = (sample.rate, sample.delivered);
        }
    }

    /// NoteLoss(), after `delivered` bytes. Returns true for the first loss of a round trip.
    pub(super) fn on_loss(&mut self, delivered: f64) -> bool {
        let first = !self.has_loss;
        if first {
            self.ends_after = delivered;
        }
        self.has_loss = true;
        first
    }

    /// ResetCongestionSignals().
    pub(super) fn reset(&mut self) {
        (self.rate, self.volume, self.has_loss) = (0.0, 0.0, false);
    }
}

/// Data acknowledged beyond what the bandwidth explains: links and hosts that deliver in bursts (section 5.5.9).
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    since: Time,
    delivered: f64,
    extra: WindowedMax,
}

impl Aggregation {
    /// Restarts the interval of the estimate.
    pub(super) fn restart(&mut self, now: Time) {
        self.since = now;
    }

    /// UpdateACKAggregation(), for a bandwidth in bytes/s, over `window` round trips.
    pub(super) fn update(&mut self, now: Time, bw: f64, acked: f64, most: f64, round: u64, window: u64) {
        let mut expected = bw * now.since(self.since).secs();
        if self.delivered <= expected {
            (self.delivered, self.since, expected) = (0.0, now, 0.0);
        }
        self.delivered += acked;
        self.extra.record(round, (self.delivered - expected).min(most), window);
    }

    /// BBR.extra_acked, in bytes.
    pub(super) fn extra(&self) -> f64 {
        self.extra.get()
    }
}
