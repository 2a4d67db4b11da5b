//! Swift's sender: Algorithm 1, SIGCOMM 2020.

use super::params::Params;
use super::target::Target;
use crate::parts::window::initial_window_bytes;
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Start};
use millpond_units::{Bytes, Rate, Span, Time};

/// Swift's state.
pub(super) struct SwiftSender {
    params: Params,
    target: Target,
    packet: Bytes,
    /// In packets, possibly less than one.
    window: f64,
    /// Smoothed round-trip time.
    rtt: Option<Span>,
    /// Time of the last reduction.
    decreased: Option<Time>,
    /// Consecutive timeouts.
    timeouts: u64,
    delay: Span,
}

impl SwiftSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            target: Target::new(&params.target, 1),
            params,
            packet: Bytes::ZERO,
            window: params.min_cwnd,
            rtt: None,
            decreased: None,
            timeouts: 0,
            delay: Span::ZERO,
        }
    }

    /// The bounds of Algorithm 1.
    fn set_window(&mut self, packets: f64) {
        self.window = packets.clamp(self.params.min_cwnd, self.params.max_cwnd);
    }

    /// Additive increase: `ai` packets per round trip, or `ai` for each packet while the window is less than one packet.
    fn increase(&mut self, acked_packets: f64) {
        let growth = self.params.ai * acked_packets / self.window.max(1.0);
        self.set_window(self.window + growth);
    }

    /// Multiplicative decrease: reduces the window by this share, at most once per round-trip time.
    fn decrease(&mut self, now: Time, share: f64) {
        let too_early = self.decreased.zip(self.rtt).is_some_and(|(last, rtt)| now.since(last) < rtt);
        if !too_early {
            self.set_window(self.window * (1.0 - share.min(self.params.max_mdf)));
            self.decreased = Some(now);
        }
    }

    /// A retransmission timeout.
    fn on_timeout(&mut self, now: Time) {
        self.timeouts += 1;
        if self.timeouts >= self.params.retx_reset_threshold {
            self.set_window(0.0);
        } else {
            self.decrease(now, self.params.max_mdf);
        }
    }

    /// Below one packet, the packets leave `rtt / window` apart.
    fn pace(&self) -> Option<Rate> {
        let rtt = self.rtt.filter(|rtt| self.window < 1.0 && !rtt.is_zero())?;
        let rate = self.window * self.packet.bits() as f64 / rtt.secs();
        // An extreme round-trip time leaves at least the slowest pace that there is.
        Some(Rate::from_bps_f64(rate).max(Rate::from_bps(1)))
    }
}

impl Sender for SwiftSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet;
        self.target = Target::new(&self.params.target, start.hops);
        let packet = start.packet.as_f64().max(1.0);
        self.set_window(initial_window_bytes(packet, self.params.initial_window) / packet);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.timeouts = 0;
        self.rtt = Some(ack.smoothed_rtt);
        let Some(delay) = ack.rtt else { return };
        self.delay = delay;
        let (delay, target) = (delay.secs(), self.target.secs(self.window));
        if delay >= target {
            self.decrease(cx.now, self.params.beta * (delay - target) / delay);
        } else if !ack.window_unused() {
            self.increase(ack.packets as f64);
        }
    }

    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Timeout => self.on_timeout(cx.now),
            // Fast recovery.
            Cause::Loss if congestion.episode == Episode::New => self.decrease(cx.now, self.params.max_mdf),
            Cause::Loss | Cause::Ecn => {}
            Cause::NoFeedback => self.set_window(0.0),
        }
    }

    fn permit(&self) -> Permit {
        let window = Bytes::from_f64(self.window.max(1.0) * self.packet.as_f64());
        Permit { window: Some(window.max(self.packet)), pace: self.pace(), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window);
        gauge.quantity("target delay", "s", self.target.secs(self.window));
        gauge.quantity("delay", "s", self.delay.secs());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Swift;
    use super::*;
    use crate::testing::SenderBench;
    use millpond_law::Value;

    const RTT: Span = Span::from_micros(20);

    fn bench(window: f64) -> SenderBench {
        SenderBench::new(&Swift, &[("initial_window", Value::Number(window))], RTT)
    }

    fn window(bench: &SenderBench) -> f64 {
        bench.gauge("window")
    }

    /// Acknowledges one packet after `gap` with this round-trip time.
    fn ack(bench: &mut SenderBench, gap: Span, rtt: Span) {
        bench.now += gap;
        let ack = Ack { rtt: Some(rtt), smoothed_rtt: RTT, ..bench.plain() };
        bench.ack(&ack);
    }

    #[test]
    fn below_the_target_a_window_grows_by_one_packet_per_round_trip() {
        let mut bench = bench(100.0);
        (0..100).for_each(|_| ack(&mut bench, Span::ZERO, RTT));
        // sqrt(100^2 + 2 * 100) for one growth of 1 / W per packet.
        assert!((window(&bench) - 100.995).abs() < 1e-3, "{}", window(&bench));
        let before = window(&bench);
        bench.ack_with_unused_window();
        assert_eq!(window(&bench), before, "an unused window does not grow");
    }

    #[test]
    fn the_reduction_is_beta_times_the_relative_excess_once_per_round_trip() {
        // The target of 200 packets over one link is 20 + 3.053 us.
        let mut bench = bench(200.0);
        let delay = Span::from_picos(46_106_000);
        ack(&mut bench, Span::ZERO, delay);
        assert!((window(&bench) - 200.0 * (1.0 - 0.8 * 0.5)).abs() < 1e-6, "{}", window(&bench));
        let reduced = window(&bench);
        ack(&mut bench, RTT / 2, delay);
        assert_eq!(window(&bench), reduced);
        ack(&mut bench, RTT / 2, delay);
        assert!(window(&bench) < reduced);
    }

    #[test]
    fn a_great_excess_halves_the_window() {
        let mut bench = bench(200.0);
        ack(&mut bench, Span::ZERO, Span::from_micros(1000));
        assert_eq!(window(&bench), 100.0);
    }

    #[test]
    fn below_one_packet_the_packets_leave_a_round_trip_over_the_window_apart() {
        let mut bench = bench(1.0);
        for _ in 0..2 {
            ack(&mut bench, RTT, Span::from_micros(1000));
        }
        let permit = bench.law.permit();
        assert_eq!(window(&bench), 0.25);
        // A quarter of 1000 bytes in 20 us are 100 Mbit/s.
        assert_eq!((permit.window, permit.pace), (Some(Bytes::new(1000)), Some(Rate::from_mbps(100.0))));
        // Each packet adds `ai`, not `ai` over the window.
        ack(&mut bench, RTT, RTT);
        assert_eq!((window(&bench), bench.law.permit().pace), (1.25, None));
    }

    #[test]
    fn the_window_stays_between_its_bounds() {
        let mut bench = bench(1.0);
        (0..100).for_each(|_| ack(&mut bench, RTT, Span::from_micros(1000)));
        assert_eq!(window(&bench), 0.01);
        (0..20_000).for_each(|_| ack(&mut bench, RTT, Span::from_micros(1)));
        assert!(window(&bench) < 1e4);
    }

    #[test]
    fn losses_and_timeouts_halve_the_window_once_per_round_trip_and_the_fifth_timeout_resets_it() {
        let mut bench = bench(64.0);
        ack(&mut bench, RTT, RTT);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        bench.congestion(Cause::Timeout, Episode::New);
        assert!((window(&bench) - 32.0).abs() < 0.02, "{}", window(&bench));
        for _ in 0..3 {
            bench.now += RTT;
            bench.congestion(Cause::Timeout, Episode::New);
        }
        assert!((window(&bench) - 4.0).abs() < 0.02);
        bench.congestion(Cause::Timeout, Episode::New);
        assert_eq!(window(&bench), 0.01);
    }
}
