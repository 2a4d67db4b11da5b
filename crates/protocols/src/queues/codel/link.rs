//! CoDel at one link. Names follow the pseudocode of RFC 8289, section 5.

use super::params::Params;
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Verdict};
use millpond_units::{Bytes, Span, Time};

/// Number of intervals within which marking resumes with its previous count.
const RECENT_INTERVALS: u64 = 16;

/// CoDel's state.
pub(in crate::queues) struct CoDelLink {
    params: Params,
    /// Size of a full packet in bytes. At most one packet in all queues of the link is not a standing queue (sections 4.4 and 5.6).
    max_packet: Bytes,
    /// Time at which the delay will have exceeded the target for an interval; none while it is below.
    first_above_time: Option<Time>,
    /// Whether the law is in its marking state.
    dropping: bool,
    /// Time of the next mark.
    drop_next: Time,
    /// Packets marked since marking began.
    count: u64,
    /// `count` when marking last began.
    last_count: u64,
}

/// interval / sqrt(count) after `from` (RFC 8289, section 5.6, `control_law`).
fn control_law(from: Time, interval: Span, count: u64) -> Time {
    from + interval.scale(1.0 / libm::sqrt(count as f64))
}

impl CoDelLink {
    pub(in crate::queues) fn new(params: Params, facts: &LinkFacts) -> Self {
        Self::with_packet(params, facts.packet)
    }

    fn with_packet(params: Params, max_packet: Bytes) -> Self {
        Self {
            params,
            max_packet,
            first_above_time: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// Whether the delay has exceeded the target for an interval (`dodequeue`, section 5.6).
    fn ok_to_drop(&mut self, now: Time, sojourn: Span, left_behind: Bytes) -> bool {
        if sojourn < self.params.target || left_behind <= self.max_packet {
            self.first_above_time = None;
            return false;
        }
        now >= *self.first_above_time.get_or_insert(now + self.params.interval)
    }

    /// Enters the marking state: with a count of 1, or the previous count if marking ended recently (section 5.5).
    fn begin(&mut self, now: Time) {
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next) < self.params.interval * RECENT_INTERVALS;
        self.dropping = true;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(now, self.params.interval, self.count);
    }

    /// Whether this packet is to be marked (`dequeue`, section 5.5).
    fn is_due(&mut self, now: Time, ok_to_drop: bool) -> bool {
        if !ok_to_drop {
            self.dropping = false;
            return false;
        }
        if !self.dropping {
            self.begin(now);
            return true;
        }
        if now < self.drop_next {
            return false;
        }
        self.count += 1;
        self.drop_next = control_law(self.drop_next, self.params.interval, self.count);
        true
    }
}

impl Link for CoDelLink {
    fn hooks(&self) -> Hooks {
        Hooks { depart: true, ..Hooks::default() }
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let left_behind = queue.link_bytes.saturating_sub(packet.bytes);
        let ok_to_drop = self.ok_to_drop(cx.now, queue.head_sojourn, left_behind);
        match (self.is_due(cx.now, ok_to_drop), self.params.ecn) {
            (false, _) => Verdict::Keep,
            (true, true) => Verdict::Mark,
            (true, false) => Verdict::Drop,
        }
    }

    fn for_flow(&self) -> Option<Box<dyn Link>> {
        Some(Box::new(Self::with_packet(self.params, self.max_packet)))
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("marking", "1", f64::from(self.dropping));
        gauge.quantity("marks in this marking period", "packets", self.count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::{self, codel::CoDel};
    use crate::testing::{LinkBench, PACKET};
    use millpond_law::{Ecn, Header, PacketKind, Random, Value};
    use millpond_units::Rate;

    const LONG: Span = Span::from_millis(20);
    const SHORT: Span = Span::from_millis(4);

    fn bench(ecn: bool) -> LinkBench<CoDelLink> {
        let settings = queues::settings(&CoDel, [("ecn", Value::Flag(ecn))]).unwrap();
        let facts = LinkFacts::fifo(Rate::from_mbps(8.0), None, PACKET);
        LinkBench::new(CoDelLink::new(Params::read(&settings), &facts))
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// The times in microseconds at which one of the packets departing every 10 us is marked.
    fn marks(bench: &mut LinkBench<CoDelLink>, micros: std::ops::Range<u64>) -> Vec<u64> {
        let departures = micros.step_by(10);
        departures.filter(|t| bench.depart(at(*t), 100, LONG) == Verdict::Mark).collect()
    }

    #[test]
    fn marks_come_an_interval_over_the_root_of_their_count_apart() {
        let marks = marks(&mut bench(true), 0..600_000);
        assert_eq!(marks[0], 100_000, "the first mark follows a whole interval above the target");
        let mut expected = marks[0] as f64;
        for (count, mark) in (1..).zip(&marks[1..]) {
            expected += 100_000.0 / libm::sqrt(f64::from(count));
            assert!((*mark as f64 - expected).abs() <= 10.0, "mark {count}: {mark}, not {expected}");
        }
        // Sum of 1/sqrt(k) for k = 1 .. 10 is 5.02 intervals: the tenth gap ends just after 600 ms.
        assert_eq!(marks.len(), 10);
    }

    #[test]
    fn a_delay_below_the_target_or_a_queue_of_one_packet_ends_marking() {
        let mut short_delay = bench(true);
        assert!((0..100_000).all(|t| short_delay.depart(at(t * 10), 100, SHORT) == Verdict::Keep));
        let mut short_queue = bench(true);
        assert!((0..100_000).all(|t| short_queue.depart(at(t * 10), 2, LONG) == Verdict::Keep));
        let mut ended = bench(true);
        marks(&mut ended, 0..150_000);
        assert_eq!(ended.depart(at(150_000), 100, SHORT), Verdict::Keep);
        assert_eq!(marks(&mut ended, 150_010..250_000), []);
    }

    #[test]
    fn marking_that_ended_recently_resumes_with_its_count() {
        let mut bench = bench(true);
        let first = marks(&mut bench, 0..600_000).len() as u64;
        bench.depart(at(600_000), 100, SHORT);
        let again = marks(&mut bench, 600_010..900_000);
        // It resumes at count = first - 1 (section 5.5: delta), so the gap is shorter than an interval.
        let gap = 100_000.0 / libm::sqrt((first - 1) as f64);
        assert!(((again[1] - again[0]) as f64 - gap).abs() <= 10.0, "{again:?}");
    }

    /// Section 5.5: the count of a marking state whose next mark was due 16 intervals ago or earlier is forgotten.
    #[test]
    fn marking_that_ended_long_ago_begins_again_with_a_count_of_one() {
        let second_gap = |pause: u64| {
            let mut bench = bench(true);
            assert_eq!(marks(&mut bench, 0..600_000).len(), 10);
            bench.depart(at(600_000), 100, SHORT);
            let again = marks(&mut bench, 600_000 + pause..900_000 + pause);
            again[1] - again[0]
        };
        // The next mark was due at 602 ms, and marking begins 100 ms after the pause.
        let resumed = 100_000.0 / libm::sqrt(9.0);
        assert!((second_gap(1_400_000) as f64 - resumed).abs() <= 10.0);
        assert!(second_gap(1_600_000).abs_diff(100_000) <= 10);
    }

    /// RFC 8289, section 4.4: "when testing for queue occupancy before dropping, the total occupancy of all queues sharing the same
    /// output link SHOULD be used."
    #[test]
    fn a_short_queue_is_marked_while_other_queues_of_the_link_are_long() {
        let mut law = bench(true).law;
        let mut first_mark = |link_packets: u64| {
            let mut random = Random::stream(1, "link");
            let mut depart = |millis: &u64| {
                let (mut ecn, mut header) = (Ecn::Ect0, Header::NONE);
                let (bytes, kind) = (PACKET, PacketKind::Data);
                let mut packet = PacketView { bytes, kind, flow: 0, ecn: &mut ecn, header: &mut header };
                let queue = QueueView {
                    configured_capacity: Rate::from_mbps(8.0),
                    bytes,
                    link_bytes: PACKET * link_packets,
                    packets: 1,
                    head_sojourn: LONG,
                };
                let cx = &mut Context { now: at(millis * 1000), random: &mut random };
                law.depart(cx, &mut packet, &queue) == Verdict::Mark
            };
            (0..1000).find(|millis| depart(millis))
        };
        assert_eq!(first_mark(2), None, "one packet is left behind in all queues");
        assert_eq!(first_mark(3), Some(100));
    }

    #[test]
    fn without_ecn_it_drops() {
        let mut bench = bench(false);
        bench.depart(at(0), 100, LONG);
        assert_eq!(bench.depart(at(100_000), 100, LONG), Verdict::Drop);
    }
}
