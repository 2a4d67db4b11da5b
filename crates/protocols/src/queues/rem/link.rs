//! REM at one link.

use super::params::Params;
use millpond_law::{Context, Gauge, Hooks, Link, PacketKind, PacketView, QueueView, Verdict};
use millpond_units::{Bytes, Time};

/// Smallest share of unmarked packets. It limits the price, which must be able to decrease again.
const LEAST_UNMARKED: f64 = 1e-6;

/// Eq. (35), Paganini et al.: `p <- [p + (y - c_0) / c_0 T]^+`, in seconds, for arrivals that c_0 serves in `served`.
fn next_price(price: f64, served: f64, interval: f64) -> f64 {
    (price + served - interval).max(0.0)
}

/// Eq. (36), Paganini et al.: `P = 1 - phi^(-p)`.
fn probability(phi: f64, price: f64) -> f64 {
    -libm::expm1(-price * libm::log(phi))
}

/// Upper limit of the price, in seconds.
pub(super) fn most_price(phi: f64) -> f64 {
    libm::log(1.0 / LEAST_UNMARKED) / libm::log(phi)
}

/// REM's state: the price and the marking probability.
pub(super) struct RemLink {
    params: Params,
    arrived: Bytes,
    /// In seconds.
    price: f64,
    most_price: f64,
    probability: f64,
}

impl RemLink {
    pub(super) fn new(params: Params) -> Self {
        let most_price = most_price(params.phi);
        Self { params, arrived: Bytes::ZERO, price: 0.0, most_price, probability: 0.0 }
    }

    /// Ends an interval; without capacity the price is constant.
    fn update(&mut self, queue: &QueueView) {
        let arrived = std::mem::take(&mut self.arrived).as_f64();
        let capacity = queue.configured_capacity.bytes_per_sec();
        if capacity > 0.0 {
            let interval = self.params.interval.secs();
            let served = arrived / (self.params.virtual_capacity * capacity);
            let queued = self.params.queue_weight * interval * queue.bytes.as_f64() / capacity;
            self.price = next_price(self.price, served + queued, interval).min(self.most_price);
            self.probability = probability(self.params.phi, self.price);
        }
    }
}

impl Link for RemLink {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, tick: true, ..Hooks::default() }
    }

    /// Acknowledgements count as load, but are not marked, because no sender reacts to such a mark.
    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        self.arrived += packet.bytes;
        let marked = packet.kind == PacketKind::Data && cx.random.chance(self.probability);
        if marked { Verdict::Mark } else { Verdict::Keep }
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        // At the start nothing has been measured yet.
        if cx.now > Time::ZERO {
            self.update(queue);
        }
        Some(cx.now + self.params.interval)
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("price", "s", self.price);
        gauge.quantity("marking probability", "1", self.probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::{self, rem::Rem};
    use crate::testing::{LinkBench, PACKET};
    use millpond_law::{Ecn, Header, Random, Value};
    use millpond_units::{Rate, Span};

    fn bench(written: &[(&'static str, Value)]) -> LinkBench<RemLink> {
        let settings = queues::settings(&Rem, written.iter().cloned()).unwrap();
        LinkBench::new(RemLink::new(Params::read(&settings)))
    }

    /// An interval of 100 ms at 8 Mbit/s, with this number of arrivals and of queued packets.
    fn interval(bench: &mut LinkBench<RemLink>, arrivals: u64, queued: u64) {
        for _ in 0..arrivals {
            bench.arrive(Time::ZERO, queued);
        }
        let view = QueueView {
            configured_capacity: Rate::from_mbps(8.0),
            bytes: PACKET * queued,
            link_bytes: PACKET * queued,
            packets: queued,
            head_sojourn: Span::ZERO,
        };
        let mut random = Random::stream(1, "tick");
        bench.law.tick(&mut Context { now: Time::from_secs(1.0), random: &mut random }, &view);
    }

    const SLOW: (&str, Value) = ("interval", Value::text("100ms"));

    #[test]
    fn the_price_is_the_delay_of_a_queue_that_the_virtual_capacity_would_have() {
        // The virtual capacity is 95 of 100 packets; 19 more packets wait 20 ms at that capacity.
        let mut bench = bench(&[SLOW]);
        for (arrivals, price) in [(95, 0.0), (114, 0.02), (95, 0.02), (190, 0.12), (0, 0.02), (0, 0.0)] {
            interval(&mut bench, arrivals, 7);
            assert!((bench.law.price - price).abs() < 1e-12, "{} {price}", bench.law.price);
        }
    }

    #[test]
    fn with_a_queue_weight_and_the_whole_capacity_only_an_empty_queue_is_an_equilibrium() {
        let mut bench =
            bench(&[SLOW, ("virtual_capacity", Value::Number(1.0)), ("queue_weight", Value::Number(2.0))]);
        interval(&mut bench, 100, 0);
        assert_eq!(bench.law.price, 0.0);
        // 10 packets are 10 ms of queueing: 2/s * 100 ms * 10 ms.
        interval(&mut bench, 100, 10);
        assert!((bench.law.price - 0.002).abs() < 1e-12);
    }

    #[test]
    fn the_range_of_prices_between_5_and_95_percent_is_the_papers() {
        for (phi, low, high) in [(100.0, 0.0111, 0.6505), (1e6, 0.00371, 0.2168)] {
            assert!((probability(phi, low) / 0.05 - 1.0).abs() < 0.005);
            assert!((probability(phi, high) / 0.95 - 1.0).abs() < 0.005);
        }
    }

    #[test]
    fn probabilities_of_a_path_multiply_as_prices_add() {
        let unmarked = |price| 1.0 - probability(1e6, price);
        assert!((unmarked(0.02) * unmarked(0.03) - unmarked(0.05)).abs() < 1e-12);
    }

    #[test]
    fn packets_are_marked_with_the_probability_of_the_price() {
        let mut bench = bench(&[SLOW]);
        interval(&mut bench, 114, 0);
        let theory = 1.0 - 1e6_f64.powf(-0.02);
        let marks = (0..40_000).filter(|_| bench.arrive(Time::ZERO, 0) == Verdict::Mark).count();
        // A standard error is 86: four of them.
        assert!((marks as f64 - 40_000.0 * theory).abs() < 350.0, "{marks} {theory}");
    }

    #[test]
    fn an_acknowledgement_counts_as_load_and_is_never_marked() {
        let mut bench = bench(&[SLOW]);
        interval(&mut bench, 100_000, 0);
        let (mut ecn, mut header, mut random) = (Ecn::Ect0, Header::NONE, Random::stream(1, "link"));
        let mut packet =
            PacketView { bytes: PACKET, kind: PacketKind::Ack, flow: 0, ecn: &mut ecn, header: &mut header };
        let empty = QueueView {
            configured_capacity: Rate::from_mbps(8.0),
            bytes: Bytes::ZERO,
            link_bytes: Bytes::ZERO,
            packets: 0,
            head_sojourn: Span::ZERO,
        };
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        assert_eq!(bench.law.arrive(&mut cx, &mut packet, &empty), Verdict::Keep);
        assert_eq!(bench.law.arrived, PACKET);
    }

    #[test]
    fn an_overload_does_not_raise_the_price_above_its_limit_and_an_outage_keeps_it() {
        let mut bench = bench(&[SLOW]);
        interval(&mut bench, 100_000, 0);
        assert!((bench.law.probability - (1.0 - LEAST_UNMARKED)).abs() < 1e-12);
        let price = bench.law.price;
        bench.arrive(Time::ZERO, 0);
        let dead = QueueView {
            configured_capacity: Rate::ZERO,
            bytes: PACKET,
            link_bytes: PACKET,
            packets: 1,
            head_sojourn: Span::ZERO,
        };
        bench.law.update(&dead);
        assert_eq!(bench.law.price, price);
    }

    #[test]
    fn a_base_of_one_or_less_is_rejected() {
        for phi in [1.0, 0.5, -3.0] {
            let error = queues::settings(&Rem, [("phi", Value::Number(phi))]).unwrap_err();
            assert_eq!(error.name, "phi");
        }
    }
}
