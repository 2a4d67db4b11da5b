//! DualPI2 at one link. Names follow the pseudocode of RFC 9332, appendix A.

use super::params::Params;
use super::scheduler::{CLASSIC, DualScheduler, LOW_LATENCY};
use millpond_law::{
    Context, Ecn, Gauge, Hooks, LinkFacts, MultiQueue, PacketView, QueueView, Queues, Scheduler, Verdict,
    Victims,
};
use millpond_units::{Bytes, Rate, Span, Time};

/// Spreads events of a given likelihood evenly (`recur`, Figure 4).
#[derive(Clone, Copy, Debug, Default)]
struct EvenSpacing(f64);

impl EvenSpacing {
    /// Whether the event happens to this packet.
    fn recur(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let is_due = self.0 > 1.0;
        if is_due {
            self.0 -= 1.0;
        }
        is_due
    }
}

/// DualPI2's state.
pub(super) struct DualPi2Link {
    params: Params,
    /// p', the base probability.
    base: f64,
    /// prevq.
    previous: Span,
    low_latency_marks: EvenSpacing,
    low_latency_drops: EvenSpacing,
    classic: EvenSpacing,
    scheduler: DualScheduler,
}

impl DualPi2Link {
    pub(super) fn new(params: Params, facts: &LinkFacts) -> Self {
        Self {
            params,
            base: 0.0,
            previous: Span::ZERO,
            low_latency_marks: EvenSpacing::default(),
            low_latency_drops: EvenSpacing::default(),
            classic: EvenSpacing::default(),
            scheduler: DualScheduler::new(&params, facts),
        }
    }

    /// p_CL, the coupled marking probability of the low-latency queue (Figure 8, line 4).
    fn coupled(&self) -> f64 {
        (self.params.coupling * self.base).min(1.0)
    }

    /// p_C, the probability of the classic queue (Figure 8, line 5).
    fn squared(&self) -> f64 {
        self.base * self.base
    }

    /// p_Cmax, the classic probability from which on ECN is disabled (Figure 2, line 11).
    fn overload(&self) -> f64 {
        let k = self.params.coupling;
        (1.0 / (k * k)).min(1.0)
    }

    /// p'_L, the ramp of the low-latency queue (`laqm`, Figure 5).
    fn native(&self, delay: Span) -> f64 {
        let Params { min_threshold, range, .. } = self.params;
        if delay >= min_threshold + range {
            return 1.0;
        }
        if delay > min_threshold { delay.saturating_sub(min_threshold).secs() / range.secs() } else { 0.0 }
    }

    /// The verdict on a packet of the low-latency queue (Figure 7, lines 4a to 8j).
    fn low_latency_verdict(&mut self, queue: &QueueView) -> Verdict {
        let coupled = self.coupled();
        if coupled < 1.0 {
            let left_behind = queue.packets.saturating_sub(1);
            let is_queue = left_behind > self.params.min_packets;
            let native = if is_queue { self.native(queue.head_sojourn) } else { 0.0 };
            return self.mark(native.max(coupled));
        }
        let squared = self.squared();
        if self.low_latency_drops.recur(squared) { Verdict::Drop } else { Verdict::Mark }
    }

    fn mark(&mut self, probability: f64) -> Verdict {
        if self.low_latency_marks.recur(probability) { Verdict::Mark } else { Verdict::Keep }
    }

    /// The verdict on a packet of the classic queue (Figure 7, lines 10 to 17).
    fn classic_verdict(&mut self, ecn: Ecn) -> Verdict {
        let squared = self.squared();
        if !self.classic.recur(squared) {
            return Verdict::Keep;
        }
        if ecn.is_capable() && squared < self.overload() { Verdict::Mark } else { Verdict::Drop }
    }

    /// Updates the base probability for the greater queueing delay (`dualpi2_update`, Figure 8).
    fn update(&mut self, current: Span) {
        let Params { target, alpha, beta, .. } = self.params;
        let change =
            alpha * (current.secs() - target.secs()) + beta * (current.secs() - self.previous.secs());
        self.base = (self.base + change).clamp(0.0, 1.0);
        self.previous = current;
    }
}

impl MultiQueue for DualPi2Link {
    fn hooks(&self) -> Hooks {
        Hooks { depart: true, tick: true, ..Hooks::default() }
    }

    fn classify(&mut self, _cx: &mut Context<'_>, packet: &PacketView<'_>, _flow: u32) -> u32 {
        if matches!(*packet.ecn, Ecn::Ect1 | Ecn::Ce) { LOW_LATENCY } else { CLASSIC }
    }

    fn depart(
        &mut self,
        _cx: &mut Context<'_>,
        queue: u32,
        packet: &mut PacketView<'_>,
        view: &QueueView,
    ) -> Verdict {
        if queue == LOW_LATENCY { self.low_latency_verdict(view) } else { self.classic_verdict(*packet.ecn) }
    }

    fn tick(&mut self, cx: &mut Context<'_>, _capacity: Rate, queues: &dyn Queues) -> Option<Time> {
        if cx.now > Time::ZERO {
            self.update(queues.head_sojourn(LOW_LATENCY).max(queues.head_sojourn(CLASSIC)));
        }
        Some(cx.now + self.params.update)
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        &mut self.scheduler
    }

    fn make_room(&mut self, _queue: u32, _bytes: Bytes, _queues: &dyn Queues) -> Option<Victims> {
        None
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("marking probability", "1", self.squared());
        gauge.quantity("coupled marking probability", "1", self.coupled());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::{self, dualpi2::DualPi2};
    use crate::testing::PACKET;
    use millpond_law::{Header, PacketKind, Random, Value};

    fn law(written: &[(&'static str, Value)]) -> DualPi2Link {
        let settings = queues::settings(&DualPi2, written.iter().cloned()).unwrap();
        let facts = LinkFacts::fifo(Rate::from_mbps(8.0), None, PACKET);
        DualPi2Link::new(Params::read(&settings), &facts)
    }

    /// The verdict on a departing packet that leaves `packets - 1` behind.
    fn depart(law: &mut DualPi2Link, mut ecn: Ecn, packets: u64, sojourn: Span) -> Verdict {
        let (mut header, mut random) = (Header::NONE, Random::stream(1, "link"));
        let cx = &mut Context { now: Time::ZERO, random: &mut random };
        let mut packet =
            PacketView { bytes: PACKET, kind: PacketKind::Data, flow: 0, ecn: &mut ecn, header: &mut header };
        let queue = law.classify(cx, &packet, 0);
        let view = QueueView {
            configured_capacity: Rate::from_mbps(8.0),
            bytes: PACKET * packets,
            link_bytes: PACKET * packets,
            packets,
            head_sojourn: sojourn,
        };
        law.depart(cx, queue, &mut packet, &view)
    }

    /// Shares of 10,000 packets that are marked and dropped.
    fn shares(law: &mut DualPi2Link, ecn: Ecn, sojourn: Span) -> [f64; 2] {
        let seen: Vec<Verdict> = (0..10_000).map(|_| depart(law, ecn, 9, sojourn)).collect();
        let share = |kind| seen.iter().filter(|verdict| **verdict == kind).count() as f64 / 1e4;
        [Verdict::Mark, Verdict::Drop].map(share)
    }

    /// `recur` is exact up to one event.
    fn assert_shares(found: [f64; 2], expected: [f64; 2]) {
        let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1.5e-4);
        assert!(is_near, "{found:?}, not {expected:?}");
    }

    #[test]
    fn an_update_follows_the_formula_by_hand() {
        let mut law = law(&[]);
        // 0.16 (0.035 - 0.015) + 3.2 (0.035 - 0) = 0.1152, then 0.0032.
        law.update(Span::from_millis(35));
        assert!((law.base - 0.1152).abs() < 1e-12);
        law.update(Span::from_millis(35));
        assert!((law.base - 0.1184).abs() < 1e-12);
        law.update(Span::from_millis(15));
        assert!((law.base - (0.1184 - 3.2 * 0.02)).abs() < 1e-12);
        (0..1000).for_each(|_| law.update(Span::ZERO));
        assert_eq!(law.base, 0.0, "bounded by zero");
    }

    /// The times for which the heads of both queues have waited.
    struct HeadSojourns([Span; 2]);

    impl Queues for HeadSojourns {
        fn count(&self) -> u32 {
            2
        }

        fn packets(&self, _queue: u32) -> u64 {
            9
        }

        fn bytes(&self, _queue: u32) -> Bytes {
            PACKET * 9
        }

        fn head_bytes(&self, _queue: u32) -> Bytes {
            PACKET
        }

        fn head_sojourn(&self, queue: u32) -> Span {
            self.0[queue as usize]
        }
    }

    /// 0.16 (0.035 - 0.015) + 3.2 (0.035 - 0) = 0.1152, whichever queue has the delay of 35 ms.
    #[test]
    fn an_interval_ends_with_an_update_for_the_greater_delay_of_both_queues() {
        for sojourns in [[35, 1], [1, 35]] {
            let (mut law, mut random) = (law(&[]), Random::stream(1, "link"));
            let queues = HeadSojourns(sojourns.map(Span::from_millis));
            let mut tick = |now| {
                let cx = &mut Context { now, random: &mut random };
                law.tick(cx, Rate::from_mbps(8.0), &queues)
            };
            let first = tick(Time::ZERO).unwrap();
            assert_eq!(first, Time::ZERO + Span::from_millis(16), "Tupdate");
            assert_eq!(tick(first), Some(first + Span::from_millis(16)));
            assert!((law.base - 0.1152).abs() < 1e-12, "{sojourns:?}: {}", law.base);
        }
    }

    #[test]
    fn classic_packets_have_the_square_and_l4s_packets_twice_the_base_probability() {
        let mut law = law(&[]);
        law.base = 0.2;
        assert_shares(shares(&mut law, Ecn::NotCapable, Span::ZERO), [0.0, 0.04]);
        assert_shares(shares(&mut law, Ecn::Ect0, Span::ZERO), [0.04, 0.0]);
        assert_shares(shares(&mut law, Ecn::Ect1, Span::ZERO), [0.4, 0.0]);
        assert_shares(shares(&mut law, Ecn::Ce, Span::ZERO), [0.4, 0.0]);
    }

    #[test]
    fn the_ramp_rises_from_800_to_1200_microseconds() {
        let law = law(&[]);
        for (micros, probability) in
            [(0, 0.0), (800, 0.0), (900, 0.25), (1000, 0.5), (1200, 1.0), (9000, 1.0)]
        {
            assert!((law.native(Span::from_micros(micros)) - probability).abs() < 1e-12, "{micros}");
        }
    }

    #[test]
    fn the_greater_of_coupled_and_native_probability_counts() {
        let mut law = law(&[]);
        law.base = 0.2;
        assert_shares(shares(&mut law, Ecn::Ect1, Span::from_micros(1000)), [0.5, 0.0]);
        assert_shares(shares(&mut law, Ecn::Ect1, Span::from_micros(900)), [0.4, 0.0]);
    }

    #[test]
    fn a_range_of_zero_is_a_step() {
        let law = law(&[("range", Value::text("0s"))]);
        assert_eq!(law.native(Span::from_micros(799)), 0.0);
        assert_eq!(law.native(Span::from_micros(800)), 1.0);
    }

    #[test]
    fn a_queue_of_one_packet_is_not_marked_by_the_ramp() {
        let mut law = law(&[]);
        let long = Span::from_millis(20);
        assert!((0..100).all(|_| depart(&mut law, Ecn::Ect1, 2, long) == Verdict::Keep));
        // The first event of `recur` comes when the sum exceeds one.
        assert_eq!(depart(&mut law, Ecn::Ect1, 3, long), Verdict::Keep);
        assert!((0..100).all(|_| depart(&mut law, Ecn::Ect1, 3, long) == Verdict::Mark));
    }

    #[test]
    fn under_overload_both_queues_drop_with_the_classic_probability() {
        // p' = 0.6: p_C = 0.36 is above p_Cmax = 0.25 and p_CL is one.
        let mut law = law(&[]);
        law.base = 0.6;
        assert_shares(shares(&mut law, Ecn::Ect1, Span::ZERO), [0.64, 0.36]);
        assert_shares(shares(&mut law, Ecn::Ect0, Span::ZERO), [0.0, 0.36]);
        // p_C = 0.2401 just below: ECN still works.
        law.base = 0.49;
        assert_shares(shares(&mut law, Ecn::Ect0, Span::ZERO), [0.2401, 0.0]);
        assert_shares(shares(&mut law, Ecn::Ect1, Span::ZERO), [0.98, 0.0]);
    }
}
