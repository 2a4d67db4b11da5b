//! RED at one link.

use super::params::{MarkAt, Params, Shape, Spacing};
use millpond_law::fluid::{Number, least};
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Random, Verdict};
use millpond_units::{Bytes, Span, Time};

/// RED's state: the average queue, and the number of packets since the last mark.
pub(super) struct RedLink {
    params: Params,
    /// Size of a typical packet; an idle period counts as the service of such packets.
    packet: Bytes,
    /// The average queue in bytes.
    average: f64,
    /// Packets that passed unmarked since the last mark, while marking was possible.
    count: u64,
    /// Time at which the service of the packet that departed last ends.
    busy_until: Time,
}

impl RedLink {
    pub(super) fn new(params: Params, facts: &LinkFacts) -> Self {
        Self { params, packet: facts.packet, average: 0.0, count: 0, busy_until: Time::ZERO }
    }

    /// Samples the queue, and decides by the average whether to mark a packet.
    fn verdict(&mut self, random: &mut Random, queue: &QueueView) -> Verdict {
        self.average += self.params.weight * (queue.bytes.as_f64() - self.average);
        let congested = self.sample(random, probability(&self.params, self.average));
        match (congested, self.params.ecn) {
            (false, _) => Verdict::Keep,
            (true, true) => Verdict::Mark,
            (true, false) => Verdict::Drop,
        }
    }

    fn sample(&mut self, random: &mut Random, p_b: f64) -> bool {
        if p_b <= 0.0 || p_b >= 1.0 {
            self.count = 0;
            return p_b >= 1.0;
        }
        if self.params.spacing == Spacing::Geometric {
            return random.chance(p_b);
        }
        let marked = random.chance(spread(p_b, self.count));
        self.count = if marked { 0 } else { self.count + 1 };
        marked
    }

    /// An idle period counts as m packets: the average decays as if it had sampled the empty queue m times.
    fn decay_over_idle_time(&mut self, now: Time, queue: &QueueView) {
        let slot = queue.configured_capacity.time_for(self.packet);
        self.average *= idle_decay(self.params.weight, now.since(self.busy_until), slot);
        self.busy_until = self.busy_until.max(now);
    }
}

/// The marking probability p_b at a queue of `b` bytes (Floyd & Jacobson 1993, section IV; Eq. (17), LGCC).
pub(super) fn probability<T: Number>(params: &Params, b: T) -> T {
    let Params { min_th, max_th, max_p, .. } = *params;
    match params.shape {
        Shape::Step => T::from(f64::from(b > max_th)),
        _ if b < min_th => T::zero(),
        Shape::Classic | Shape::Gentle if b < max_th => (b - min_th) * max_p / (max_th - min_th),
        Shape::Gentle => least((b - max_th) * (1.0 - max_p) / max_th + max_p, T::one()),
        Shape::Proportional if b < max_th => b * max_p / max_th,
        Shape::Classic | Shape::Proportional => T::one(),
    }
}

/// p_a = p_b / (1 - count p_b): gaps between marks are then uniform on 1 .. 1/p_b (Floyd & Jacobson 1993, section
/// VII, Method 2).
fn spread(p_b: f64, count: u64) -> f64 {
    let left = 1.0 - count as f64 * p_b;
    if left <= p_b { 1.0 } else { p_b / left }
}

/// (1 - w_q)^m with m = idle / slot (Floyd & Jacobson 1993, section IV).
fn idle_decay(weight: f64, idle: Span, slot: Span) -> f64 {
    if idle.is_zero() {
        return 1.0;
    }
    libm::pow(1.0 - weight, idle.secs() / slot.secs().max(1e-12))
}

impl Link for RedLink {
    fn hooks(&self) -> Hooks {
        let averages = self.params.weight < 1.0;
        Hooks {
            arrive: averages || self.params.mark_at == MarkAt::Arrival,
            depart: averages || self.params.mark_at == MarkAt::Departure,
            ..Hooks::default()
        }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, _packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        if queue.packets == 0 && self.params.weight < 1.0 {
            self.decay_over_idle_time(cx.now, queue);
        }
        match self.params.mark_at {
            MarkAt::Arrival => self.verdict(cx.random, queue),
            MarkAt::Departure => Verdict::Keep,
        }
    }

    fn for_flow(&self) -> Option<Box<dyn Link>> {
        let Self { params, packet, .. } = *self;
        Some(Box::new(Self { params, packet, average: 0.0, count: 0, busy_until: Time::ZERO }))
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let verdict = match self.params.mark_at {
            MarkAt::Arrival => Verdict::Keep,
            MarkAt::Departure => self.verdict(cx.random, queue),
        };
        if self.params.weight < 1.0 {
            self.busy_until = cx.now + queue.configured_capacity.time_for(packet.bytes);
        }
        verdict
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("marking probability", "1", probability(&self.params, self.average));
        gauge.quantity("average queue", "B", self.average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::{self, red::Red};
    use crate::testing::{LinkBench, PACKET};
    use millpond_law::Value;
    use millpond_units::Rate;

    fn params(written: &[(&'static str, Value)]) -> Params {
        Params::read(&queues::settings(&Red, written.iter().cloned()).unwrap()).unwrap()
    }

    fn bench(written: &[(&'static str, Value)]) -> LinkBench<RedLink> {
        let facts = LinkFacts::fifo(Rate::from_mbps(8.0), None, PACKET);
        LinkBench::new(RedLink::new(params(written), &facts))
    }

    fn at(shape: &'static str, b: f64) -> f64 {
        let thresholds = [("min_th", Value::text("10KB")), ("max_th", Value::text("30KB"))];
        let others = [("max_p", Value::Number(0.1)), ("shape", Value::text(shape))];
        probability(&params(&[thresholds, others].concat()), b)
    }

    #[test]
    fn each_shape_has_the_probabilities_of_its_definition() {
        let curve = |shape, queues: [f64; 6]| queues.map(|b| at(shape, b));
        let queues = [9_999.0, 10_000.0, 20_000.0, 30_000.0, 45_000.0, 60_000.0];
        assert_eq!(curve("classic", queues), [0.0, 0.0, 0.05, 1.0, 1.0, 1.0]);
        assert_eq!(curve("gentle", queues), [0.0, 0.0, 0.05, 0.1, 0.55, 1.0]);
        assert_eq!(curve("step", queues), [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
        let [below, low, middle, high, ..] = curve("proportional", queues);
        assert_eq!([below, middle, high], [0.0, 0.1 * 20.0 / 30.0, 1.0]);
        assert!((low - 0.1 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_lgcc_preset_is_equation_17_down_to_the_last_byte() {
        let params = params(&[("preset", Value::text("lgcc"))]);
        for (b, p) in [(0.0, 0.0), (1.0, 1.0 / 75_000.0), (37_500.0, 0.5), (75_000.0, 1.0), (1e9, 1.0)] {
            assert_eq!(probability(&params, b), p);
        }
    }

    #[test]
    fn the_dctcp_preset_marks_exactly_the_packets_that_arrive_at_more_than_k() {
        let mut bench = bench(&[("preset", Value::text("dctcp-step")), ("max_th", Value::text("20KB"))]);
        assert_eq!(bench.law.hooks(), Hooks { arrive: true, ..Hooks::default() });
        for packets in 0..40 {
            let expected = if packets > 20 { Verdict::Mark } else { Verdict::Keep };
            assert_eq!(bench.arrive(Time::ZERO, packets), expected, "{packets}");
        }
    }

    #[test]
    fn counting_spreads_marks_uniformly_from_one_to_the_inverse_of_the_probability() {
        // p_b = 0.02 of max_p 0.04 at half of the line: gaps uniform on 1 ..= 50, mean 25.5, variance (50^2 - 1)/12.
        let mut bench = bench(&[
            ("weight", Value::Number(1.0)),
            ("min_th", Value::text("10KB")),
            ("max_th", Value::text("30KB")),
            ("max_p", Value::Number(0.04)),
        ]);
        let mut seen = [0_u32; 51];
        for _ in 0..20_000 {
            let gap = (1..).find(|_| bench.arrive(Time::ZERO, 20) == Verdict::Mark).unwrap();
            seen[gap] += 1;
        }
        // Each of 50 cells expects 400 +- 20: five standard errors.
        assert!(seen[1..].iter().all(|n| n.abs_diff(400) < 100), "{seen:?}");
    }

    #[test]
    fn without_counting_each_packet_is_marked_with_the_probability_itself() {
        let mut bench = bench(&[("preset", Value::text("lgcc")), ("mark_at", Value::text("arrival"))]);
        let marks = (0..40_000).filter(|_| bench.arrive(Time::ZERO, 15) == Verdict::Mark).count();
        // p = 15/75 = 0.2: 8000 +- 80, five standard errors.
        assert!(marks.abs_diff(8000) < 400, "{marks}");
    }

    #[test]
    fn the_average_follows_a_step_as_a_geometric_filter() {
        let mut bench = bench(&[("weight", Value::Number(0.1)), ("max_th", Value::text("1MB"))]);
        for n in 1..=50 {
            bench.arrive(Time::ZERO, 10);
            let expected = 10_000.0 * (1.0 - libm::pow(0.9, f64::from(n)));
            assert!((bench.law.average - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn on_an_idle_link_the_average_decays_as_if_packets_were_served() {
        let mut bench = bench(&[("weight", Value::Number(0.1)), ("max_th", Value::text("1MB"))]);
        bench.arrive(Time::from_secs(1.0), 40);
        let before = bench.law.average;
        // The last packet departs at 2 s and is served in 1 ms; 20 ms of idleness are 20 packets, and the arriving
        // packet samples the empty queue once more.
        bench.depart(Time::from_secs(2.0), 1, Span::ZERO);
        bench.arrive(Time::from_secs(2.021), 0);
        assert!((bench.law.average / before - libm::pow(0.9, 21.0)).abs() < 1e-9);
    }

    #[test]
    fn at_departure_a_packet_is_marked_by_the_queue_that_it_heads() {
        let mut bench = bench(&[
            ("preset", Value::text("lgcc")),
            ("max_th", Value::text("10KB")),
            ("ecn", Value::Flag(false)),
        ]);
        assert_eq!(bench.law.hooks(), Hooks { depart: true, ..Hooks::default() });
        assert_eq!(bench.arrive(Time::ZERO, 1000), Verdict::Keep);
        assert_eq!(bench.depart(Time::ZERO, 10, Span::ZERO), Verdict::Drop);
        let mut gauges: Vec<(&'static str, &'static str, f64)> = Vec::new();
        bench.law.observe(&mut gauges);
        assert_eq!(gauges[0], ("marking probability", "1", 1.0));
    }

    #[test]
    fn thresholds_that_do_not_increase_are_rejected() {
        let settings = queues::settings(&Red, [("min_th", Value::text("1MB"))]).unwrap();
        assert_eq!(Params::read(&settings).unwrap_err().name, "max_th");
    }
}
