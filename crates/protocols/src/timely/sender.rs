//! TIMELY's sender (sections 4 and 5, SIGCOMM 2015).

use super::params::{Pacing, Params};
use super::rule::RuleForm;
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Permit, Sender, Start};
use millpond_units::{Bytes, Rate, Span, Time};

/// Factor of delta in hyperactive increase (section 4.4, SIGCOMM 2015).
const HYPERACTIVE: f64 = 5.0;

/// Rate in bit/s without a known interface.
const UNKNOWN_INTERFACE: f64 = 1e10;

/// The estimate of the gradient.
#[derive(Clone, Copy, Debug, Default)]
struct Gradient {
    /// Round-trip time of the last update.
    last_rtt: Option<Span>,
    /// Moving average of differences, in seconds.
    average: f64,
}

/// TIMELY's state.
pub(super) struct TimelySender {
    params: Params,
    packet: Bytes,
    /// In bit/s.
    rate: f64,
    most: f64,
    gradient: Gradient,
    /// Bytes acknowledged since the last completion event.
    acked: Bytes,
    updated: Option<Time>,
    /// Updates in sequence without a positive gradient.
    not_rising: u64,
    rtt: Span,
}

impl TimelySender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            packet: Bytes::ZERO,
            rate: params.min_rate.bps() as f64,
            most: UNKNOWN_INTERFACE,
            gradient: Gradient::default(),
            acked: Bytes::ZERO,
            updated: None,
            not_rising: 0,
            rtt: Span::ZERO,
        }
    }

    fn set_rate(&mut self, bps: f64) {
        let least = self.params.min_rate.bps() as f64;
        self.rate = bps.clamp(least, self.most.max(least));
    }

    /// Counts acknowledged bytes; whether they complete a segment.
    fn completes_segment(&mut self, acked: Bytes) -> bool {
        self.acked += acked;
        if self.acked < self.params.segment {
            return false;
        }
        self.acked = Bytes::ZERO;
        true
    }

    /// Algorithm 1: the normalized gradient; none at the first round-trip time.
    fn gradient(&mut self, rtt: Span) -> Option<f64> {
        let last = self.gradient.last_rtt.replace(rtt)?;
        let difference = rtt.secs() - last.secs();
        self.gradient.average = self.params.rule.average(self.gradient.average, difference);
        Some(self.gradient.average / self.params.rule.min_rtt)
    }

    /// Section 4.4: the increase is larger after a number of updates without a positive gradient.
    fn boost(&mut self, gradient: f64, rtt: Span) -> f64 {
        let rises = gradient > 0.0;
        self.not_rising = if rises { 0 } else { self.not_rising + 1 };
        let is_between = rtt.secs() >= self.params.rule.t_low;
        let is_hyperactive = self.params.rule.form == RuleForm::Published
            && is_between
            && self.not_rising >= self.params.rule.hai_threshold;
        if is_hyperactive { HYPERACTIVE } else { 1.0 }
    }

    /// The rate after a completion event with this round-trip time.
    fn update(&mut self, rtt: Span) {
        let Some(gradient) = self.gradient(rtt) else { return };
        let boost = self.boost(gradient, rtt);
        let change = self.params.rule.change(rtt.secs(), gradient);
        // A reduction is at most to nothing: gradients above 1 / beta occur when a queue builds up within a round trip.
        let kept = (1.0 - change.removed).max(0.0);
        self.set_rate(self.rate * kept + change.added * boost);
    }
}

impl Sender for TimelySender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet;
        self.most = start.interface.map_or(UNKNOWN_INTERFACE, |rate| rate.bps() as f64);
        self.set_rate(self.most * self.params.initial_share);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        let completes = self.completes_segment(ack.bytes);
        let Some(rtt) = ack.rtt.filter(|_| completes) else { return };
        if self.updated.is_some_and(|updated| cx.now.since(updated) < self.params.min_rtt) {
            return;
        }
        self.updated = Some(cx.now);
        self.rtt = rtt;
        self.update(rtt);
    }

    /// TIMELY is made for networks without loss, and reacts to persistent congestion only.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if congestion.cause == Cause::NoFeedback {
            self.set_rate(0.0);
        }
    }

    fn permit(&self) -> Permit {
        let pace = Rate::from_bps_f64(self.rate).max(Rate::from_bps(1));
        let quantum = (self.params.pacing == Pacing::Burst).then(|| self.params.segment.max(self.packet));
        Permit { pace: Some(pace), quantum, ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("rate", "bit/s", self.rate);
        gauge.quantity("gradient", "1", self.gradient.average / self.params.rule.min_rtt);
        gauge.quantity("rtt", "s", self.rtt.secs());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Timely;
    use super::*;
    use crate::testing::SenderBench;
    use millpond_law::{Episode, Protocol, Settings, Value};

    const RTT: Span = Span::from_micros(100);

    fn bench(protocol: &dyn Protocol) -> SenderBench {
        // 1 Gbit/s of the 10 Gbit/s that stand for an unknown interface.
        SenderBench::new(protocol, &[("initial_share", Value::Number(0.1))], RTT)
    }

    /// A completed segment after `gap` with this round-trip time.
    fn segment(bench: &mut SenderBench, gap: u64, rtt_us: u64) {
        bench.now += Span::from_micros(gap);
        for packet in 1..=16 {
            let rtt = (packet == 16).then_some(Span::from_micros(rtt_us));
            let ack = Ack { rtt, ..bench.plain() };
            bench.ack(&ack);
        }
    }

    fn mbps(bench: &SenderBench) -> f64 {
        bench.gauge("rate") / 1e6
    }

    #[test]
    fn the_gradient_is_the_average_difference_over_the_least_round_trip_time() {
        let mut bench = bench(&Timely::PUBLISHED);
        segment(&mut bench, 0, 100);
        assert_eq!(mbps(&bench), 1000.0, "one round-trip time has no gradient");
        segment(&mut bench, 50, 104);
        // 0.875 * 4 / 20 = 0.175: the rate falls by 14 %.
        assert!((bench.gauge("gradient") - 0.175).abs() < 1e-9);
        assert!((mbps(&bench) - 860.0).abs() < 1e-6, "{}", mbps(&bench));
        segment(&mut bench, 50, 104);
        // 0.125 * 0.175.
        assert!((bench.gauge("gradient") - 0.021_875).abs() < 1e-9);
    }

    #[test]
    fn updates_are_at_least_the_least_round_trip_time_apart() {
        let mut bench = bench(&Timely::PUBLISHED);
        for gap in [0, 19, 1, 19, 1] {
            segment(&mut bench, gap, 40);
        }
        // Two updates after the first, which has no gradient.
        assert_eq!(mbps(&bench), 1020.0);
    }

    #[test]
    fn the_fifth_update_in_sequence_without_a_positive_gradient_adds_five_times_as_much() {
        let mut published = bench(&Timely::PUBLISHED);
        let mut grown = Vec::new();
        segment(&mut published, 50, 100);
        for _ in 0..6 {
            let before = mbps(&published);
            segment(&mut published, 50, 100);
            grown.push((mbps(&published) - before).round());
        }
        assert_eq!(grown, [10.0, 10.0, 10.0, 10.0, 50.0, 50.0]);
        segment(&mut published, 50, 101);
        segment(&mut published, 50, 90);
        let before = mbps(&published);
        segment(&mut published, 50, 90);
        assert!((mbps(&published) - before - 10.0).abs() < 1e-6, "a positive gradient ends the sequence");
    }

    #[test]
    fn the_patched_form_settles_where_increase_and_decrease_balance() {
        // R = delta t_low / (beta (rtt - t_low)) = 10 / (0.008 * 0.5) = 2500 Mbit/s at 75 us.
        let mut bench = bench(&Timely::PATCHED);
        (0..10_000).for_each(|_| segment(&mut bench, 50, 75));
        assert!((mbps(&bench) / 2500.0 - 1.0).abs() < 1e-3, "{}", mbps(&bench));
    }

    #[test]
    fn a_burst_is_a_segment_and_persistent_congestion_leaves_the_least_rate() {
        let mut paced = bench(&Timely::PUBLISHED);
        assert_eq!(paced.law.permit().quantum, None);
        paced.congestion(Cause::Loss, Episode::New);
        assert_eq!(paced.law.permit().pace, Some(Rate::from_mbps(1000.0)));
        paced.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(paced.law.permit().pace, Some(Rate::from_mbps(1.0)));
        let settings =
            Settings::check(Timely::PUBLISHED.card().parameters, [("pacing", Value::text("burst"))]).unwrap();
        let burst = Timely::PUBLISHED.sender(&settings).unwrap().permit();
        assert_eq!(burst.quantum, Some(Bytes::new(16_000)));
    }
}
