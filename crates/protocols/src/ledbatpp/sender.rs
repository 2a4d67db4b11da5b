//! LEDBAT++'s sender. Section numbers are those of the draft.

use super::delay::Delays;
use super::params::Params;
use crate::parts::window::Window;
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Start};
use millpond_units::{Bytes, Span, Time};

/// Least window, also that of a slowdown, in packets (section 4.4).
const LEAST_PACKETS: f64 = 2.0;

/// Factor by which a loss multiplies the window (RFC 6817, section 2.4.2).
const LOSS_FACTOR: f64 = 0.5;

/// Largest reduction per round trip, as a share of the window (section 4.3).
const MOST_DECREASE: f64 = 0.5;

/// Where the sender is between two slowdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before the first slowdown is scheduled.
    InitialSlowStart,
    /// Congestion avoidance, until the next slowdown if there is one.
    Avoidance { next: Option<Time> },
    /// A slowdown that began at this time: two packets until `until`, then slow start up to the former window.
    Slowdown { began: Time, until: Time },
}

/// LEDBAT++'s state.
pub(super) struct LedbatSender {
    params: Params,
    window: Window,
    delays: Delays,
    phase: Phase,
}

impl LedbatSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            window: Window::new(Bytes::ZERO, Some(params.initial_window)),
            delays: Delays::default(),
            phase: Phase::InitialSlowStart,
        }
    }

    /// Section 4.2: `GAIN = 1 / min(16, ceil(2 target / base delay))`.
    fn gain(&self) -> f64 {
        let base = self.delays.base().secs();
        let divisor = libm::ceil(2.0 * self.params.target.secs() / base);
        // Without a base delay the ratio is infinite.
        1.0 / divisor.min(self.params.gain_divisor).max(1.0)
    }

    /// Queueing delay over its target.
    fn excess(&self) -> f64 {
        self.delays.queueing().secs() / self.params.target.secs()
    }

    /// Sections 4.3: change of the window in packets per round trip.
    fn change_per_round(&self) -> f64 {
        let (gain, window, excess) = (self.gain(), self.window.packets(), self.excess());
        if excess <= 1.0 {
            return gain;
        }
        (gain - self.params.decrease * window * (excess - 1.0)).max(-MOST_DECREASE * window)
    }

    fn avoid_congestion(&mut self, acked: Bytes, may_grow: bool) {
        let share = (self.window.in_packets(acked) / self.window.packets()).min(1.0);
        let change = self.change_per_round() * share;
        if change < 0.0 || may_grow {
            self.window.change_packets_by(change, LEAST_PACKETS);
        }
    }

    /// Section 4.1: slow start with the growth of `GAIN`.
    fn slow_start(&mut self, acked: Bytes) {
        let grown = self.window.packets() + self.window.in_packets(acked) * self.gain();
        if self.window.threshold().is_some_and(|threshold| grown >= threshold) {
            self.window.slow_start(self.window.of_packets(grown));
            self.window.end_slow_start();
        } else {
            self.window.grow_to_packets(grown);
        }
    }

    /// Section 4.4: when the next slowdown begins.
    fn schedule(&mut self, after: Span, now: Time) {
        self.window.end_slow_start();
        let next = (self.params.slowdown_interval > 0.0).then_some(now + after);
        self.phase = Phase::Avoidance { next };
    }

    /// The initial slow start is over: the first slowdown begins two round trips later.
    fn end_initial_slow_start(&mut self, now: Time, rtt: Span) {
        self.schedule(rtt * self.params.slowdown_rounds, now);
    }

    /// The window of the time before the slowdown is reached, or a loss came first.
    fn end_slowdown(&mut self, now: Time, began: Time) {
        self.schedule(now.since(began).scale(self.params.slowdown_interval), now);
    }

    /// Section 4.4: the window becomes the slow-start threshold, and two packets are left.
    fn begin_slowdown(&mut self, now: Time, rtt: Span) {
        self.window.reduce_without_recovery(1.0);
        self.window.shrink_to_packets(LEAST_PACKETS);
        self.phase = Phase::Slowdown { began: now, until: now + rtt * self.params.slowdown_rounds };
    }

    fn advance(&mut self, now: Time, ack: &Ack, may_grow: bool) {
        match self.phase {
            Phase::InitialSlowStart if self.excess() > self.params.slow_start_exit => {
                self.end_initial_slow_start(now, ack.smoothed_rtt);
            }
            Phase::InitialSlowStart if may_grow => {
                self.slow_start(ack.bytes);
                // After persistent congestion there is a threshold.
                if !self.window.in_slow_start() {
                    self.end_initial_slow_start(now, ack.smoothed_rtt);
                }
            }
            Phase::InitialSlowStart => {}
            Phase::Avoidance { next: Some(next) } if next <= now => {
                self.begin_slowdown(now, ack.smoothed_rtt)
            }
            Phase::Avoidance { .. } => self.avoid_congestion(ack.bytes, may_grow),
            Phase::Slowdown { until, .. } if now < until => {}
            Phase::Slowdown { began, .. } => {
                if may_grow {
                    self.slow_start(ack.bytes);
                }
                if !self.window.in_slow_start() {
                    self.end_slowdown(now, began);
                }
            }
        }
    }

    /// A loss ends slow start and slowdown.
    fn end_phase(&mut self, now: Time) {
        match self.phase {
            Phase::InitialSlowStart => {
                let rtt = self.delays.base() + self.delays.queueing();
                self.end_initial_slow_start(now, rtt);
            }
            Phase::Slowdown { began, .. } => self.end_slowdown(now, began),
            Phase::Avoidance { .. } => {}
        }
    }
}

impl Sender for LedbatSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.window = Window::new(start.packet, Some(self.params.initial_window));
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.delays.record(cx.now, rtt);
        }
        let may_grow = self.window.may_grow(ack);
        self.advance(cx.now, ack, may_grow);
    }

    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion) {
        if matches!(congestion.cause, Cause::Timeout | Cause::Ecn) {
            return;
        }
        if congestion.episode == Episode::New && !self.window.in_recovery() {
            self.window.reduce(LOSS_FACTOR);
            self.end_phase(cx.now);
        }
        if congestion.cause == Cause::NoFeedback {
            self.window.collapse();
            self.phase = Phase::InitialSlowStart;
        }
    }

    fn permit(&self) -> Permit {
        Permit { window: Some(self.window.bytes()), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window.packets());
        gauge.quantity("estimated queueing delay", "s", self.delays.queueing().secs());
        gauge.quantity("estimated base delay", "s", self.delays.base().secs());
        gauge.quantity("slowdown", "1", f64::from(matches!(self.phase, Phase::Slowdown { .. })));
    }
}

#[cfg(test)]
mod tests {
    use super::super::LedbatPlusPlus;
    use super::*;
    use crate::testing::SenderBench;
    use millpond_law::Value;

    fn bench(window: f64, rtt_ms: u64) -> SenderBench {
        let written = [("initial_window", Value::Number(window)), ("slowdown_interval", Value::Number(0.0))];
        SenderBench::new(&LedbatPlusPlus, &written, Span::from_millis(rtt_ms))
    }

    /// Acknowledges a window within a round trip of this length in milliseconds.
    fn round(bench: &mut SenderBench, rtt_ms: u64) {
        let rtt = Span::from_millis(rtt_ms);
        let packets = bench.window() as u64;
        for _ in 0..packets {
            bench.now += rtt / packets;
            let ack = Ack { rtt: Some(rtt), smoothed_rtt: rtt, ..bench.plain() };
            bench.ack(&ack);
        }
        bench.next_round();
    }

    #[test]
    fn the_growth_depends_on_the_base_delay() {
        // 1 / min(16, ceil(120 ms / base delay)), section 4.2: slow start multiplies the window by one more than that per round trip.
        for (rtt, divisor) in [(1, 16.0), (10, 12.0), (50, 3.0), (60, 2.0), (120, 1.0), (500, 1.0)] {
            let mut bench = bench(1000.0, rtt);
            round(&mut bench, rtt);
            assert!(
                (bench.window() - 1000.0 * (1.0 + 1.0 / divisor)).abs() < 0.1,
                "{rtt}: {}",
                bench.window()
            );
        }
    }

    #[test]
    fn the_initial_slow_start_ends_at_three_quarters_of_the_target() {
        let mut bench = bench(100.0, 120);
        round(&mut bench, 120);
        assert_eq!(bench.window(), 200.0);
        round(&mut bench, 165);
        let still = bench.window();
        assert!(still > 390.0, "45 ms are not above: {still}");
        // The least of four samples counts: three packets more in slow start, and then one packet per round trip.
        round(&mut bench, 166);
        assert!((3.0..=4.1).contains(&(bench.window() - still)), "{}", bench.window() - still);
    }

    #[test]
    fn above_the_target_the_window_shrinks_by_its_relative_excess_at_most_by_half() {
        let mut avoiding = bench(100.0, 120);
        avoiding.congestion(Cause::Loss, Episode::New);
        round(&mut avoiding, 120);
        let before = avoiding.window();
        // Ten packets pass until the least of four samples is 66 ms: 10 % above the target. dW = 1 - W / 10 per round trip.
        (0..4).for_each(|_| {
            let rtt = Span::from_millis(186);
            let ack = Ack { rtt: Some(rtt), ..avoiding.plain() };
            avoiding.ack(&ack);
        });
        let start = avoiding.window();
        assert!((start - before).abs() < 0.2);
        round(&mut avoiding, 186);
        // W' = 1 - W / 10 over one round trip, of which each acknowledgement covers 1 / W.
        let theory = 10.0 + (start - 10.0) * libm::exp(-0.1);
        assert!((avoiding.window() - theory).abs() < 0.3, "{} {theory}", avoiding.window());
        let start = avoiding.window();
        (0..5).for_each(|_| {
            let ack = Ack { rtt: Some(Span::from_millis(500)), ..avoiding.plain() };
            avoiding.ack(&ack);
        });
        // Of the last two, each takes half of a packet.
        assert!((start - avoiding.window() - 1.0).abs() < 0.4, "{}", start - avoiding.window());
    }

    #[test]
    fn a_slowdown_leaves_two_packets_for_two_round_trips_and_the_next_one_comes_nine_times_its_duration_later()
     {
        let window = ("initial_window", Value::Number(64.0));
        let mut bench = SenderBench::new(&LedbatPlusPlus, &[window], Span::from_millis(120));
        bench.congestion(Cause::Loss, Episode::New);
        let mut windows = Vec::new();
        let mut slowdowns = Vec::new();
        for n in 0..200 {
            round(&mut bench, 120);
            windows.push(bench.window());
            if windows.len() > 1 && windows[n] < 3.0 && windows[n - 1] > 3.0 {
                slowdowns.push(n);
            }
        }
        let [first, second] = slowdowns[..2] else { panic!("{slowdowns:?}") };
        // Two round trips with two packets, then doublings to the window of before.
        let former = windows[first - 1];
        assert_eq!(windows[first..first + 2], [2.0, 2.0], "{windows:?}");
        let duration = (first..).find(|n| windows[*n] >= former - 1.0).unwrap() - first;
        assert!((6..=9).contains(&duration), "{duration}: {windows:?}");
        let interval = second - first - duration;
        assert!((8 * duration..=11 * duration).contains(&interval), "{interval} {duration}");
    }

    #[test]
    fn a_loss_halves_the_window_and_persistent_congestion_leaves_two_packets() {
        let mut bench = bench(40.0, 100);
        bench.congestion(Cause::Timeout, Episode::New);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        assert_eq!(bench.window(), 20.0);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
    }

    /// RFC 5681, section 3.1: above the threshold congestion avoidance follows.
    #[test]
    fn after_persistent_congestion_the_window_grows_beyond_the_threshold() {
        let mut bench = SenderBench::new(
            &LedbatPlusPlus,
            &[("initial_window", Value::Number(40.0)), ("slowdown_interval", Value::Number(0.0))],
            Span::from_millis(120),
        );
        bench.congestion(Cause::NoFeedback, Episode::New);
        (0..20).for_each(|_| round(&mut bench, 120));
        // Four round trips of slow start from 2 to the threshold of 20 packets, then a packet per round trip.
        assert!((bench.window() - 36.0).abs() < 1.5, "{}", bench.window());
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut bench = bench(10.0, 100);
        (0..5).for_each(|_| bench.ack_with_unused_window());
        assert_eq!(bench.window(), 10.0);
    }
}
