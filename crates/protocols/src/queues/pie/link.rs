//! PIE at one link. Names follow the pseudocode of RFC 8033, appendix B.

use super::params::Params;
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Verdict};
use millpond_units::{Bytes, Span, Time};

/// Probabilities below which the change of an update is divided, and the divisors (section 4.2).
pub(super) const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

/// Largest change of an update once the probability has reached the last limit of [`SCALES`] (section 5.5).
const MOST_CHANGE: f64 = 0.02;

/// Factor of the probability per update without congestion (section 4.2).
const DECAY: f64 = 0.98;

/// With a probability below this no packet is dropped while the delay is below half the target (section 4.1).
const UNCONGESTED: f64 = 0.2;

/// Bounds of the summed probabilities between two drops (section 5.4).
const LEAST_SUM: f64 = 0.85;
const MOST_SUM: f64 = 8.5;

/// The divisor of the change at this probability.
pub(super) fn divisor(probability: f64) -> f64 {
    SCALES.iter().find(|(limit, _)| probability < *limit).map_or(1.0, |(_, divisor)| *divisor)
}

/// PIE's state.
pub(in crate::queues) struct PieLink {
    params: Params,
    /// MEAN_PKTSIZE.
    packet: Bytes,
    /// drop_prob_.
    probability: f64,
    /// Sum of the probabilities since the last drop (accu_prob_).
    sum: f64,
    /// qdelay_old_.
    last_delay: Span,
    /// burst_allowance_.
    burst_allowance: Span,
}

impl PieLink {
    pub(in crate::queues) fn new(params: Params, facts: &LinkFacts) -> Self {
        Self::with_packet(params, facts.packet)
    }

    fn with_packet(params: Params, packet: Bytes) -> Self {
        Self {
            params,
            packet,
            probability: 0.0,
            sum: 0.0,
            last_delay: Span::ZERO,
            burst_allowance: params.max_burst,
        }
    }

    fn half_target(&self) -> Span {
        self.params.target / 2
    }

    /// Whether a packet that arrives is to be dropped or marked (`drop_early`).
    fn drop_early(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> bool {
        let uncongested = self.last_delay < self.half_target() && self.probability < UNCONGESTED;
        if uncongested || queue.bytes <= self.packet * 2 {
            return false;
        }
        if !self.params.derandomized {
            return cx.random.chance(self.probability);
        }
        if self.probability == 0.0 {
            self.sum = 0.0;
        }
        self.sum += self.probability;
        self.sum >= MOST_SUM || self.sum >= LEAST_SUM && cx.random.chance(self.probability)
    }

    /// Updates the probability for this queueing delay (`calculate_drop_prob`).
    fn update(&mut self, delay: Span) {
        let Params { target, alpha, beta, .. } = self.params;
        let change = alpha * (delay.secs() - target.secs()) + beta * (delay.secs() - self.last_delay.secs());
        let change = change / divisor(self.probability);
        let most = if self.probability >= SCALES[SCALES.len() - 1].0 { MOST_CHANGE } else { f64::INFINITY };
        self.probability += change.min(most);
        let is_over = delay < self.half_target() && self.last_delay < self.half_target();
        if is_over {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last_delay = delay;
        self.burst_allowance = self.burst_allowance.saturating_sub(self.params.update);
        if is_over && self.probability == 0.0 {
            self.burst_allowance = self.params.max_burst;
        }
    }
}

impl Link for PieLink {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, tick: true, ..Hooks::default() }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        if self.burst_allowance > Span::ZERO || !self.drop_early(cx, queue) {
            return Verdict::Keep;
        }
        self.sum = 0.0;
        let marks = self.params.ecn && self.probability < self.params.ecn_limit && packet.ecn.is_capable();
        if marks { Verdict::Mark } else { Verdict::Drop }
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        if cx.now > Time::ZERO {
            self.update(queue.head_sojourn);
        }
        Some(cx.now + self.params.update)
    }

    fn for_flow(&self) -> Option<Box<dyn Link>> {
        Some(Box::new(Self::with_packet(self.params, self.packet)))
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("marking probability", "1", self.probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::{self, pie::Pie};
    use crate::testing::{LinkBench, PACKET};
    use millpond_law::Value;
    use millpond_units::Rate;

    fn bench(written: &[(&'static str, Value)]) -> LinkBench<PieLink> {
        let settings = queues::settings(&Pie, written.iter().cloned()).unwrap();
        let facts = LinkFacts::fifo(Rate::from_mbps(8.0), None, PACKET);
        LinkBench::new(PieLink::new(Params::read(&settings), &facts))
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Updates of the probability, each with its queueing delay in milliseconds.
    fn update(bench: &mut LinkBench<PieLink>, delays: impl IntoIterator<Item = u64>) -> f64 {
        delays.into_iter().for_each(|delay| bench.law.update(Span::from_millis(delay)));
        bench.law.probability
    }

    #[test]
    fn an_update_follows_the_formula_by_hand() {
        // 0.125 (0.035 - 0.015) + 1.25 (0.035 - 0) = 0.04625, over 2048; then 0.0025, over 128.
        let mut bench = bench(&[]);
        let first = 0.046_25 / 2048.0;
        assert!((update(&mut bench, [35]) - first).abs() < 1e-12);
        assert!((update(&mut bench, [35]) - first - 0.0025 / 128.0).abs() < 1e-12);
    }

    #[test]
    fn the_change_is_divided_by_the_decade_of_the_probability() {
        for (probability, divided_by) in
            [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0), (0.2, 1.0)]
        {
            assert_eq!(divisor(probability), divided_by);
        }
    }

    #[test]
    fn a_high_probability_grows_by_two_percent_per_update_at_most() {
        let mut bench = bench(&[]);
        bench.law.probability = 0.3;
        assert!((update(&mut bench, [1000]) - 0.32).abs() < 1e-12);
    }

    #[test]
    fn at_the_target_the_probability_stays() {
        let mut bench = bench(&[]);
        (bench.law.probability, bench.law.last_delay) = (0.03, Span::from_millis(15));
        assert_eq!(update(&mut bench, [15; 100]), 0.03);
    }

    #[test]
    fn without_congestion_the_probability_decays_by_two_percent_per_update() {
        // With alpha = 0 only the decay remains: a time constant of 50 updates (section 4.2).
        let mut bench = bench(&[("alpha", Value::Number(0.0))]);
        bench.law.probability = 0.5;
        let after = update(&mut bench, [0; 50]);
        assert!((after - 0.5 * 0.98_f64.powi(50)).abs() < 1e-12);
    }

    #[test]
    fn no_packet_of_a_burst_is_dropped_and_the_allowance_returns() {
        let mut bench = bench(&[]);
        bench.law.probability = 1.0;
        bench.law.last_delay = Span::from_millis(50);
        assert_eq!(bench.arrive(at(1), 100), Verdict::Keep);
        update(&mut bench, [50; 10]);
        assert_ne!(bench.arrive(at(151), 100), Verdict::Keep);
        update(&mut bench, [0; 2000]);
        assert_eq!(bench.law.burst_allowance, Span::from_millis(150));
    }

    #[test]
    fn capable_packets_are_marked_up_to_the_limit() {
        let mut bench = bench(&[("max_burst", Value::text("0s")), ("derandomized", Value::Flag(false))]);
        bench.law.last_delay = Span::from_millis(50);
        let mut verdicts = |probability| {
            bench.law.probability = probability;
            let seen: Vec<Verdict> = (0..10_000).map(|t| bench.arrive(at(t), 100)).collect();
            [Verdict::Mark, Verdict::Drop].map(|kind| seen.iter().filter(|verdict| **verdict == kind).count())
        };
        // Binomial with a standard deviation of 22 and 46: five of them.
        let [marked, dropped] = verdicts(0.05);
        assert!(marked.abs_diff(500) < 110 && dropped == 0, "{marked}, {dropped}");
        let [marked, dropped] = verdicts(0.3);
        assert!(marked == 0 && dropped.abs_diff(3000) < 230, "{marked}, {dropped}");
    }

    #[test]
    fn derandomized_drops_are_between_seventeen_and_170_packets_apart_at_five_percent() {
        // 0.85 / 0.05 and 8.5 / 0.05.
        let mut bench = bench(&[("max_burst", Value::text("0s"))]);
        (bench.law.probability, bench.law.last_delay) = (0.05, Span::from_millis(50));
        let drops: Vec<u64> = (0..20_000).filter(|t| bench.arrive(at(*t), 100) != Verdict::Keep).collect();
        // The sums are rounded: one packet more.
        let gaps = drops.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.clone().all(|gap| (17..=171).contains(&gap)), "{:?}", gaps.min());
        // Mean gap: 17 packets, then geometric with mean 20.
        let mean = (drops[drops.len() - 1] - drops[0]) as f64 / (drops.len() - 1) as f64;
        assert!((mean - 36.0).abs() < 3.0, "{mean}");
    }

    #[test]
    fn a_short_queue_or_a_short_delay_loses_nothing() {
        let mut bench = bench(&[("max_burst", Value::text("0s"))]);
        (bench.law.probability, bench.law.last_delay) = (0.19, Span::from_millis(7));
        assert!((0..1000).all(|t| bench.arrive(at(t), 100) == Verdict::Keep));
        (bench.law.probability, bench.law.last_delay) = (1.0, Span::from_millis(50));
        assert!((0..1000).all(|t| bench.arrive(at(t), 2) == Verdict::Keep));
    }

    /// Section 4.1: a short delay protects packets up to a probability of 0.2 only.
    #[test]
    fn from_a_probability_of_a_fifth_on_packets_are_dropped_whatever_the_delay() {
        let mut bench = bench(&[("max_burst", Value::text("0s")), ("derandomized", Value::Flag(false))]);
        (bench.law.probability, bench.law.last_delay) = (0.2, Span::ZERO);
        let dropped = (0..10_000).filter(|t| bench.arrive(at(*t), 100) == Verdict::Drop).count();
        // Binomial with a standard deviation of 40: five of them.
        assert!(dropped.abs_diff(2000) < 200, "{dropped}");
    }
}
