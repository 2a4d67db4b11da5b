//! The LGC sender.

use super::params::form;
use crate::parts::capacity_estimate::CapacityEstimate;
use crate::parts::logistic::LogisticForm;
use crate::parts::marking::MarkingEstimate;
use crate::parts::send_rate::SendRate;
use crate::parts::step_size::StepSize;
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Permit, Sender, Settings, Start};
use millpond_units::Bytes;

/// The LGC sender's state. Rates are in bit/s.
pub(super) struct LgcSender {
    form: LogisticForm,
    step_size: StepSize,
    packet: Bytes,
    /// Smallest capacity of the path at the start of the flow, times the flow's weight; none if not signalled.
    signalled_capacity: Option<f64>,
    estimate: CapacityEstimate,
    marking: MarkingEstimate,
    gamma: f64,
    target: f64,
    x: SendRate,
}

impl LgcSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let step_size = StepSize::read(settings);
        Self {
            form: form(settings),
            step_size,
            packet: Bytes::new(1),
            signalled_capacity: None,
            estimate: CapacityEstimate::read(settings),
            marking: MarkingEstimate::read(settings),
            gamma: step_size.initial(),
            target: 0.0,
            x: SendRate::read(settings),
        }
    }

    /// The capacity that normalizes rates, in bit/s; at least 1.
    fn capacity(&self) -> f64 {
        self.signalled_capacity.unwrap_or_else(|| self.estimate.get(self.x.floor())).max(1.0)
    }

    /// Eq. (5) or (7) at the end of an interval, with the adaptive step of LGCC section IX-A.
    fn renew_rate(&mut self) {
        let (k, marking, x) = (self.capacity(), self.marking.value(), self.x.get());
        self.target = self.form.target(k, marking);
        if self.step_size.is_near(x, self.target) {
            self.marking.end_start();
        }
        self.gamma = self.step_size.at(x, self.target);
        self.x.set(self.form.step(x, k, marking, self.gamma));
    }
}

impl Sender for LgcSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet;
        self.signalled_capacity = start.capacity.map(|rate| rate.as_f64() * start.weight);
        self.x.start(start.packet);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.x.set_base_rtt(ack.min_rtt);
        if self.signalled_capacity.is_none() {
            self.estimate.on_ack(ack);
        }
        if self.marking.on_ack(cx.now, ack) {
            self.renew_rate();
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Loss => self.marking.on_loss(congestion.bytes, self.packet),
            Cause::NoFeedback => self.x.restart(),
            Cause::Ecn | Cause::Timeout => {}
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.x.permit()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("rate", "bit/s", self.x.get());
        gauge.quantity("target rate", "bit/s", self.target);
        gauge.quantity("marking probability", "1", self.marking.value());
        gauge.quantity("step size", "1", self.gamma);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgc::Lgc;
    use crate::testing::{PACKET, SenderBench};
    use millpond_law::Value;
    use millpond_units::{Rate, Span};

    /// A sender on a path of 2 ms with a signalled capacity of 400 Mbit/s: 100 packets of 1000 B.
    fn bench(form: &'static str) -> SenderBench {
        let written = [("form", Value::text(form)), ("interval", Value::Count("acks".into(), 10.0))];
        SenderBench::with_capacity(&Lgc, &written, Span::from_millis(2), Some(Rate::from_mbps(400.0)))
    }

    /// Intervals in which `marked(i)` is whether the packet of acknowledgement `i` was marked.
    fn intervals(bench: &mut SenderBench, intervals: u64, marked: impl Fn(u64) -> u64) {
        for i in 0..intervals * 10 {
            let ack = Ack { ce_packets: marked(i), ..bench.plain() };
            bench.ack(&ack);
        }
    }

    /// The rate in packets per base RTT.
    fn packets(bench: &SenderBench) -> f64 {
        bench.gauge("rate") * 2e-3 / 8000.0
    }

    #[test]
    fn a_single_flow_grows_to_the_capacity_along_the_logistic_curve() {
        let mut bench = bench("plain");
        // The discrete logistic map from 10 of 100 packets with gamma .3.
        let mut expected = 10.0;
        for _ in 0..10 {
            expected += 0.3 * expected * (1.0 - expected / 100.0);
            intervals(&mut bench, 1, |_| 0);
            assert!((packets(&bench) - expected).abs() < 1e-9, "{} for {expected}", packets(&bench));
        }
        intervals(&mut bench, 500, |_| 0);
        assert_eq!(bench.window(), 100.0);
    }

    #[test]
    fn with_half_of_the_packets_marked_the_rate_is_half_of_the_capacity() {
        for (form, expected) in [
            ("plain", 50.0),
            // .5^(ln 10 / ln 5) = .3709
            ("deflated", 37.09),
        ] {
            let mut bench = bench(form);
            intervals(&mut bench, 800, |i| i % 2);
            assert!((packets(&bench) - expected).abs() < 0.02, "{form}: {}", packets(&bench));
            assert_eq!(bench.gauge("step size"), 0.05, "at equilibrium");
        }
    }

    /// The logistic curve from 10 of 100 packets with steps of .3 is within 5 % of 100 after
    /// `ln(9 / (1 / 19)) / -ln .7 = 14.4` to `/ .3 = 17.1` intervals.
    #[test]
    fn the_first_marks_are_averaged_until_the_rate_has_come_near_its_target() {
        for (unmarked, expected) in [(5, 0.5), (13, 0.5), (20, 0.05), (500, 0.05)] {
            let mut bench = bench("plain");
            intervals(&mut bench, unmarked, |_| 0);
            intervals(&mut bench, 1, |_| 1);
            assert_eq!(bench.gauge("marking probability"), expected, "after {unmarked} intervals");
        }
    }

    fn congestion(bench: &mut SenderBench, cause: Cause) {
        bench.congestion(cause, millpond_law::Episode::New);
    }

    #[test]
    fn a_lost_packet_counts_as_a_marked_one_and_silence_resets_the_rate() {
        let mut bench = bench("plain");
        intervals(&mut bench, 500, |_| 0);
        (0..5).for_each(|_| congestion(&mut bench, Cause::Loss));
        intervals(&mut bench, 1, |_| 0);
        // 5 of 15 packets, with a weight of a twentieth.
        assert!((bench.gauge("marking probability") - 0.05 / 3.0).abs() < 1e-12);
        congestion(&mut bench, Cause::NoFeedback);
        assert_eq!(bench.window(), 10.0);
    }

    #[test]
    fn a_weight_multiplies_the_signalled_capacity() {
        let settings = Settings::check(super::super::params::PARAMETERS, []).unwrap();
        let mut sender = LgcSender::new(&settings);
        let mut random = millpond_law::Random::stream(1, "sender");
        let mut cx = Context { now: millpond_units::Time::ZERO, random: &mut random };
        let plain = Start::plain(PACKET);
        sender.on_start(&mut cx, &Start { capacity: Some(Rate::from_mbps(400.0)), weight: 0.25, ..plain });
        assert_eq!(sender.capacity(), 100e6);
    }

    /// Without a signalled capacity it is twice the delivery rate, and the least rate: 10 packets in 2 ms.
    #[test]
    fn without_a_signalled_capacity_it_is_estimated_from_deliveries() {
        let rtt = Span::from_millis(2);
        let mut bench = SenderBench::new(&Lgc, &[("interval", Value::Count("acks".into(), 1.0))], rtt);
        for _ in 0..1000 {
            let ack = Ack { delivered: PACKET * 30, delivery_span: rtt, ..bench.plain() };
            bench.ack(&ack);
        }
        // 2 * 30 + 10 packets per round trip.
        assert!((packets(&bench) - 70.0).abs() < 0.01, "{}", packets(&bench));
    }

    #[test]
    fn the_window_is_at_least_ten_packets_for_any_marks() {
        let mut bench = bench("plain");
        intervals(&mut bench, 1000, |_| 1);
        assert_eq!(bench.window(), 10.0);
    }

    #[test]
    fn by_default_the_rate_is_updated_once_per_round() {
        let mut bench =
            SenderBench::with_capacity(&Lgc, &[], Span::from_millis(2), Some(Rate::from_mbps(400.0)));
        bench.round_of(5);
        assert_eq!(bench.window(), 10.0);
        bench.round_of(5);
        assert!((packets(&bench) - (10.0 + 0.3 * 10.0 * (1.0 - 0.1))).abs() < 1e-9);
        assert_eq!(bench.window(), 13.0, "12.7 packets, rounded up");
    }

    /// Eq. (5) and (6): the price first, then the rates with the new price. Five flows join at steps 0, 20, ... 80
    /// and leave from step 150 on, the first joiner first; new flows have the rate .01.
    #[test]
    fn five_flows_share_a_link_as_in_fig_4() {
        let mut rates: Vec<f64> = Vec::new();
        let mut price: f64 = 0.0;
        let mut stages = Vec::new();
        for n in 0..300 {
            if n % 20 == 0 && n <= 80 {
                rates.push(0.01);
            }
            if n >= 150 && (n - 150) % 20 == 0 && rates.len() > 1 {
                rates.remove(0);
            }
            price = (price + rates.iter().sum::<f64>() - 1.0).clamp(0.0, 1.0);
            for x in &mut rates {
                *x = LogisticForm::Plain.step(*x, 1.0, price, 1.0);
            }
            if [19, 39, 149, 169, 299].contains(&n) {
                stages.push((n, rates[0], price));
            }
        }
        // The equilibrium of S flows is x = 1/S and p = (S - 1)/S; after 20 steps they are close to it.
        for ((n, x, p), (equilibrium, tolerance)) in
            stages.into_iter().zip([(1.0, 2e-3), (0.5, 2e-3), (0.2, 1e-3), (0.25, 5e-3), (1.0, 1e-3)])
        {
            assert!(
                (x - equilibrium).abs() < tolerance && (p - (1.0 - equilibrium)).abs() < tolerance,
                "{n}: {x}, {p}"
            );
        }
    }
}
