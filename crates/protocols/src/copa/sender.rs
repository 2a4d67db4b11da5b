//! Copa's sender. Section numbers are those of the NSDI 2018 paper.

use super::delay::Delays;
use super::params::{Modes, Params};
use super::velocity::Velocity;
use crate::parts::window::{MOST, initial_window_bytes};
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Start};
use millpond_units::{Bytes, Rate, Time};

/// Least window in packets.
const LEAST_PACKETS: f64 = 2.0;

/// Pacing rate over window per standing round-trip time (section 2.1).
const PACE: f64 = 2.0;

/// Round trips without a nearly empty queue after which the sender competes (section 2.2).
const PATIENCE: u64 = 5;

/// Largest `1 / delta` in the competitive mode, in packets.
const MOST_INVERSE: f64 = 1e9;

/// Round trips over which losses are counted, the least number of packets in them, the share of losses above which the window is
/// reduced, and the factor: those of the authors' implementation.
const LOSS_ROUNDS: u64 = 2;
const LOSS_PACKETS: f64 = 20.0;
const MANY_LOSSES: f64 = 0.3;
const LOSS_FACTOR: f64 = 0.7;

/// What had been delivered and lost when the counting began.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    round: u64,
    delivered: Bytes,
    lost: Bytes,
}

/// Copa's state.
pub(super) struct CopaSender {
    params: Params,
    packet: f64,
    /// In packets.
    window: f64,
    /// The window of each round trip doubles until the target rate is reached.
    in_slow_start: bool,
    /// Whether a packet has been acknowledged.
    has_sample: bool,
    delays: Delays,
    velocity: Velocity,
    round: u64,
    /// The last time at which the queue was nearly empty.
    emptied: Time,
    /// `1 / delta` of the competitive mode; none in the default mode.
    competitive: Option<f64>,
    counted: Counted,
}

impl CopaSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            packet: 1.0,
            window: LEAST_PACKETS,
            in_slow_start: true,
            has_sample: false,
            delays: Delays::default(),
            velocity: Velocity::INITIAL,
            round: 0,
            emptied: Time::ZERO,
            competitive: None,
            counted: Counted::default(),
        }
    }

    /// `1 / delta` in packets.
    fn inverse_delta(&self) -> f64 {
        self.competitive.unwrap_or(1.0 / self.params.delta)
    }

    fn set_window(&mut self, packets: f64) {
        self.window = packets.clamp(LEAST_PACKETS, MOST / self.packet);
    }

    /// Whether the rate `W / RTTstanding` is at most the target rate `1 / (delta d_q)`.
    fn is_below_target(&self) -> bool {
        self.window * self.delays.queueing() <= self.inverse_delta() * self.delays.standing()
    }

    /// Section 2.2: competitive if the queue has not been nearly empty for five round trips.
    fn choose_mode(&mut self, now: Time, ack: &Ack) {
        if self.delays.nearly_empty() || self.in_slow_start {
            self.emptied = now;
        }
        let competes =
            self.params.modes == Modes::Both && now.since(self.emptied) > ack.smoothed_rtt * PATIENCE;
        match (competes, self.competitive) {
            (true, None) => self.competitive = Some(1.0 / self.params.delta),
            (false, Some(_)) => self.competitive = None,
            _ => {}
        }
    }

    /// Once per round trip: the velocity, and the additive increase of `1 / delta` in the competitive mode.
    fn end_round(&mut self) {
        // A velocity of `W delta` doubles the window within a round trip.
        self.velocity.end_round(self.window / self.inverse_delta());
        self.competitive = self.competitive.map(|inverse| (inverse + 1.0).min(MOST_INVERSE));
    }

    /// Reduces the window if a large share of the packets of two round trips was lost: what the target cannot see, because the
    /// queueing delay of a full buffer is constant.
    fn limit_losses(&mut self, ack: &Ack) {
        let Counted { round, delivered, lost } = self.counted;
        let lost = ack.lost.saturating_sub(lost).as_f64();
        let all = lost + ack.delivered.saturating_sub(delivered).as_f64();
        if ack.round < round.saturating_add(LOSS_ROUNDS) || all < LOSS_PACKETS * self.packet {
            return;
        }
        self.counted = Counted { round: ack.round, delivered: ack.delivered, lost: ack.lost };
        if lost > MANY_LOSSES * all {
            self.set_window(LOSS_FACTOR * self.window);
        }
    }

    /// Section 2.1: by `v / (delta W)` packets for each acknowledged one.
    fn step(&mut self, acked_packets: f64, may_grow: bool) {
        let is_below = self.is_below_target();
        if is_below && !may_grow {
            return;
        }
        if self.in_slow_start && is_below {
            self.set_window(self.window + acked_packets);
            return;
        }
        self.in_slow_start = false;
        self.velocity.count(is_below);
        let size = self.velocity.value() * self.inverse_delta() * acked_packets / self.window;
        self.set_window(if is_below { self.window + size } else { self.window - size });
    }
}

impl Sender for CopaSender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet.as_f64().clamp(1.0, MOST);
        self.set_window(initial_window_bytes(self.packet, self.params.initial_window) / self.packet);
        self.emptied = cx.now;
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.delays.record(cx.now, rtt, ack.smoothed_rtt, self.params.min_rtt_window);
            self.has_sample = true;
        }
        if !self.has_sample {
            return;
        }
        self.choose_mode(cx.now, ack);
        if ack.round != self.round {
            self.round = ack.round;
            self.end_round();
            self.limit_losses(ack);
        }
        self.step(ack.bytes.as_f64() / self.packet, !ack.window_unused());
    }

    /// Section 2.2: a loss halves `1 / delta` in the competitive mode, to no less than that of the default mode.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Timeout | Cause::Ecn => {}
            Cause::Loss if congestion.episode == Episode::New => {
                self.in_slow_start = false;
                let least = 1.0 / self.params.delta;
                self.competitive = self.competitive.map(|inverse| (inverse / 2.0).max(least));
            }
            Cause::Loss => {}
            Cause::NoFeedback => {
                self.set_window(LEAST_PACKETS);
                (self.in_slow_start, self.velocity, self.competitive) = (true, Velocity::INITIAL, None);
            }
        }
    }

    fn permit(&self) -> Permit {
        let bytes = self.window * self.packet;
        let rate = |standing: f64| Rate::from_bps_f64(PACE * 8.0 * bytes / standing.max(1e-9));
        let pace = self.has_sample.then(|| rate(self.delays.standing()).max(Rate::from_bps(1)));
        Permit { window: Some(Bytes::from_f64(bytes)), pace, ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window);
        gauge.quantity("velocity", "1", self.velocity.value());
        gauge.quantity("inverse delta", "packets", self.inverse_delta());
        gauge.quantity("standing queueing delay", "s", self.delays.queueing());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Copa;
    use super::*;
    use crate::testing::SenderBench;
    use millpond_law::Value;
    use millpond_units::Span;

    const RTT: Span = Span::from_millis(100);

    fn bench(window: f64, modes: &'static str) -> SenderBench {
        let written = [("initial_window", Value::Number(window)), ("modes", Value::text(modes))];
        SenderBench::new(&Copa, &written, RTT)
    }

    /// Acknowledges this number of packets over a round trip of 100 ms, all with this round-trip time.
    fn round(bench: &mut SenderBench, packets: u64, rtt_ms: u64) {
        bench.next_round();
        for _ in 0..packets {
            bench.now += RTT / packets;
            let ack = Ack { rtt: Some(Span::from_millis(rtt_ms)), smoothed_rtt: RTT, ..bench.plain() };
            bench.ack(&ack);
        }
    }

    #[test]
    fn slow_start_doubles_until_the_rate_exceeds_the_target() {
        let mut bench = bench(10.0, "default");
        round(&mut bench, 10, 100);
        round(&mut bench, 20, 100);
        assert_eq!(bench.window(), 40.0);
        // At 110 ms the target of two packets in the queue is 2 / 10 ms: a window of 22 packets per 110 ms. The old samples leave
        // the standing window after 50 ms: half of the round trip still grows by one packet per acknowledgement.
        round(&mut bench, 40, 110);
        assert!((58.0..62.0).contains(&bench.window()), "{}", bench.window());
        let before = bench.window();
        round(&mut bench, 60, 110);
        // 1 / delta = 2 packets per round trip.
        assert!((before - bench.window() - 2.0).abs() < 0.1, "{} {before}", bench.window());
    }

    #[test]
    fn the_window_moves_by_v_over_delta_packets_per_round_trip_towards_the_target() {
        let mut bench = bench(100.0, "default");
        round(&mut bench, 100, 100);
        bench.congestion(Cause::Loss, Episode::New);
        let mut steps = Vec::new();
        for _ in 0..6 {
            let before = bench.window();
            round(&mut bench, before as u64, 100);
            steps.push(bench.window() - before);
        }
        for (step, velocity) in steps.iter().zip([1.0, 1.0, 1.0, 2.0, 4.0, 8.0]) {
            assert!((step / (2.0 * velocity) - 1.0).abs() < 0.05, "{steps:?}");
        }
    }

    #[test]
    fn packets_are_paced_at_twice_the_window_per_standing_round_trip() {
        let mut bench = bench(10.0, "default");
        assert_eq!(bench.law.permit().pace, None);
        round(&mut bench, 10, 100);
        // 20 packets of 1000 bytes, twice per 100 ms.
        assert_eq!(bench.law.permit().pace, Some(Rate::from_mbps(3.2)));
    }

    #[test]
    fn a_queue_that_does_not_empty_for_five_round_trips_makes_the_sender_compete() {
        for (modes, competes) in [("both", true), ("default", false)] {
            let mut bench = bench(100.0, modes);
            round(&mut bench, 100, 100);
            bench.congestion(Cause::Loss, Episode::New);
            let mut inverse = Vec::new();
            for _ in 0..12 {
                round(&mut bench, 100, 180);
                inverse.push(bench.gauge("inverse delta"));
            }
            if !competes {
                assert!(inverse.iter().all(|inverse| *inverse == 2.0));
                continue;
            }
            assert_eq!(inverse[..4], [2.0; 4], "{inverse:?}");
            let risen = inverse[11];
            assert!((7.0..=10.0).contains(&risen), "one more per round trip: {inverse:?}");
            bench.congestion(Cause::Loss, Episode::New);
            assert_eq!(bench.gauge("inverse delta"), risen / 2.0);
            // The queue is empty again.
            round(&mut bench, 100, 100);
            assert_eq!(bench.gauge("inverse delta"), 2.0);
        }
    }

    #[test]
    fn more_than_three_losses_in_ten_packets_reduce_the_window() {
        for (lost, factor) in [(25, 1.0), (60, 0.7)] {
            let mut bench = bench(100.0, "default");
            round(&mut bench, 1, 100);
            bench.congestion(Cause::Loss, Episode::New);
            bench.next_round();
            bench.next_round();
            // A hundred delivered packets.
            let before = bench.window();
            let plain = bench.plain();
            let delivered = plain.delivered + Bytes::new(99_000);
            bench.ack(&Ack { delivered, lost: Bytes::new(1000 * lost), ..plain });
            assert!((bench.window() / before - factor).abs() < 0.01, "{lost}: {before} {}", bench.window());
        }
    }

    #[test]
    fn persistent_congestion_leaves_two_packets_and_unused_windows_do_not_grow() {
        let mut bench = bench(40.0, "both");
        bench.ack_with_unused_window();
        assert_eq!(bench.window(), 40.0);
        bench.congestion(Cause::Timeout, Episode::New);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
        round(&mut bench, 2, 100);
        assert_eq!(bench.window(), 4.0);
    }
}
