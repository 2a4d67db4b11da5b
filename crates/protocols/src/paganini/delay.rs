//! The sender whose price is queueing delay (section VI).

use super::base_rtt::BaseRttEstimator;
use super::law::{Delays, next_window};
use super::params::{CONTROL, Control, DRAIN_EVERY, Params};
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Settings, Start};
use millpond_units::{Bytes, Rate, Span, Time};

/// Largest window, in packets; the smallest is one packet.
const MOST_PACKETS: f64 = 1e9;

/// Window during a drain, in packets.
const DRAIN_PACKETS: f64 = 4.0;

/// The sender's state.
pub(super) struct DelaySender {
    params: Params,
    control: Control,
    packet: Bytes,
    base_rtt: BaseRttEstimator,
    rtt: Option<Span>,
    /// Queueing delay an interval ago, in seconds; none after a drain.
    last_price: Option<f64>,
    /// Window of (43), in packets; under (41) the rate times the round-trip time of the last update.
    window: f64,
    /// Round-trip time of the last update; none at the start.
    last_rtt: Option<Span>,
    /// Rate of (41).
    pace: Option<Rate>,
    drains: bool,
    window_unused: bool,
    wake: Time,
}

impl DelaySender {
    pub(super) fn new(settings: &Settings) -> Self {
        let params = Params::read(settings);
        Self {
            params,
            control: settings.get(CONTROL),
            base_rtt: BaseRttEstimator::new(settings.get(DRAIN_EVERY)),
            window: params.initial_window,
            packet: Bytes::new(1),
            rtt: None,
            last_rtt: None,
            last_price: None,
            pace: None,
            drains: false,
            window_unused: false,
            wake: Time::ZERO,
        }
    }

    /// Queueing delay in seconds.
    fn price(&self) -> f64 {
        let (rtt, least) = (self.rtt.unwrap_or_default(), self.base_rtt.least().unwrap_or_default());
        rtt.saturating_sub(least).secs()
    }

    fn update(&mut self, rtt: Span) {
        let price = self.price();
        let last_price = self.last_price.replace(price).unwrap_or(price);
        let delays = Delays { price, last_price, rtt: rtt.secs() };
        let last_rtt = self.last_rtt.replace(rtt).unwrap_or(rtt);
        if self.control == Control::Rate {
            // The same rate at the new round-trip time, also where the base round-trip time is a new one.
            self.window = (self.window * rtt.secs() / last_rtt.secs()).min(MOST_PACKETS);
        }
        let next = next_window(&self.params, self.window, delays);
        if next < self.window || !self.window_unused {
            self.window = next.clamp(1.0, MOST_PACKETS);
        }
        if self.control == Control::Rate {
            let pace = Bytes::from_f64(self.window * self.packet.as_f64()).per(rtt);
            self.pace = Some(pace.max(Rate::from_bps(1)));
        }
    }
}

impl Sender for DelaySender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet.max(Bytes::new(1));
        self.params.utility.weight *= start.weight;
        self.wake = cx.now + self.params.interval;
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.window_unused = ack.window_unused();
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.rtt = Some(rtt);
            self.base_rtt.note(cx.now, rtt);
            self.drains = self.base_rtt.is_draining(cx.now);
        }
    }

    /// A loss episode multiplies the window by a factor, and persistent congestion returns to the initial state. The
    /// paper's buffers have no losses.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if congestion.cause == Cause::NoFeedback {
            (self.window, self.pace, self.last_rtt) = (self.params.initial_window, None, None);
        } else if congestion.cause == Cause::Loss && congestion.episode == Episode::New {
            self.window = (self.window * self.params.loss_reduction_factor).max(1.0);
        }
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.wake = cx.now + self.params.interval;
        match self.rtt {
            Some(_) if self.drains => self.last_price = None,
            Some(rtt) => self.update(rtt),
            None => {}
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        if let (Some(pace), false) = (self.pace, self.drains) {
            return Permit { pace: Some(pace), wake: Some(self.wake), ..Permit::default() };
        }
        let packets = if self.drains { self.window.min(DRAIN_PACKETS) } else { self.window };
        let window = Bytes::from_f64(packets * self.packet.as_f64());
        Permit { window: Some(window.max(self.packet)), wake: Some(self.wake), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window);
        gauge.quantity("price read", "s", self.price());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paganini::PaganiniDelay;
    use crate::testing::SenderBench;
    use millpond_law::Value;

    const BASE: Span = Span::from_millis(40);

    /// Acknowledgements with this round-trip time, one before each computation.
    fn settle(bench: &mut SenderBench, rtt: Span, intervals: u32) {
        for _ in 0..intervals {
            let ack = Ack { rtt: Some(rtt), ..bench.plain() };
            bench.ack(&ack);
            bench.wake();
        }
    }

    #[test]
    fn the_window_grows_by_beta_k_per_second_and_settles_with_k_queued_packets() {
        let mut bench = SenderBench::new(&PaganiniDelay, &[], BASE);
        settle(&mut bench, BASE, 100);
        assert!((bench.window() - 60.0).abs() < 0.1, "{}", bench.window());
        // x q = K: w = K tau / q.
        settle(&mut bench, BASE + Span::from_millis(25), 3000);
        let theory = 50.0 * 0.065 / 0.025;
        assert!((bench.window() / theory - 1.0).abs() < 0.001, "{} {theory}", bench.window());
    }

    #[test]
    fn a_step_of_the_delay_reduces_the_window_by_alpha_times_its_share_at_once() {
        let mut bench = SenderBench::new(&PaganiniDelay, &[("initial_window", Value::Number(100.0))], BASE);
        settle(&mut bench, BASE, 1);
        let before = bench.window();
        settle(&mut bench, BASE + Span::from_millis(10), 1);
        let slow = 1.18 * (50.0 / (before / 0.05) - 0.01) * 0.01;
        let theory = before * (1.0 + (slow - 0.37 * 0.01) / 0.05);
        assert!((bench.window() - theory).abs() < 1e-3, "{} {theory}", bench.window());
    }

    #[test]
    fn during_a_drain_four_packets_are_in_flight_and_the_window_is_constant() {
        let written = [("initial_window", Value::Number(100.0)), ("drain_every", Value::text("1s"))];
        let mut bench = SenderBench::new(&PaganiniDelay, &written, BASE);
        settle(&mut bench, BASE, 1);
        let queued = BASE + Span::from_millis(20);
        settle(&mut bench, queued, 101);
        let window = bench.gauge("window");
        assert_eq!(bench.window(), 4.0);
        settle(&mut bench, BASE, 20);
        assert_eq!((bench.window(), bench.gauge("window")), (4.0, window));
        settle(&mut bench, BASE, 10);
        assert!(bench.window() >= window.floor());
    }

    #[test]
    fn a_rate_follows_equation_41_and_does_not_limit_the_packets_in_flight() {
        let written = [("initial_window", Value::Number(100.0)), ("control", Value::text("rate"))];
        let mut bench = SenderBench::new(&PaganiniDelay, &written, BASE);
        settle(&mut bench, BASE, 1);
        let packets = |bench: &SenderBench| bench.law.permit().pace.unwrap().bytes_per_sec() / 1000.0;
        let before = packets(&bench);
        // x (1 + (beta T_s (K / x - q) - alpha dq) / tau): the rate itself, regardless of w / tau.
        settle(&mut bench, BASE + Span::from_millis(10), 1);
        let theory = before * (1.0 + (1.18 * 0.01 * (50.0 / before - 0.01) - 0.37 * 0.01) / 0.05);
        assert!((packets(&bench) - theory).abs() < 1e-3 * theory, "{} {theory}", packets(&bench));
        assert_eq!(bench.law.permit().window, None);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!((bench.law.permit().pace, bench.window()), (None, 100.0));
        // It starts again with its initial window at the round-trip time of its new samples.
        settle(&mut bench, BASE, 1);
        let theory = 100.0 / 0.04 + 1.18 * 50.0 * 0.01 / 0.04 + 100.0 / 0.04 * 0.37 * 0.01 / 0.04;
        assert!((packets(&bench) - theory).abs() < 1e-3 * theory, "{} {theory}", packets(&bench));
    }

    #[test]
    fn a_weight_multiplies_k_and_a_window_is_one_packet_at_least() {
        let start = Start { weight: 2.0, ..Start::plain(Bytes::new(1000)) };
        let mut bench = SenderBench::with_start(&PaganiniDelay, &[], BASE, &start);
        settle(&mut bench, BASE, 1);
        settle(&mut bench, BASE + Span::from_millis(25), 3000);
        let theory = 2.0 * 50.0 * 0.065 / 0.025;
        assert!((bench.window() / theory - 1.0).abs() < 0.001, "{} {theory}", bench.window());
        // With K = 1/2 at a queue of many base round-trip times K tau / q would be half a packet.
        let start = Start { weight: 0.01, ..start };
        let mut bench = SenderBench::with_start(&PaganiniDelay, &[], BASE, &start);
        settle(&mut bench, BASE, 1);
        settle(&mut bench, BASE * 1000, 3000);
        assert_eq!(bench.gauge("window"), 1.0);
    }

    /// With U = K log x and no price a rate grows by beta K T_s / tau per interval.
    #[test]
    fn a_rate_is_the_same_when_a_shorter_base_round_trip_time_is_found_or_a_drain_ends() {
        let written = [
            ("initial_window", Value::Number(100.0)),
            ("control", Value::text("rate")),
            ("drain_every", Value::text("1s")),
        ];
        let packets = |bench: &SenderBench| bench.law.permit().pace.map(|pace| pace.bytes_per_sec() / 1000.0);
        let near = |rate: f64, theory: f64| assert!((rate / theory - 1.0).abs() < 1e-4, "{rate} {theory}");
        let mut bench = SenderBench::new(&PaganiniDelay, &written, BASE);
        settle(&mut bench, BASE * 2, 1);
        let mut rate = packets(&bench).unwrap();
        for millis in [70, 60, 50, 40] {
            let rtt = Span::from_millis(millis);
            settle(&mut bench, rtt, 1);
            rate += 1.18 * 50.0 * 0.01 / rtt.secs();
            near(packets(&bench).unwrap(), rate);
        }
        let queued = BASE + Span::from_millis(20);
        settle(&mut bench, queued, 101);
        assert_eq!((packets(&bench), bench.window()), (None, 4.0));
        rate = bench.gauge("window") / queued.secs();
        while packets(&bench).is_none() {
            settle(&mut bench, BASE, 1);
        }
        near(packets(&bench).unwrap(), rate + 1.18 * 50.0 * 0.01 / BASE.secs());
    }

    #[test]
    fn a_loss_halves_the_window_persistent_congestion_restarts_and_an_unused_window_does_not_grow() {
        let mut bench = SenderBench::new(&PaganiniDelay, &[("initial_window", Value::Number(40.0))], BASE);
        bench.ack_with_unused_window();
        bench.wake();
        assert_eq!(bench.window(), 40.0);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        assert_eq!(bench.window(), 20.0);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 40.0);
    }
}
