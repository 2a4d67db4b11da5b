//! Vegas' sender (section III, JSAC 1995).

use super::params::Params;
use crate::parts::window::Window;
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Start};
use millpond_units::{Bytes, Span};

/// Smallest window, in packets.
pub(super) const LEAST_PACKETS: f64 = 2.0;

/// Section III-C: `Diff = (Expected - Actual) BaseRTT = w (1 - BaseRTT / RTT)`: the number of the window's packets in
/// queues.
fn waiting(window: f64, base_rtt: Span, rtt: Span) -> f64 {
    window * (1.0 - base_rtt.secs() / rtt.secs())
}

/// Section III-C: change of the window, in packets per round trip.
pub(super) fn linear_change(params: &Params, waiting: f64) -> f64 {
    if waiting < params.alpha {
        1.0
    } else if waiting > params.beta {
        -1.0
    } else {
        0.0
    }
}

/// The Vegas sender's state.
pub(super) struct VegasSender {
    params: Params,
    window: Window,
    round: u64,
    /// Smallest round-trip time of this round so far.
    least_rtt: Option<Span>,
    /// Whether slow start grows the window in this round; it does in every second round.
    grows: bool,
    waiting: f64,
}

impl VegasSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            window: Window::new(Bytes::ZERO, params.initial_window),
            round: 0,
            least_rtt: None,
            grows: true,
            waiting: 0.0,
        }
    }

    /// Updates the window at the end of a round whose smallest round-trip time is `rtt`.
    fn end_round(&mut self, base_rtt: Span, rtt: Span, may_grow: bool) {
        let window = self.window.packets();
        self.waiting = waiting(window, base_rtt, rtt);
        if !self.window.in_slow_start() {
            let change = linear_change(&self.params, self.waiting);
            if may_grow || change < 0.0 {
                self.window.change_packets_by(change, LEAST_PACKETS);
                // A decrease must not re-enter slow start.
                self.window.end_slow_start();
            }
        } else if self.waiting > self.params.gamma {
            // Removes the queued packets except one.
            self.window.change_packets_by((1.0 - self.waiting).min(0.0), LEAST_PACKETS);
            self.window.end_slow_start();
        } else {
            self.grows = !self.grows;
        }
    }
}

impl Sender for VegasSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.window = Window::new(start.packet, self.params.initial_window);
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        let may_grow = self.window.may_grow(ack);
        if ack.round != self.round {
            self.round = ack.round;
            if let Some(rtt) = self.least_rtt.take()
                && !self.window.in_recovery()
            {
                self.end_round(ack.min_rtt, rtt.max(ack.min_rtt), may_grow);
            }
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if may_grow && self.grows && self.window.in_slow_start() {
            self.window.slow_start(ack.bytes);
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if matches!(congestion.cause, Cause::Timeout | Cause::Ecn) {
            return;
        }
        if congestion.episode == Episode::New && !self.window.in_recovery() {
            self.window.reduce(self.params.loss_reduction_factor);
        }
        if congestion.cause == Cause::NoFeedback {
            self.window.collapse();
            self.grows = true;
        }
    }

    fn permit(&self) -> Permit {
        Permit { window: Some(self.window.bytes()), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window.packets());
        gauge.quantity("waiting", "packets", self.waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SenderBench;
    use crate::vegas::Vegas;
    use millpond_law::Value;

    const BASE: Span = Span::from_millis(100);

    /// Bandwidth-delay product of the path, in packets.
    const PIPE: f64 = 100.0;

    fn bench(window: f64) -> SenderBench {
        SenderBench::new(&Vegas, &[("initial_window", Value::Number(window))], BASE)
    }

    /// One round of flows that share a path: all measure the queue that their windows cause.
    fn shared_round(flows: &mut [SenderBench]) {
        let total: f64 = flows.iter().map(SenderBench::window).sum();
        let rtt = BASE.scale((total / PIPE).max(1.0));
        for flow in flows {
            for _ in 0..flow.window() as u64 {
                let ack = Ack { rtt: Some(rtt), min_rtt: BASE, ..flow.plain() };
                flow.ack(&ack);
            }
            flow.next_round();
        }
    }

    #[test]
    fn the_queued_packets_are_the_window_times_the_queueing_share_of_the_rtt() {
        assert!((waiting(110.0, BASE, BASE.scale(1.1)) - 10.0).abs() < 1e-9);
        assert_eq!(waiting(110.0, BASE, BASE), 0.0);
    }

    #[test]
    fn slow_start_doubles_every_second_round_trip_and_ends_when_packets_queue() {
        let mut flows = [bench(4.0)];
        let mut windows = Vec::new();
        for _ in 0..9 {
            shared_round(&mut flows);
            windows.push(flows[0].window());
        }
        assert_eq!(windows, [8.0, 8.0, 16.0, 16.0, 32.0, 32.0, 64.0, 64.0, 128.0]);
        shared_round(&mut flows);
        shared_round(&mut flows);
        // 28 of 128 packets were queued; the window lost all of these except one.
        assert!((flows[0].window() - 101.0).abs() < 1.5, "{}", flows[0].window());
    }

    #[test]
    fn a_single_flow_settles_with_two_to_four_packets_in_the_queue() {
        for window in [50.0, 400.0] {
            let mut flows = [bench(window)];
            (0..700).for_each(|_| shared_round(&mut flows));
            let queue = flows[0].window() - PIPE;
            assert!((1.9..=4.1).contains(&queue), "from {window}: {queue}");
            let settled = flows[0].window();
            shared_round(&mut flows);
            assert_eq!(flows[0].window(), settled, "the window is constant");
        }
    }

    #[test]
    fn flows_with_the_correct_base_rtt_each_keep_two_to_four_packets_queued() {
        let mut flows = [bench(10.0), bench(60.0), bench(20.0)];
        (0..500).for_each(|_| shared_round(&mut flows));
        let total: f64 = flows.iter().map(SenderBench::window).sum();
        for flow in &flows {
            let own = waiting(flow.window(), BASE, BASE.scale(total / PIPE));
            assert!((1.8..=4.2).contains(&own), "{own}");
        }
        assert!((6.0..=12.0).contains(&(total - PIPE)), "{total}");
    }

    #[test]
    fn a_late_joiner_overestimates_its_base_rtt_and_gets_a_larger_share() {
        // Its estimate of the base RTT is 110 ms. At an RTT of 110 ms it computes no queued packets, the other flow a
        // tenth of its window.
        let mut late = bench(20.0);
        late.congestion(Cause::Loss, Episode::New);
        let before = late.window();
        for _ in 0..3 {
            for _ in 0..late.window() as u64 {
                let rtt = BASE.scale(1.1);
                let ack = Ack { rtt: Some(rtt), min_rtt: rtt, ..late.plain() };
                late.ack(&ack);
            }
            late.next_round();
        }
        assert_eq!(late.window(), before + 2.0);
    }

    #[test]
    fn a_loss_halves_the_window_and_persistent_congestion_restarts_slow_start() {
        let mut flow = bench(40.0);
        flow.congestion(Cause::Timeout, Episode::New);
        flow.congestion(Cause::Ecn, Episode::New);
        assert_eq!(flow.window(), 40.0);
        flow.congestion(Cause::Loss, Episode::New);
        flow.congestion(Cause::Loss, Episode::Same);
        assert_eq!(flow.window(), 20.0);
        flow.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(flow.window(), 2.0);
        flow.full_round();
        assert_eq!(flow.window(), 4.0);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut flow = bench(10.0);
        flow.congestion(Cause::Loss, Episode::New);
        for _ in 0..5 {
            flow.ack_with_unused_window();
            flow.next_round();
        }
        assert_eq!(flow.window(), 5.0);
    }
}
