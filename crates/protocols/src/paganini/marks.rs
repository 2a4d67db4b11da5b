//! The sender that estimates its price from marks (section V).

use super::law::{backoff, step};
use super::params::{
    ALL_MARKED, COUNTED_PACKETS, MOST_CHANGE, MOST_STEP, PHI, Params, ROUND_TRIP, RoundTrip, static_rate,
};
use super::price::MarkedPrice;
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Settings, Start};
use millpond_units::{Bytes, Rate, Time};

/// Largest window, in packets.
const MOST_PACKETS: f64 = 1e9;

/// Largest xi: its exponential is finite.
const MOST_XI: f64 = 700.0;

/// The sender's state.
pub(super) struct MarksSender {
    /// The rate of (18) at a price of zero; none under (33).
    static_rate: Option<Rate>,
    params: Params,
    most_step: f64,
    most_change: f64,
    price: MarkedPrice,
    packet: Bytes,
    /// The round-trip time that is tau: with queueing, or the fixed part d.
    round_trip: RoundTrip,
    /// tau in seconds; none before the first acknowledgement.
    tau: Option<f64>,
    /// xi: logarithm of the window in packets at a price of zero.
    xi: f64,
    /// (34), in packets.
    expected: f64,
    /// The permitted window, in packets.
    window: f64,
    window_unused: bool,
    wake: Time,
}

impl MarksSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let params = Params::read(settings);
        Self {
            static_rate: static_rate(settings),
            params,
            most_step: settings.get(MOST_STEP),
            most_change: settings.get(MOST_CHANGE),
            price: MarkedPrice::new(
                settings.get(PHI),
                settings.get(COUNTED_PACKETS),
                settings.get(ALL_MARKED),
            ),
            packet: Bytes::new(1),
            round_trip: settings.get(ROUND_TRIP),
            tau: None,
            xi: libm::log(params.initial_window),
            expected: params.initial_window,
            window: params.initial_window,
            window_unused: false,
            wake: Time::ZERO,
        }
    }

    /// Smallest window in packets: one, or the initial window if that is smaller.
    fn least(&self) -> f64 {
        self.params.initial_window.min(1.0)
    }

    /// Logarithm of the window at a price of zero, one interval later.
    fn window_without_price(&mut self, price: f64, tau: f64) -> f64 {
        match self.static_rate {
            Some(rate) => rate.bytes_per_sec() / self.packet.as_f64() * tau,
            None => {
                let step = step(&self.params, self.expected, price, tau).min(self.most_step);
                if step < 0.0 || !self.window_unused {
                    // The window of (34) is limited, and not the window without a price, which is larger by far where
                    // the price is many round-trip times.
                    let most = libm::log(MOST_PACKETS) + self.params.gains.alpha * price / tau;
                    self.xi = (self.xi + step).clamp(libm::log(self.least()), most.min(MOST_XI));
                }
                libm::exp(self.xi)
            }
        }
    }
}

impl Sender for MarksSender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet.max(Bytes::new(1));
        self.params.utility.weight *= start.weight;
        self.wake = cx.now + self.params.interval;
    }

    /// Moves the permitted window towards the computed one, within the limit on its change.
    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        let tau = match self.round_trip {
            RoundTrip::Current => ack.smoothed_rtt,
            RoundTrip::Least => ack.min_rtt,
        };
        self.tau = Some(tau.secs()).filter(|tau| *tau > 0.0);
        self.window_unused = ack.window_unused();
        self.price.note(ack.packets, ack.ce_packets);
        let most = self.most_change * ack.packets as f64;
        self.window += (self.expected - self.window).clamp(-most, most);
    }

    /// A loss episode multiplies the window by a factor, and persistent congestion returns to the initial state. The
    /// paper's links have no losses.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if congestion.cause == Cause::NoFeedback {
            let initial = self.params.initial_window;
            (self.xi, self.expected, self.window) = (libm::log(initial), initial, initial);
        } else if congestion.cause == Cause::Loss && congestion.episode == Episode::New {
            let factor = self.params.loss_reduction_factor;
            self.xi = (self.xi + libm::log(factor)).max(libm::log(self.least()));
            self.expected = (self.expected * factor).max(self.least());
            self.window = (self.window * factor).max(self.least());
        }
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.wake = cx.now + self.params.interval;
        if let Some(tau) = self.tau {
            let price = self.price.seconds();
            let most = self.window_without_price(price, tau);
            self.expected = (most * backoff(self.params.gains, price, tau)).clamp(self.least(), MOST_PACKETS);
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        let window = Bytes::from_f64(self.window * self.packet.as_f64());
        Permit { window: Some(window.max(self.packet)), wake: Some(self.wake), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window);
        gauge.quantity("price read", "s", self.price.seconds());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paganini::PaganiniMarks;
    use crate::testing::SenderBench;
    use millpond_law::Value;
    use millpond_units::Span;

    const RTT: Span = Span::from_millis(40);

    /// Five seconds of one acknowledgement per millisecond, with this number of marks in each 31 packets.
    fn settle(bench: &mut SenderBench, marked: u64) {
        for count in 0..5000 {
            let mark = u64::from(count % 31 < marked);
            let ack = Ack { ce_packets: mark, ..bench.plain() };
            bench.ack(&ack);
            if count % 10 == 9 {
                bench.wake();
            }
        }
    }

    /// `-log_phi(1 - P)` for this number of marks in 31 packets.
    fn price(marked: u64) -> f64 {
        -(1.0 - marked as f64 / 31.0).ln() / 1e6_f64.ln()
    }

    #[test]
    fn the_window_settles_where_its_rate_times_the_price_is_k() {
        // K / w = q / d.
        for marked in [5, 10, 24] {
            let mut bench = SenderBench::new(&PaganiniMarks, &[("beta", Value::Number(5.0))], RTT);
            settle(&mut bench, marked);
            let theory = 50.0 * 0.04 / price(marked);
            assert!((bench.window() / theory - 1.0).abs() < 0.01, "{} {theory}", bench.window());
        }
    }

    /// alpha q / d is 23, so that the window at a price of zero would be 10^11 packets.
    #[test]
    fn the_window_settles_there_too_if_the_price_is_many_round_trip_times() {
        let written = [
            ("phi", Value::Number(100.0)),
            ("utility_weight", Value::Number(500.0)),
            ("beta", Value::Number(0.2)),
        ];
        let mut bench = SenderBench::new(&PaganiniMarks, &written, Span::from_millis(10));
        (0..20).for_each(|_| settle(&mut bench, 29));
        let price = -(1.0 - 29.0 / 31.0_f64).ln() / 100_f64.ln();
        let theory = 500.0 * 0.01 / price;
        assert!((bench.window() / theory - 1.0).abs() < 0.01, "{} {theory}", bench.window());
    }

    #[test]
    fn only_with_the_current_round_trip_time_a_queue_does_not_reduce_the_rate() {
        for (reading, tau) in [("least", 0.04), ("current", 0.05)] {
            let written = [("beta", Value::Number(5.0)), ("round_trip", Value::text(reading))];
            let mut bench = SenderBench::new(&PaganiniMarks, &written, RTT);
            for count in 0..5000 {
                let (mark, queued) = (u64::from(count % 31 < 10), Span::from_millis(50));
                let ack = Ack { ce_packets: mark, smoothed_rtt: queued, min_rtt: RTT, ..bench.plain() };
                bench.ack(&ack);
                if count % 10 == 9 {
                    bench.wake();
                }
            }
            // K / w = q / tau.
            let theory = 50.0 * tau / price(10);
            assert!((bench.window() / theory - 1.0).abs() < 0.01, "{} {theory}", bench.window());
        }
    }

    #[test]
    fn a_weight_multiplies_k() {
        let start = Start { weight: 2.0, ..Start::plain(Bytes::new(1000)) };
        let written = [("beta", Value::Number(5.0))];
        let mut bench = SenderBench::with_start(&PaganiniMarks, &written, RTT, &start);
        settle(&mut bench, 24);
        let theory = 2.0 * 50.0 * 0.04 / price(24);
        assert!((bench.window() / theory - 1.0).abs() < 0.01, "{} {theory}", bench.window());
    }

    #[test]
    fn the_first_step_from_a_small_window_is_limited() {
        // T_s beta K / w is 14.75.
        let mut bench = SenderBench::new(&PaganiniMarks, &[("initial_window", Value::Number(0.04))], RTT);
        for _ in 0..2 {
            let ack = bench.plain();
            bench.ack(&ack);
            bench.wake();
        }
        let (window, theory) = (bench.gauge("window"), 0.04 * std::f64::consts::E);
        assert!((window / theory - 1.0).abs() < 1e-9, "{window} {theory}");
    }

    /// With K = 1 and all packets marked the window of (33) is K d / q = .13 packets.
    #[test]
    fn a_window_of_one_packet_grows_by_beta_k_per_second_as_soon_as_the_price_has_gone() {
        let mut bench = SenderBench::new(&PaganiniMarks, &[("utility_weight", Value::Number(1.0))], RTT);
        settle(&mut bench, 31);
        assert_eq!(bench.window(), 1.0);
        settle(&mut bench, 0);
        let theory = 1.0 + 1.18 * 5.0;
        assert!((bench.window() / theory - 1.0).abs() < 0.02, "{} {theory}", bench.window());
    }

    /// The window after an interval and five packets acknowledged.
    fn interval(bench: &mut SenderBench) -> f64 {
        bench.wake();
        for _ in 0..5 {
            let ack = bench.plain();
            bench.ack(&ack);
        }
        bench.window()
    }

    #[test]
    fn after_a_loss_or_a_restart_the_window_grows_from_where_it_is() {
        let mut bench = SenderBench::new(&PaganiniMarks, &[], RTT);
        settle(&mut bench, 0);
        bench.congestion(Cause::Loss, Episode::New);
        assert!((100.0..150.0).contains(&bench.window()), "half of 1 + 59 * 5: {}", bench.window());
        // beta K T_s packets, as without a price at any window.
        let before = interval(&mut bench);
        let growth = interval(&mut bench) - before;
        assert!((growth - 0.59).abs() < 0.01, "{growth}");
        bench.congestion(Cause::NoFeedback, Episode::New);
        let window = interval(&mut bench);
        assert!((window - libm::exp(0.59)).abs() < 0.01, "{window}");
    }

    #[test]
    fn with_the_shifted_logarithm_the_equilibrium_is_k_over_q_less_the_offset() {
        let written = [("utility", Value::text("shifted-log")), ("beta", Value::Number(5.0))];
        let mut bench = SenderBench::new(&PaganiniMarks, &written, RTT);
        settle(&mut bench, 10);
        let theory = (50.0 / price(10) - 100.0) * 0.04;
        assert!((bench.window() / theory - 1.0).abs() < 0.01, "{} {theory}", bench.window());
    }

    #[test]
    fn the_static_law_follows_only_the_price() {
        let written = [("law", Value::text("dual")), ("max_rate", Value::text("80Mbps"))];
        let mut bench = SenderBench::new(&PaganiniMarks, &written, RTT);
        for marked in [0, 5, 24] {
            settle(&mut bench, marked);
            // 80 Mbit/s are 400 packets in 40 ms.
            let theory = 400.0 * (-0.37 * price(marked) / 0.04).exp();
            // Within a byte.
            assert!((bench.window() - theory).abs() < 1e-3, "{} {theory}", bench.window());
        }
    }

    #[test]
    fn a_window_changes_by_a_packet_per_acknowledgement_at_most() {
        let written = [("law", Value::text("dual")), ("max_rate", Value::text("80Mbps"))];
        let mut bench = SenderBench::new(&PaganiniMarks, &written, RTT);
        let ack = bench.plain();
        bench.ack(&ack);
        bench.wake();
        for packets in 2..50 {
            let ack = bench.plain();
            bench.ack(&ack);
            assert_eq!(bench.window(), f64::from(packets));
        }
        // At the price of 31 marks the rate is 25 packets in 40 ms.
        bench.ack(&Ack { packets: 31, ce_packets: 31, ..bench.plain() });
        bench.wake();
        let before = bench.window();
        for packets in 1..20 {
            bench.ack(&Ack { ce_packets: 1, ..bench.plain() });
            assert_eq!(bench.window(), before - f64::from(packets));
        }
    }

    #[test]
    fn a_loss_halves_the_window_persistent_congestion_restarts_and_an_unused_window_does_not_grow() {
        let mut bench = SenderBench::new(&PaganiniMarks, &[("initial_window", Value::Number(40.0))], RTT);
        bench.ack_with_unused_window();
        bench.wake();
        bench.ack_with_unused_window();
        assert!((bench.window() - 40.0).abs() < 1e-3);
        bench.congestion(Cause::Ecn, Episode::New);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        assert!((bench.window() - 20.0).abs() < 1e-3);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 40.0);
    }
}
